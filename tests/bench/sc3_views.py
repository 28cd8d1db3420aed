"""What a known view could tell of the others, and what the shipped small model makes of it.

`python -m tests.bench.sc3_views` records practice if there is none (some seconds an episode) and
prints, for each view painted: the share of the change over up to 16 steps that a ridge reads off
actions and the frame before, and with each other view known; and the shipped model's PSNR with
nothing known, with the right view known and with another clip's in its place. Then the PSNR of
closed rollouts from one frame of held-out practice, chunk by chunk: forward alone, with each view
known throughout, and the first frame for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from evaluators.contracts.world_model import (
    ForwardRequest,
    InpaintRequest,
    fill_in,
    imagine,
)
from evaluators.models.video_world.codec import Frames, decode_film
from evaluators.models.video_world.config import VideoWorldConfig
from evaluators.models.video_world.flow import noise_like, sample
from evaluators.models.video_world.folder import TrainedWorld, load_model
from evaluators.models.video_world.lessons import Recording, VideoLessons
from evaluators.models.video_world.network import VideoClip
from evaluators.models.video_world.table_course import TableCourse, practise_table
from evaluators.models.video_world.world import VideoWorld, open_world
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD
from tests.bench.sc3_models import PRACTICE

AHEAD, PATTERNS, LEARNED, MEASURED, DAMPING = 16, 256, 6000, 1500, 3000.0
CLIPS = 16
ROLLED = 112


@dataclass(frozen=True, slots=True)
class Pairs:
    """Frames some steps apart: latents before and how they change [n, views, numbers], and the sum
    of the actions between [n, width]."""

    before: Tensor
    change: Tensor
    actions: Tensor


def draw_pairs(lessons: VideoLessons, count: int, seed: int) -> Pairs:
    """From anywhere, up to 16 steps apart."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(count):
        number = int(rng.integers(len(lessons.latents)))
        film, actions = lessons.latents[number].flatten(2), lessons.actions[number]
        ahead = int(rng.integers(1, AHEAD + 1))
        now = int(rng.integers(film.shape[1] - ahead))
        between = actions[now : now + ahead].sum(0)
        rows.append((film[:, now], film[:, now + ahead] - film[:, now], between))
    before, change, between = (torch.stack(parts) for parts in zip(*rows, strict=True))
    return Pairs(before, change, between)


def patterns_of(change: Tensor) -> Tensor:
    """The patterns in which each view changes most, scaled so that all weigh alike."""
    by_view = change.transpose(0, 1)
    values, vectors = torch.linalg.eigh(by_view.transpose(1, 2) @ by_view / len(change))
    scale = values[:, None, -PATTERNS:].clamp(min=1e-6).sqrt()
    return torch.as_tensor(vectors[..., -PATTERNS:] / scale)


def explained(learned: Pairs, measured: Pairs, patterns: Tensor, view: int, given: int) -> float:
    """The share of a view's change that a ridge reads; `given` is a known view, or -1."""

    def shown(pairs: Pairs) -> Tensor:
        before = torch.einsum("nvf,vfk->nvk", pairs.before, patterns).flatten(1)
        parts = [pairs.actions / 3, before, torch.ones(len(before), 1)]
        if given >= 0:
            parts.append(pairs.change[:, given] @ patterns[given])
        return torch.cat(parts, dim=1)

    inputs, target = shown(learned), learned.change[:, view]
    damped = inputs.T @ inputs + DAMPING * torch.eye(inputs.shape[1])
    read = shown(measured) @ torch.linalg.solve(damped, inputs.T @ target)
    true = measured.change[:, view]
    return float(1 - (read - true).square().sum() / true.square().sum())


def shown_decibels(
    model: TrainedWorld, clip: VideoClip, view: int, given: int, is_right: bool
) -> float:
    """PSNR of one view as the model paints it, with a view known, its own or another clip's."""
    context, video, flow = model.config.context, clip.video.clone(), clip.flow.clone()
    clean = torch.zeros(len(video), video.shape[1] + 1, dtype=torch.bool)
    clean[:, -1] = True
    if given >= 0:
        clean[:, given] = True
        if not is_right:
            video[:, given, context:] = clip.video.roll(1, 0)[:, given, context:]
            flow[:, :, given] = clip.flow.roll(1, 0)[:, :, given]
    known = replace(clip, video=video, flow=flow)
    noise = noise_like(known, torch.Generator().manual_seed(0))
    painted = sample(model.network, known, clean, noise, model.config.steps).video
    values = []
    for film, real in zip(painted[:, :, context:], clip.video[:, :, context:], strict=True):
        pair = [decode_film(model.codec, latents)[view].astype(float) for latents in (film, real)]
        error = np.square(pair[0] - pair[1]).mean((1, 2, 3)).clip(1e-6)
        values.append(float((10 * np.log10(255**2 / error)).mean()))
    return float(np.mean(values))


