"""Cosmos 3 as a world model: a random pipeline of its own classes with sizes reduced, and the
published size on the meta device."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import pytest
import torch
from diffusers.pipelines.cosmos.pipeline_cosmos3_omni import CosmosActionCondition

from evaluators.contracts.robot_policy import PolicyView
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InverseRequest,
    imagine,
    recover,
)
from evaluators.models.cosmos.embodiment import (
    CosmosSettings,
    from_cosmos,
    read_settings,
    tiled,
    to_cosmos,
    untiled,
)
from evaluators.models.cosmos.finetune import CosmosPlan, PseudoActions, draw_clip, finetune
from evaluators.models.cosmos.lessons import (
    ActionClip,
    CosmosLesson,
    Mode,
    draw_mode,
    lesson_loss,
    make_lesson,
    pack,
)
from evaluators.models.cosmos.world import CosmosWorld, open_cosmos
from evaluators.suites.sc3.rollouts.driving import DriveConfig, DrivenEpisode, drive
from evaluators.worlds.lerobot.reading import RobotDataset
from tests.models.small_cosmos import SETTINGS, noisy_practice, small_cosmos

NONE = np.zeros((0, 7), np.float32)
CHANCE = np.random.default_rng(0)
FIRST = CHANCE.integers(0, 255, (3, 1, 32, 32, 3)).astype(np.uint8)
ACTIONS = (CHANCE.normal(size=(8, 7)) * 0.3).astype(np.float32)
PLAN = CosmosPlan(steps=2, batch=1, warm_up=1, rank=2, keep_each=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Cosmos folder as it is published: a pipeline that was saved."""
    place = tmp_path_factory.mktemp("cosmos") / "small"
    small_cosmos().save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> RobotDataset:
    return noisy_practice(tmp_path_factory.mktemp("kit") / "practice")


def request(actions: np.ndarray, seed: int = 1) -> ForwardRequest:
    return ForwardRequest("start", seed, "put the can into the bin", FIRST, NONE, actions)


def test_seven_numbers_become_ten_and_come_back() -> None:
    assert to_cosmos(ACTIONS, 0.5).shape == (8, 10)
    assert np.allclose(from_cosmos(to_cosmos(ACTIONS, 0.5), 0.5), ACTIONS, atol=1e-6)
    assert np.isfinite(from_cosmos(np.zeros((2, 10), np.float32), 0.5)).all()


def test_views_are_tiled_into_one_picture_and_come_back() -> None:
    frames = CHANCE.integers(0, 255, (3, 5, 32, 32, 3)).astype(np.uint8)

    canvas = tiled(frames, SETTINGS)

    assert canvas.shape == (5, 64, 64, 3) and (untiled(canvas, SETTINGS) == frames).all()
    assert (SETTINGS.tier, CosmosSettings(height=256, width=256).tier) == (256, 480)


def test_a_folder_is_a_world_that_follows_actions_and_its_seed(folder: Path) -> None:
    world = replace(open_cosmos(folder), settings=SETTINGS)

    (frames,) = imagine(world, [request(ACTIONS)])
    (again,) = imagine(world, [request(ACTIONS)])
    (other,) = imagine(world, [request(-ACTIONS)])
    (seeded,) = imagine(world, [request(ACTIONS, seed=2)])
    clip = np.concatenate([FIRST, frames], axis=1)
    (recovered,) = recover(world, [InverseRequest("start", 1, "put the can", clip)])

    assert frames.shape == (3, 8, 32, 32, 3) and (frames == again).all()
    assert (frames != other).any() and (frames != seeded).any()
    assert recovered.shape == (8, 7) and world.card.chunk == 8 and len(world.card.revision) == 16


class NewPlans:
    """A policy that proposes other actions each time, and remembers them."""

    def __init__(self) -> None:
        self.proposed: list[np.ndarray] = []

    def act(self, view: PolicyView) -> np.ndarray:
        rng = np.random.default_rng(view.step)
        self.proposed.append((rng.normal(size=(25, 7)) * 0.3).astype(np.float32))
        return self.proposed[-1]


def test_a_policy_acts_in_chunks_of_24_with_16_kept_and_u_from_the_inverse_mode(
    folder: Path,
) -> None:
    settings = CosmosSettings(height=32, width=32, steps=2, action_scale=(0.5,) * 7)
    pipeline, ran = open_cosmos(folder).pipeline, list[tuple[str, int]]()

    def run(action: CosmosActionCondition, **how: Any) -> Any:
        ran.append((action.mode, action.chunk_size))
        return pipeline(action=action, **how)

    world = CosmosWorld(run, settings, "cosmos", "1")
    imagined: list[tuple[ForwardRequest, np.ndarray]] = []
    read: list[tuple[InverseRequest, np.ndarray]] = []

    def forward(requests: Sequence[ForwardRequest]) -> list[np.ndarray]:
        answers = world.forward(requests)
        imagined.extend(zip(requests, answers, strict=True))
        return answers

    def inverse(requests: Sequence[InverseRequest]) -> list[np.ndarray]:
        answers = world.inverse(requests)
        read.extend(zip(requests, answers, strict=True))
        return answers

    policy, arm = NewPlans(), np.zeros(8, np.float32)
    episode = DrivenEpisode("start", 1, "put the can into the bin", 5, FIRST[:, 0], arm)

    (rollout,) = drive(
        FunctionWorld(world.card, forward, inverse),
        {1: policy},
        [episode],
        lambda *_what: arm,
        DriveConfig(limit=40),
    )

    kept = (slice(0, 16), slice(0, 16), slice(0, 8))
    assert ran == [("forward_dynamics", 24), ("inverse_dynamics", 16)] * 3
    assert [made.shape[1] for _, made in imagined] == [24, 24, 24]
    plans = [plan[part] for plan, part in zip(policy.proposed, kept, strict=True)]
    films = [made[:, part] for (_, made), part in zip(imagined, kept, strict=True)]
    assert (rollout.actions == np.concatenate(plans)).all()
    assert (rollout.frames[:, 1:] == np.concatenate(films, axis=1)).all()
    assert (read[1][0].frames == rollout.frames[:, 16:33]).all()
    moved = [found[part] for (_, found), part in zip(read, kept, strict=True)]
    off = [np.linalg.norm((a - b) / 0.5, axis=1).mean() for a, b in zip(plans, moved, strict=True)]
    assert rollout.u_chunk == pytest.approx(off, rel=1e-5)


