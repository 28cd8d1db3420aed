"""The small dynamics model: three modes of one network, training that survives a kill, an
annotator's error."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.models.dynamics.annotator import _looks
from evaluators.models.dynamics.data import practise
from evaluators.models.dynamics.flow_matching import SHARES as SHARES_OF_MODES
from evaluators.models.dynamics.flow_matching import _clean, loss, sample
from evaluators.models.dynamics.model import Dynamics, DynamicsConfig, LatentClip
from evaluators.models.dynamics.tokeniser import (
    HAND,
    LATENT,
    PLACES,
    SHARES,
    THINGS,
    EyesConfig,
    Tokeniser,
    in_parts,
)
from evaluators.models.dynamics.tokeniser_training import (
    SightPlan,
    repainted,
    scenes_of,
    train_tokeniser,
)
from evaluators.models.dynamics.training import (
    CONFIG,
    STATE,
    WEIGHTS,
    DynamicsPlan,
    LatentLessons,
    keep_tau,
    load,
    prepare,
    save,
    train,
)
from evaluators.models.dynamics.world import DynamicsWorld, open_world, through_tokeniser
from evaluators.suites.sc3.reading import annotate
from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, roll_out
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.rollouts.trial import try_out
from evaluators.suites.sc3.rollouts.tuning import choose_tau
from evaluators.suites.sc3.samples import SHIPPED
from evaluators.worlds.bussing.bench import set_table
from evaluators.worlds.bussing.views import render
from evaluators.worlds.bussing.world_models import Context, simulator
from evaluators.worlds.policies.policies import checkpoints, starts_of

SMALL = DynamicsConfig(width=32, depth=1, heads=2)
POLICIES = {one.id: one.policy for one in checkpoints()}
EPISODES = [Episode(1, start) for start in starts_of(checkpoints()[0], 2)]


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return train_tokeniser(practise(12, 0), SightPlan(steps=25, batch=8))


@pytest.fixture(scope="module")
def lessons(tokeniser: Tokeniser) -> LatentLessons:
    return prepare(practise(6, 3), tokeniser)


def clip(count: int = 3) -> LatentClip:
    torch.manual_seed(0)
    video, actions = torch.randn(count, 3, 24, LATENT), torch.randn(count, 24, 7)
    return LatentClip(
        torch.randn(count, 3, LATENT), video, actions, torch.ones(count, dtype=torch.long)
    )


def test_an_untrained_model_holds_the_last_known_frame_still() -> None:
    given = clip()

    video, actions = Dynamics(SMALL)(given, torch.zeros(3), torch.zeros(3, 4, dtype=torch.bool))

    assert torch.equal(video, given.before[:, :, None].expand_as(video)) and not actions.any()


def test_what_moves_as_the_actions_say_is_foreseen_before_any_training() -> None:
    given, model = clip(200), Dynamics(SMALL)
    moves = torch.zeros(3, 24, LATENT).repeat(200, 1, 1, 1)
    moves[:, 0, :, 2 * HAND : 2 * HAND + 2] = given.actions[..., :2].cumsum(1)
    moved = replace(given, video=given.before[:, :, None] + moves)

    model.fit_drift(moved)
    video, _ = model(moved, torch.zeros(200), torch.zeros(200, 4, dtype=torch.bool))

    assert torch.allclose(video, moved.video, atol=0.05)


def test_what_is_given_clean_comes_back_as_it_was_in_every_mode() -> None:
    model, given = Dynamics(SMALL), clip()
    noise = replace(
        given, video=torch.zeros_like(given.video), actions=torch.zeros_like(given.actions)
    )
    for clean in ([0, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 0]):
        kept = torch.tensor([clean] * 3, dtype=torch.bool)

        made = sample(model, given, kept, noise)

        assert torch.equal(made.video[:, kept[0, :3]], given.video[:, kept[0, :3]])
        assert torch.equal(made.actions, given.actions) == bool(clean[-1])


def test_more_steps_walk_the_same_flow() -> None:
    given = clip()
    few, many = Dynamics(SMALL), Dynamics(replace(SMALL, steps=4))
    many.load_state_dict(few.state_dict())
    clean = torch.tensor([[False] * 3 + [True]] * 3)

    one, four = (sample(model, given, clean, given) for model in (few, many))

    assert torch.allclose(one.video, four.video, atol=1e-4)


def test_modes_are_drawn_as_often_as_asked() -> None:
    clean = _clean(
        4000,
        3,
        {"forward": 0.8, "cross_view": 0.1, "inverse": 0.1},
        torch.Generator().manual_seed(0),
    )

    views, actions = clean[:, :3].sum(1), clean[:, 3]

    assert float((views == 0).float().mean()) == pytest.approx(0.8, abs=0.03)
    assert float((views == 1).float().mean()) == pytest.approx(0.1, abs=0.03)
    assert torch.equal(views == 3, ~actions)


def test_only_noised_tokens_are_in_the_loss() -> None:
    model, given = Dynamics(SMALL), clip()
    shares = {"inverse": 1.0}

    both = [
        loss(model, one, shares, torch.Generator().manual_seed(1), torch.ones(3, LATENT))  # type: ignore[arg-type]
        for one in (given, given)
    ]
    both[1].backward()  # type: ignore[no-untyped-call]

    assert torch.equal(both[0], both[1])
    assert model.video_out.weight.grad is None or not model.video_out.weight.grad.any()
    assert model.action_out.weight.grad is not None and model.action_out.weight.grad.any()


class Killed(Exception):
    """Stands for a kill between two steps."""


def test_a_training_killed_and_taken_up_again_ends_in_the_same_bytes(
    lessons: LatentLessons, tokeniser: Tokeniser, tmp_path: Path
) -> None:
    plan = DynamicsPlan(steps=6, batch=4, warm_up=2, keep_every=2)

    def killed(step: int, _loss: float) -> None:
        if step == 5:
            raise Killed

    train(lessons, tokeniser, plan, tmp_path / "whole", SMALL)
    with pytest.raises(Killed):
        train(lessons, tokeniser, plan, tmp_path / "cut", SMALL, on_step=killed)
    assert (tmp_path / "cut" / STATE).is_file()
    train(lessons, tokeniser, plan, tmp_path / "cut", SMALL)

    for name in (WEIGHTS, CONFIG):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_training_lowers_the_loss(
    lessons: LatentLessons, tokeniser: Tokeniser, tmp_path: Path
) -> None:
    seen: list[float] = []

    plan = DynamicsPlan(steps=120, batch=16, warm_up=5)
    train(lessons, tokeniser, plan, tmp_path, SMALL, lambda _step, value: seen.append(value))

    assert np.mean(seen[-30:]) < 0.85 * np.mean(seen[:10])


def test_a_model_folder_rolls_out_online_and_offline_with_a_u_a_chunk(
    tokeniser: Tokeniser, tmp_path: Path
) -> None:
    save(Dynamics(SMALL), tokeniser, tmp_path)
    world = open_world(tmp_path).world()

    first, again = (roll_out(world, POLICIES, EPISODES, BENCH) for _ in range(2))

    assert all(len(one.u_chunk) == 4 and one.frames.shape == (3, 57, 24, 24, 3) for one in first)
    assert all(
        np.array_equal(one.frames, other.frames) for one, other in zip(first, again, strict=True)
    )


def test_a_model_that_never_practised_its_inverse_has_no_u_and_keeps_no_tau(
    lessons: LatentLessons, tokeniser: Tokeniser, tmp_path: Path
) -> None:
    train(
        lessons,
        tokeniser,
        DynamicsPlan(steps=1, batch=2, warm_up=0, shares={"forward": 1.0}),
        tmp_path,
        SMALL,
    )

    world = open_world(tmp_path).world()
    (made,) = roll_out(world, POLICIES, EPISODES[:1], BENCH)

    assert world.inverse is None and len(made.u_chunk) == 0 and choose_tau(world, BENCH) is None


def test_another_view_can_be_painted_from_one(tokeniser: Tokeniser) -> None:
    made = DynamicsWorld(Dynamics(SMALL), tokeniser, "small")
    (real,) = roll_out(through_tokeniser(tokeniser), POLICIES, EPISODES[:1], BENCH)
    context = Context(
        (EPISODES[0].start,), real.frames[None, :, :1], np.zeros((1, 0, 7), np.float32)
    )

    frames = made.inpaint(context, real.actions[None, :24], 0, real.frames[None, 0, 1:25])

    assert frames.shape == (1, 3, 24, 24, 24, 3)


def test_the_shipped_annotator_agrees_with_the_truth_of_the_bench() -> None:
    seen = try_out(8, "annotator")

    pairs = list(zip(seen.read(seen.truth), seen.outcomes, strict=True))

    wrong = np.mean([[getattr(a, c) != getattr(b, c) for c in CRITERIA] for a, b in pairs], 0)
    print("the annotator's error on language, lifting, placing:", wrong)
    assert len(set(seen.outcomes)) > 3 and (wrong <= 0.04).all()


def test_a_rollout_longer_than_practice_is_looked_at_to_its_end() -> None:
    assert _looks(57) == list(range(0, 57, 4))
    assert _looks(201)[-1] == 200 and len(_looks(201)) == len(_looks(57)) == 15
    assert _looks(10)[-1] == 9


def test_where_nothing_moves_no_criterion_holds_whatever_the_start_looks_like() -> None:
    starts = [start for one in checkpoints() for start in starts_of(one)]
    still = render(set_table(starts), starts)[:, :, None].repeat(57, axis=2)
    (one, *_) = roll_out(simulator().world(), POLICIES, EPISODES[:1], BENCH)

    found = annotate([replace(one, frames=frames) for frames in still], starts)

    assert set(found) == {ObjectOutcome(False, False, False)}


def test_the_brush_weighs_where_things_are_more_than_whether_a_bin_stands_there(
    lessons: LatentLessons,
) -> None:
    assert torch.allclose(lessons.weight.mean(1), torch.ones(3), atol=1e-4)
    assert (lessons.weight[0, PLACES][: 2 * HAND] > lessons.weight[0, SHARES].max()).all()


def test_the_shipped_tokeniser_sees_where_things_are_also_in_what_it_painted() -> None:
    _, tokeniser = load(SHIPPED / "full")
    scenes = scenes_of(practise(6, 77))

    frames = scenes.frames, repainted(tokeniser, scenes.frames)
    with torch.no_grad():
        points = [in_parts(tokeniser.eyes, one) for one in frames]

    for found in points:
        off = (
            torch.unflatten(found[:, 0, PLACES], -1, (len(THINGS), 2)) - scenes.places[:, 0]
        ).norm(dim=-1)
        assert float(off[:, :HAND].median()) < 0.02 and float(off[:, HAND].median()) < 0.04


def test_nothing_stays_behind_when_a_model_is_put_on_another_device(tokeniser: Tokeniser) -> None:
    there, model, given = torch.device("meta"), Dynamics(SMALL).to("meta"), clip()
    clean = torch.tensor([[False] * 3 + [True]] * 3).to(there)
    frames = torch.zeros(2, 3, 24, 24, 3, dtype=torch.uint8, device=there)
    weight = torch.ones(3, LATENT, device=there)

    learned = loss(model, given, SHARES_OF_MODES, torch.Generator().manual_seed(0), weight)
    made = sample(model, given.to(there), clean, given.to(there))
    moved = deepcopy(tokeniser).to(there)

    assert learned.device == made.video.device == moved.decode(moved.encode(frames)).device == there


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"horizon": 25}, "horizon is 25 and the group 4"),
        ({"width": 30, "heads": 4}, "width is 30 and the heads 4"),
        ({"latent": 16}, "Set nearness to false"),
        ({"steps": 0}, "at least one"),
    ],
)
def test_a_config_that_does_not_fit_is_refused_in_words(change: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(SMALL, **change).checked()  # type: ignore[arg-type]


def test_a_model_takes_latents_of_any_length_when_it_is_told_nothing_of_nearness() -> None:
    model = Dynamics(replace(SMALL, latent=16, views=2, nearness=False).checked())
    given = LatentClip(
        torch.zeros(1, 2, 16),
        torch.zeros(1, 2, 24, 16),
        torch.zeros(1, 24, 7),
        torch.ones(1).long(),
    )

    video, actions = model(given, torch.zeros(1), torch.zeros(1, 3, dtype=torch.bool))

    assert video.shape == (1, 2, 24, 16) and actions.shape == (1, 24, 7)


def test_a_model_saved_with_other_eyes_is_refused_in_words(tmp_path: Path) -> None:
    save(Dynamics(replace(SMALL, views=2)), Tokeniser(EyesConfig()), tmp_path)

    with pytest.raises(ValueError, match="eyes see 3 views"):
        load(tmp_path)


def test_a_folder_keeps_the_tau_it_is_to_be_stopped_with(
    tokeniser: Tokeniser, tmp_path: Path
) -> None:
    save(Dynamics(SMALL), tokeniser, tmp_path)

    keep_tau(tmp_path, 1.5)

    assert load(tmp_path)[0].config.tau == 1.5


def test_practice_shows_every_kind_of_end() -> None:
    seen = practise(120, 5, pictures=False)

    ends = {tuple(row) for row in seen.truth[:, -1]}

    assert {(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0)} <= ends