def one_frame_known(
    lessons: VideoLessons, config: VideoWorldConfig, rng: np.random.Generator
) -> VideoClip:
    """Clips that begin as an episode does."""
    clip = lessons.clips(config, CLIPS, AHEAD, config.paces[0], rng)
    video, actions, flow = clip.video.clone(), clip.actions.clone(), clip.flow.clone()
    video[:, :, : config.context] = video[:, :, config.context - 1 : config.context]
    actions[:, : config.context] = 0
    flow[:, : config.context] = 0
    return replace(clip, video=video, actions=actions, flow=flow)


def table(
    model: TrainedWorld, learned: Sequence[Recording], held_out: Sequence[Recording]
) -> Table:
    """A row a view painted and a view known."""
    config, codec = model.config, model.codec
    lessons, kept = (VideoLessons.of(films, codec, config) for films in (learned, held_out))
    pairs, measured = draw_pairs(lessons, LEARNED, 1), draw_pairs(kept, MEASURED, 2)
    patterns = patterns_of(pairs.change)
    clip = one_frame_known(kept, config, np.random.default_rng(0))
    heads = ("painted", "known", "read linearly", "model, dB", "with another clip's view")
    rows = Table(*heads, title="What a known view tells of another")
    for view, name in enumerate(config.views):
        for given in (-1, *(other for other in range(len(config.views)) if other != view)):
            share = explained(pairs, measured, patterns, view, given)
            right = shown_decibels(model, clip, view, given, is_right=True)
            wrong = "" if given < 0 else f"{shown_decibels(model, clip, view, given, False):.2f}"
            known = "nothing" if given < 0 else config.views[given]
            rows.add_row(name, known, f"{share:.3f}", f"{right:.2f}", wrong)
    return rows


def rolled_out(world: VideoWorld, film: Recording, known: int) -> Frames:
    """A recording's actions from its first frame, in chunks; `known` is a view that is shown
    throughout, or -1."""
    context, made = world.card.context, film.frames[:, :1]
    for now in range(0, ROLLED, AHEAD):
        first = max(0, now - context + 1)
        past, actions = film.actions[first:now], film.actions[now : now + AHEAD]
        asked = ("", now, "", made[:, first:], past, actions)
        if known < 0:
            (ahead,) = imagine(world, [ForwardRequest(*asked)])
        else:
            shown = film.frames[known, now + 1 : now + 1 + AHEAD]
            (ahead,) = fill_in(world, [InpaintRequest(*asked, known, shown)])
        made = np.concatenate([made, ahead], axis=1)
    return made


def rollout_table(world: VideoWorld, held_out: Sequence[Recording]) -> Table:
    """Mean PSNR of each view, over each second chunk and the whole."""
    films = [film for film in held_out if len(film.actions) >= ROLLED]
    chunks = range(0, ROLLED, 2 * AHEAD)
    heads = ("view", "known", *(f"steps {n + 1} to {n + AHEAD}" for n in chunks), "all")
    rows = Table(*heads, title=f"Closed rollouts of {len(films)} recordings, PSNR")
    still = [np.repeat(film.frames[:, :1], ROLLED + 1, axis=1) for film in films]
    shown = {
        "nothing": [rolled_out(world, film, -1) for film in films],
        **{
            name: [rolled_out(world, film, view) for film in films]
            for view, name in enumerate(world.card.views)
        },
        "the first frame for ever": still,
    }
    for view, name in enumerate(world.card.views):
        for known, made in shown.items():
            if known != name:
                values = np.mean(
                    [frame_psnr(film.frames[view], painted[view])
                     for film, painted in zip(films, made, strict=True)], axis=0
                )  # fmt: skip
                cells = [f"{values[n : n + AHEAD].mean():.2f}" for n in chunks]
                rows.add_row(name, known, *cells, f"{values.mean():.2f}")
    return rows


def frame_psnr(real: Frames, made: Frames) -> npt.NDArray[np.float64]:
    """Of each frame after the first."""
    error = np.square(real[1 : ROLLED + 1].astype(float) - made[1:]).mean((1, 2, 3)).clip(1e-6)
    return np.asarray(10 * np.log10(255**2 / error))


def main() -> None:
    """Print both tables."""
    torch.set_num_threads(1)
    practice = practise_table(TableCourse(), PRACTICE, lambda name: print(name, flush=True))
    model = load_model(SHIPPED_WORLD)
    console = Console(width=120)
    console.print(table(model, practice.learned, practice.held_out))
    console.print(rollout_table(open_world(SHIPPED_WORLD), practice.held_out))


if __name__ == "__main__":
    main()
