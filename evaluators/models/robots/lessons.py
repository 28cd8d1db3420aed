"""How eyes and cloned policies learn from practice: supervised, a few minutes on one core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evaluators.models.robots.cloning import CHUNK_NUMBERS, Clone, words
from evaluators.models.robots.eyes import (
    CENTRE,
    FIELD_OF_VIEW,
    HAND,
    HELD,
    KNOWN,
    OBJECTS,
    POSES,
    SCALE,
    Sight,
    TableEyes,
    TableEyesConfig,
    as_input,
    sights,
    targets,
)
from evaluators.worlds.tabletop.library import PracticeClip
from evaluators.worlds.tabletop.planner import CHUNK
from evaluators.worlds.tabletop.views import Frames, shrink


@dataclass(frozen=True, slots=True)
class LessonPlan:
    """How long and how fast to learn; brightness changes as in another room's light."""

    steps: int = 1500
    batch: int = 32
    rate: float = 2e-3
    seed: int = 0


Say = Callable[[str], None]
Draw = Callable[[np.random.Generator], tuple[torch.Tensor, ...]]


def teach_eyes(
    clips: Sequence[PracticeClip],
    config: TableEyesConfig,
    plan: LessonPlan,
    say: Say = lambda _line: None,
    begun: TableEyes | None = None,
) -> TableEyes:
    """Eyes that are told where hand and objects are in practice frames; `begun` go on learning."""
    torch.manual_seed(plan.seed)
    frames = _frames(clips, config.pixels)
    numbers = np.concatenate([targets(clip.hands, clip.objects) for clip in clips])
    held = np.concatenate([np.where(clip.held < 0, HELD - 1, clip.held) for clip in clips])
    eyes = begun or TableEyes(config)

    def draw(rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        rows = rng.integers(0, len(frames), plan.batch)
        return (
            _lit(as_input(frames[rows], config.pixels), rng),
            torch.from_numpy(numbers[rows]),
            torch.from_numpy(held[rows]),
        )

    _learn(eyes, draw, _seen_loss, plan, say)
    return eyes


def teach_clone(
    clips: Sequence[PracticeClip],
    eyes: TableEyes,
    plan: LessonPlan,
    say: Say = lambda _line: None,
) -> Clone:
    """A policy cloned end to end: pictures and words in, 25 actions out. Its first layers begin
    as those of eyes that can see already."""
    torch.manual_seed(plan.seed)
    pixels = eyes.config.pixels
    clone = Clone(eyes.config)
    clone.eyes.trunks.load_state_dict(eyes.trunks.state_dict())
    frames = _frames([_shortened(clip) for clip in clips], pixels)
    chunks = np.concatenate([_chunks(clip.actions) for clip in clips])
    told = np.concatenate(
        [np.repeat(words(clip.instruction)[None], len(clip.actions), axis=0) for clip in clips]
    )

    def draw(rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        rows = rng.integers(0, len(frames), plan.batch)
        pictures = _lit(as_input(frames[rows], pixels), rng)
        return pictures, torch.from_numpy(told[rows]), torch.from_numpy(chunks[rows])

    _learn(clone, draw, _cloned_loss, plan, say)
    return clone


def _learn(
    network: nn.Module,
    draw: Draw,
    loss_of: Callable[..., torch.Tensor],
    plan: LessonPlan,
    say: Say,
) -> None:
    optimiser = torch.optim.AdamW(network.parameters(), lr=plan.rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, plan.rate, total_steps=plan.steps, pct_start=0.1
    )
    rng, recent = np.random.default_rng(plan.seed), 0.0
    network.train()
    for step in range(plan.steps):
        loss = loss_of(network, *draw(rng))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        recent += float(loss.detach()) / 100
        if step % 100 == 99:
            say(f"step {step + 1} of {plan.steps}: loss {recent:.4f}")
            recent = 0.0
    network.eval()


def _seen_loss(
    eyes: TableEyes, pictures: torch.Tensor, numbers: torch.Tensor, held: torch.Tensor
) -> torch.Tensor:
    """Where things are, what is held, and on which pixel each is in the two cameras of the room."""
    features = eyes.features(pictures)
    answer = eyes.judge(features)
    places = nn.functional.smooth_l1_loss(answer[:, : HAND + POSES], numbers, beta=0.05)
    points = eyes.config.points
    pixels = [
        torch.stack([shown[:, :KNOWN], shown[:, points : points + KNOWN]], dim=2)
        for shown in features[: len(sights())]
    ]
    off = torch.stack(pixels, dim=1) - torch.as_tensor(shown_at(numbers.numpy()))
    aimed = nn.functional.smooth_l1_loss(off, torch.zeros_like(off), beta=0.05)
    return places + aimed + 0.1 * nn.functional.cross_entropy(answer[:, HAND + POSES :], held)


def shown_at(numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Where the room's cameras show hand and objects, from -1 to 1 across and down: [n, cameras, 5,
    2]. A policy's eyes are calibrated like this; a world model is never told."""
    places = np.concatenate(
        [numbers[:, None, :3], numbers[:, HAND : HAND + POSES].reshape(-1, OBJECTS, 5)[..., :3]],
        axis=1,
    ) * SCALE + np.array(CENTRE)
    return np.stack([_projected(places, sight) for sight in sights()], axis=1)


def _projected(places: npt.NDArray[np.floating], sight: Sight) -> npt.NDArray[np.float32]:
    away = places - sight.origin
    depth = (away @ sight.ahead) * np.tan(np.deg2rad(FIELD_OF_VIEW / 2))
    shown = np.stack([away @ sight.right / depth, -(away @ sight.up) / depth], axis=-1)
    return np.asarray(np.clip(shown, -1.0, 1.0), np.float32)


def _cloned_loss(
    clone: Clone, pictures: torch.Tensor, told: torch.Tensor, chunks: torch.Tensor
) -> torch.Tensor:
    return nn.functional.smooth_l1_loss(clone(pictures, told), chunks, beta=0.05)


def _frames(clips: Sequence[PracticeClip], pixels: int) -> Frames:
    """All frames of some clips, [frames, views, side, side, RGB]."""
    return np.concatenate([shrink(clip.frames, pixels).swapaxes(0, 1) for clip in clips])


def _shortened(clip: PracticeClip) -> PracticeClip:
    from dataclasses import replace

    return replace(clip, frames=clip.frames[:, :-1])


def _chunks(actions: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The 25 actions from each moment on, padded with rest."""
    rest = np.repeat(actions[-1:] * np.array([0, 0, 0, 0, 0, 0, 1], np.float32), CHUNK, axis=0)
    padded = np.concatenate([actions, rest])
    rows = [padded[step : step + CHUNK] for step in range(len(actions))]
    return np.stack(rows).reshape(len(actions), CHUNK_NUMBERS).astype(np.float32)


def _lit(pictures: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """The same pictures in another light."""
    count = len(pictures)
    gain = torch.from_numpy(rng.uniform(0.9, 1.1, (count, 1, 1, 1, 1)).astype(np.float32))
    shift = torch.from_numpy(rng.uniform(-0.05, 0.05, (count, 1, 1, 1, 1)).astype(np.float32))
    return pictures * gain + shift
