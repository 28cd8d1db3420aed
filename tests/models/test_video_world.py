"""The small video world model: what it is shown, what is hidden from it, and that its folder gives
it back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluators.contracts.world_model import (
    ForwardRequest,
    InpaintRequest,
    InverseRequest,
    fill_in,
    imagine,
    recover,
)
from evaluators.models.video_world.codec import (
    PIXELS,
    VideoCodec,
    decode_film,
    encode_film,
    teach_codec,
)
from evaluators.models.video_world.config import SHARES, VideoPlan, VideoWorldConfig, from_json
from evaluators.models.video_world.flow import (
    LossRecipe,
    draw_modes,
    instance_losses,
    noise_like,
    sample,
)
from evaluators.models.video_world.gates import GateReport, measure_gates
from evaluators.models.video_world.lessons import Recording, VideoLessons
from evaluators.models.video_world.motion import FLOW, film_flow, picture_flow
from evaluators.models.video_world.network import VideoClip, VideoNetwork, ViewsNetwork, network_of
from evaluators.models.video_world.training import shares_of, train_world
from evaluators.models.video_world.world import VideoWorld, open_world

TINY = VideoWorldConfig(
    views=("left", "right"), height=32, width=32, action_dim=3, latent=4, context=2,
    horizon=6, group=2, motion=8, hidden=16, depth=1, heads=2, warp=4, glance=8, code=8, paint=16,
    steps=2,
)  # fmt: skip
PLAN = VideoPlan(steps=4, motion_steps=5, sight_steps=5, batch=2, warm_up=1, keep_every=2)


def recordings(count: int, views: int = 2, steps: int = 16) -> list[Recording]:
    """A bright square that the first two numbers of an action push about, over a noisy ground."""
    rng = np.random.default_rng(3)
    films = []
    for _ in range(count):
        actions = rng.uniform(-2, 2, (steps, 3)).astype(np.float32)
        places = np.clip(12 + np.concatenate([np.zeros((1, 2)), actions[:, :2].cumsum(0)]), 0, 24)
        frames = rng.integers(0, 40, (views, steps + 1, 32, 32, 3), dtype=np.uint8)
        for moment, (row, column) in enumerate(places.astype(int)):
            frames[:, moment, row : row + 8, column : column + 8] = 220
        films.append(Recording(frames, actions))
    return films


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("worlds") / "tiny"
    plan = replace(PLAN, steps=60, rate=0.01, average=0.9, keep_every=100)
    train_world(recordings(3), TINY, plan, where)
    return where


@pytest.fixture(scope="module")
def world(folder: Path) -> VideoWorld:
    return open_world(folder)


def asked(count: int = 5, seed: int = 7) -> ForwardRequest:
    film = recordings(1)[0]
    return ForwardRequest(
        "e", seed, "", film.frames[:, :3], film.actions[:2], film.actions[2 : 2 + count]
    )


def test_a_world_answers_all_three_modes_of_the_contract(world: VideoWorld) -> None:
    request, film = asked(), recordings(1)[0]
    known = film.frames[1, 3:8]

    (ahead,) = imagine(world, [request])
    (back,) = recover(world, [InverseRequest("e", 1, "", film.frames[:, :9])])
    (filled,) = fill_in(
        world,
        [
            InpaintRequest(
                "e", 1, "", request.context, request.past_actions, request.actions, 1, known
            )
        ],
    )

    assert ahead.shape == (2, 5, 32, 32, 3)
    assert back.shape == (8, 3)
    assert (filled[1] == known).all()
    assert world.card.modes == ("forward", "inverse", "inpaint")


def test_more_actions_than_the_horizon_are_imagined_in_turns(world: VideoWorld) -> None:
    (ahead,) = imagine(world, [asked(count=14)])

    assert ahead.shape[1] == 14


def test_a_folder_opened_again_gives_the_same_frames_and_another_seed_others(folder: Path) -> None:
    first, again = open_world(folder), open_world(folder)

    frames = imagine(first, [asked()])[0]

    assert (frames == imagine(again, [asked(), asked(seed=8)])[0]).all()
    assert (frames != imagine(first, [asked(seed=8)])[0]).any()
    assert first.card.revision == again.card.revision


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    def stop(step: int, _loss: float) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_world(recordings(3), TINY, PLAN, tmp_path / "killed", stop)
    steps: list[int] = []
    went_on = train_world(
        recordings(3), TINY, PLAN, tmp_path / "killed", lambda step, _loss: steps.append(step)
    )
    whole = train_world(recordings(3), TINY, PLAN, tmp_path / "whole")

    assert steps == [3, 4]
    for name, value in whole.network.state_dict().items():
        torch.testing.assert_close(value, went_on.network.state_dict()[name])


def clip(count: int = 4) -> VideoClip:
    generator = torch.Generator().manual_seed(1)
    shape = (count, 2, 8, TINY.squares, TINY.numbers)
    return VideoClip(
        torch.randn(shape, generator=generator),
        torch.randn(count, 8, 3, generator=generator),
        torch.ones(count, dtype=torch.long),
        torch.randn(count, 8, 2, FLOW, generator=generator),
    )


def awake(config: VideoWorldConfig = TINY) -> VideoNetwork:
    """A network whose last layers, which begin at zero, say something."""
    torch.manual_seed(0)
    codec = VideoCodec(config)
    codec.basis.copy_(torch.eye(PIXELS)[: config.latent])
    network = network_of(config, codec).eval()
    for layer in (network.video_out, network.action_out, network.moved, network.modulate):
        torch.nn.init.normal_(layer.weight, std=0.2)
    if isinstance(network, ViewsNetwork):
        torch.nn.init.normal_(network.painter.added.weight, std=0.2)
    return network


@pytest.mark.parametrize("warp", [4, 0])
@pytest.mark.parametrize("mode", ["forward", "inverse"])
def test_what_is_to_be_found_is_hidden_and_what_is_given_counts(mode: str, warp: int) -> None:
    network, shown = awake(replace(TINY, warp=warp)), clip()
    clean = torch.zeros(4, 3, dtype=torch.bool)
    clean[:, -1] = mode == "forward"
    clean[:, :-1] = mode == "inverse"
    noise = noise_like(shown, torch.Generator().manual_seed(2))
    other_video, other_actions = shown.video.clone(), shown.actions.clone()
    other_video[:, :, TINY.context :] += 1
    other_flow = shown.flow.clone()
    other_flow[:, TINY.context :] += 1
    other_actions[:, TINY.context :] += 1

    made = sample(network, shown, clean, noise, 2)
    video = sample(network, replace(shown, video=other_video, flow=other_flow), clean, noise, 2)
    acts = sample(network, replace(shown, actions=other_actions), clean, noise, 2)

    found, hidden, given = ("video", video, acts) if mode == "forward" else ("actions", acts, video)
    assert torch.equal(getattr(made, found), getattr(hidden, found))
    assert not torch.allclose(getattr(made, found), getattr(given, found))


@pytest.mark.parametrize(("weighed", "warp"), [(True, 4), (True, 0), (False, 0)])
def test_pure_noise_tells_a_weighed_network_nothing_and_what_is_known_still_counts(
    weighed: bool, warp: int
) -> None:
    shown, clean = clip(), torch.tensor([[True, False, True]]).expand(4, -1)
    network, zero = awake(replace(TINY, weighed=weighed, warp=warp)), torch.zeros(4)
    noised, other = (
        replace(shown, video=shown.video.clone(), actions=shown.actions.clone()) for _ in range(2)
    )
    noised.video[:, 1, TINY.context :] += 1
    other.video[:, 0, TINY.context :] += 1

    with torch.no_grad():
        plain, again, told = (network(one, zero, clean)[0][:, 1] for one in (shown, noised, other))

    assert torch.allclose(plain, again, atol=1e-6) == weighed
    assert not torch.allclose(plain, told)


def test_a_folder_that_does_not_say_how_noise_comes_in_is_read_as_it_was_trained() -> None:
    said, later = TINY.as_json(), ("weighed", "warp", "shift")
    unsaid = {name: value for name, value in said.items() if name not in later}

    assert from_json(said) == TINY
    assert from_json(unsaid) == replace(TINY, weighed=False, warp=0, shift=1.0)


def test_several_sampling_steps_differ_from_one() -> None:
    network, shown = awake(), clip()
    clean = torch.tensor([[False, False, True]]).expand(4, -1)
    noise = noise_like(shown, torch.Generator().manual_seed(2))

    one, several = (sample(network, shown, clean, noise, steps).video for steps in (1, 4))

    assert (one - several).abs().mean() > 0.01


def test_every_instance_counts_alike_whatever_its_mode() -> None:
    shown = clip(64)

    def wrong(
        _noised: VideoClip, _time: torch.Tensor, _clean: torch.Tensor, asked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert len(asked) == 4
        return shown.video[:, :, TINY.context :][:, :, asked] + 1, shown.actions + 3

    generator, recipe = torch.Generator().manual_seed(0), LossRecipe(SHARES, TINY.context, 4.0, 4)
    losses = instance_losses(wrong, shown, recipe, generator, torch.device("cpu"))

    expected = torch.where(losses.inverse, 9.0, 1.0)
    torch.testing.assert_close(losses.each, expected)
    torch.testing.assert_close(losses.mean, expected.mean())


def test_modes_have_their_shares_of_instances() -> None:
    clean = draw_modes(4000, 3, SHARES, torch.Generator().manual_seed(0))

    inverse, cross = ~clean[:, -1], clean[:, -1] & clean[:, :-1].any(1)

    assert abs(inverse.float().mean() - 0.1) < 0.02
    assert abs(cross.float().mean() - 0.25) < 0.02
    assert (clean[cross, :-1].sum(1) == 1).all()


def test_clips_pair_each_action_with_the_frame_it_leads_to() -> None:
    config = replace(TINY, action_mean=(0.0,) * 3, action_scale=(1.0,) * 3, paces=(1,))
    moments = torch.arange(17.0).view(1, 17, 1, 1).expand(2, 17, TINY.squares, TINY.numbers)
    flow = torch.arange(17.0).view(17, 1, 1).expand(17, 2, FLOW)
    acts = torch.arange(1.0, 17).view(16, 1).expand(16, 3)
    lessons = VideoLessons((moments,), (acts,), {1: (flow,)})

    cut = lessons.clips(config, 20, 6, 1, np.random.default_rng(0))

    ahead = slice(config.context, None)
    assert torch.equal(cut.video[:, 0, ahead, 0, 0], cut.actions[:, ahead, 0])
    assert torch.equal(cut.flow[:, ahead, 0, 0], cut.actions[:, ahead, 0])


def test_the_codec_paints_what_it_was_shown_and_the_flow_of_a_still_film_is_nothing() -> None:
    film = recordings(2)
    codec = VideoCodec(replace(TINY, latent=48))
    frames = np.concatenate([recording.frames.swapaxes(0, 1) for recording in film])
    teach_codec(codec, frames)
    latents = encode_film(codec, film[0].frames)

    off = decode_film(codec, latents).astype(float) - film[0].frames

    assert 10 * np.log10(255**2 / np.square(off).mean()) > 25
    assert film_flow(codec, latents[:, :1].expand(-1, 4, -1, -1), 1).abs().max() < 1e-4


def test_the_flow_says_which_way_a_picture_shifts() -> None:
    generator = torch.Generator().manual_seed(0)
    rough = torch.rand(1, 3, 20, 20, generator=generator)
    ground = torch.nn.functional.interpolate(rough, scale_factor=4, mode="bicubic")

    flow = picture_flow(ground[..., :64, :64], ground[..., :64, 1:65]).view(3, 2, 16)

    assert (flow[0, 0].mean() + 1).abs() < 0.2 and flow[0, 1].abs().mean() < 0.2


def test_one_view_has_no_cross_view_mode(tmp_path: Path) -> None:
    config = replace(TINY, views=("eyes",), action_dim=3)
    train_world(recordings(2, views=1), config, PLAN, tmp_path / "one")

    one = open_world(tmp_path / "one")

    assert one.inpaint is None
    assert one.card.modes == ("forward", "inverse")
    assert "cross_view" not in shares_of(config)


def test_gates_are_measured_and_a_model_that_hardly_learned_fails_them(world: VideoWorld) -> None:
    report = measure_gates(world.model, recordings(4), motion=(0, 1), clips=6)

    assert report.verdict.startswith("gates: failed inverse R²")
    assert report.u_right > 0
    assert report.psnr_forward > 0


def test_gates_name_what_failed_and_pass_what_passed() -> None:
    report = GateReport(9, 0.9, (0.9,), 0.1, 2.0, 0.99, 20.0, 21.5, 15.0, 1.0)

    assert report.verdict == "gates: passed"
    assert replace(report, psnr_cross_view=20.5).verdict == (
        "gates: failed cross-view gain 0.50 dB"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "another"}, "model_type"),
        ({"horizon": 5}, "multiple"),
        ({"patch": 4}, "multiple of 8"),
        ({"steps": 0}, "at least one"),
        ({"modes": ["inverse"]}, "forward"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_words(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        from_json({**TINY.as_json(), **change})