def test_three_modes_differ_in_what_is_clean_and_each_has_gradients() -> None:
    pipeline: Any = small_cosmos()
    clip = ActionClip(np.repeat(FIRST, 9, axis=1), ACTIONS, "put the can", 10.0)
    modes: tuple[Mode, ...] = ("forward", "cross_view", "inverse")
    lessons = {mode: make_lesson(pipeline, clip, SETTINGS, mode, 1) for mode in modes}

    shares = {mode: float(lesson.clean.float().mean()) for mode, lesson in lessons.items()}
    assert shares["forward"] == pytest.approx(1 / 3) and shares["inverse"] == 1.0
    assert shares["cross_view"] == pytest.approx(1 / 3 + 2 / 3 / 4)
    for lesson in lessons.values():
        pipeline.transformer.zero_grad()
        loss = lesson_loss(pipeline, pipeline.transformer, lesson, torch.Generator().manual_seed(0))
        loss.backward()  # type: ignore[no-untyped-call]
        assert torch.isfinite(loss) and pipeline.transformer.proj_in.weight.grad.abs().sum() > 0


def test_modes_are_drawn_in_the_paper_s_shares() -> None:
    rng = np.random.default_rng(0)

    drawn = [draw_mode(rng) for _ in range(2000)]

    assert drawn.count("forward") / 2000 == pytest.approx(0.8, abs=0.03)
    assert drawn.count("inverse") / 2000 == pytest.approx(0.1, abs=0.03)


def test_pseudo_actions_are_those_that_the_states_tell(practice: RobotDataset) -> None:
    episodes = list(practice)

    pseudo = PseudoActions.fit(episodes)

    assert np.allclose(pseudo.of(episodes[0]), episodes[0].actions, atol=1e-3)


def test_clips_come_at_two_paces_and_slow_actions_add_up(practice: RobotDataset) -> None:
    episodes = list(practice)
    pseudo = PseudoActions.fit(episodes)
    rng = np.random.default_rng(0)

    clips = [draw_clip(episodes, pseudo, SETTINGS, PLAN, rng) for _ in range(12)]

    assert {clip.rate for clip in clips} == {10.0, 5.0}
    assert all(clip.frames.shape[1] == len(clip.actions) + 1 == 9 for clip in clips)


@pytest.mark.parametrize("rank", [0, 2])
def test_fine_tuning_by_lora_or_whole_goes_on_where_it_was_and_makes_a_world(
    folder: Path, practice: RobotDataset, tmp_path: Path, rank: int
) -> None:
    plan = replace(PLAN, rank=rank)

    def run(to: Path, stop: int | None = None) -> tuple[float, ...]:
        def watch(step: int, _loss: float) -> None:
            if step == stop:
                raise KeyboardInterrupt

        torch.manual_seed(0)
        return finetune(open_cosmos(folder).pipeline, practice, to, SETTINGS, plan, watch)

    whole = run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", stop=2)
    parts = run(tmp_path / "parts")

    assert parts == pytest.approx(whole, abs=1e-5) and len(whole) == 2
    world = open_cosmos(tmp_path / "whole")
    assert len(world.card.action_scale) == 7
    assert read_settings(tmp_path / "whole").base == ("" if rank == 0 else str(folder))
    assert imagine(world, [request(ACTIONS)])[0].shape == (3, 8, 32, 32, 3)
    assert world.card.revision != open_cosmos(folder).card.revision


def test_the_published_size_takes_a_lesson_on_the_meta_device(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its check of the embodiment's number looks at values, which the meta device has none of, and
    # torch has no autocast there.
    along = torch.any

    def any_along(flags: torch.Tensor, *axes: Any, **how: Any) -> Any:
        return along(flags, *axes, **how) if axes or how else False

    monkeypatch.setattr(torch, "any", any_along)
    monkeypatch.setattr(torch, "autocast", lambda **_settings: nullcontext())
    lib: Any = diffusers
    pipeline: Any = small_cosmos()
    with torch.device("meta"):
        transformer = lib.Cosmos3OmniTransformer(action_gen=True, action_dim=64)
    latents = torch.zeros((1, 48, 7, 16, 16))
    clean = torch.zeros_like(latents, dtype=torch.bool)
    actions = torch.zeros((24, 64))
    lesson = CosmosLesson("forward", latents, actions, (1, 2, 3), clean, 10.0)
    pipeline.transformer = transformer

    packed = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda tensor: tensor.to("meta"), pack(pipeline, lesson, 0.5)
    )
    predicted, _, numbers = transformer(
        **packed, vision_tokens=[latents.to("meta")], action_tokens=[actions.to("meta")]
    )

    assert sum(p.numel() for p in transformer.parameters()) > 10**10
    assert predicted[0].numel() == latents.numel() and numbers[0].shape == (24, 64)


def test_a_world_without_settings_has_the_table_s() -> None:
    world = CosmosWorld(None, CosmosSettings(), "cosmos", "1")

    assert world.card.views == ("agent", "front", "wrist") and world.inpaint is None
