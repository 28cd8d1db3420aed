"""How eyes and cloned policies learn from moments on the table: supervised, minutes on one core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evaluators.models.robots.cloning import CHUNK_NUMBERS, Clone, words
from evaluators.models.robots.eyes import (
    BINS,
    OBJECTS,
    SCALE,
    Glimpse,
    TableEyes,
    TableEyesConfig,
)
from evaluators.models.robots.seeing import as_input, hand_targets, pose_targets
from evaluators.models.robots.sights import shown_at_wrist, shown_in_room
from evaluators.models.robots.snapshots import Snapshots
from evaluators.worlds.tabletop.planner import Errand, SeenTable, plan
from evaluators.worlds.tabletop.starts import DESTINATIONS, SWAPPED, say

NEAR = 0.15
"""Metres from the hand within which places count three times: there the fingers close."""

HAND_WEIGHTS = (3.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0)
AT_HAND = 0.5
BLIND_STEPS, BLIND_BATCH = 8, 96
SPREAD = 0.8
"""How wide a map is to be around the right place, in its own cells."""


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
    moments: Snapshots,
    config: TableEyesConfig,
    lesson: LessonPlan,
    say: Say = lambda _line: None,
    begun: TableEyes | None = None,
) -> TableEyes:
    """Eyes that are told where hand and objects are in practice; `begun` go on learning."""
    torch.manual_seed(lesson.seed)
    hands, poses = (
        hand_targets(moments.hands),
        pose_targets(moments.hands, moments.objects),
    )
    places = np.concatenate([moments.hands[:, None, :3], moments.objects[..., :3]], axis=1)
    room = shown_in_room(places)
    wrist = shown_at_wrist(places - moments.hands[:, None, :3], moments.hands[:, 3:6])
    pixels = np.concatenate([room, wrist[:, None]], axis=1)
    held = np.where(moments.held < 0, OBJECTS, moments.held)
    eyes = begun or TableEyes(config)

    def draw(rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        rows = rng.integers(0, len(moments), lesson.batch)
        told = (hands, poses, pixels, held, moments.bins + 1)
        pictures = _lit(as_input(moments.frames[rows], config.pixels), rng)
        return pictures, *(torch.from_numpy(part[rows]) for part in told)

    _learn(eyes, draw, _seen_loss, lesson, say)
    return eyes


def teach_clone(
    moments: Snapshots,
    eyes: TableEyes,
    lesson: LessonPlan,
    say_how: Say = lambda _line: None,
) -> Clone:
    """A policy cloned end to end: pictures and words in, the 25 actions of an expert that knows the
    true state out. Its first layers begin as those of eyes that can see already, its last have
    lessons of their own, quick ones without pictures."""
    torch.manual_seed(lesson.seed)
    clone = Clone(eyes.config)
    clone.eyes.load_state_dict(eyes.state_dict())
    hands, poses = hand_targets(moments.hands), pose_targets(moments.hands, moments.objects)
    held, bins = np.eye(OBJECTS + 1, dtype=np.float32), np.eye(BINS, dtype=np.float32)

    def blind(rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        rows = rng.integers(0, len(moments), BLIND_BATCH)
        true = (hands[rows], poses[rows], held[moments.held[rows]], bins[moments.bins[rows] + 1])
        return tuple(torch.from_numpy(part) for part in (*true, *_shown(moments, rows, rng)))

    def draw(rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        rows = rng.integers(0, len(moments), lesson.batch)
        pictures = _lit(as_input(moments.frames[rows], eyes.config.pixels), rng)
        return pictures, *(torch.from_numpy(part) for part in _shown(moments, rows, rng))

    quick = replace(lesson, steps=BLIND_STEPS * lesson.steps)
    _learn(clone, blind, _blind_loss, quick, say_how)
    _learn(clone, draw, _cloned_loss, replace(lesson, rate=lesson.rate / 4), say_how)
    return clone


def _shown(
    moments: Snapshots, rows: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], ...]:
    shown = [demonstrate(moments, int(row), rng) for row in rows]
    told, chunks = (np.stack(part) for part in zip(*shown, strict=True))
    return told, chunks


def demonstrate(
    moments: Snapshots, row: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """An instruction of the task as it is practised, and what the expert does about it now."""
    held = int(moments.held[row])
    named = held if held >= 0 else _named(moments, row, rng)
    to = int(rng.choice([n for n in range(BINS - 1) if n != DESTINATIONS[SWAPPED][named]]))
    hand, objects = moments.hands[row].astype(np.float64), moments.objects[row].astype(np.float64)
    scene = SeenTable(hand[:3], hand[3:6], objects[:, :3], objects[:, 3], held >= 0)
    chunk = plan(scene, Errand(named, to)).reshape(CHUNK_NUMBERS)
    return words(say(named, to)), chunk


def _named(moments: Snapshots, row: int, rng: np.random.Generator) -> int:
    """Any object, or often the one at the hand, since there skill is needed."""
    gaps = np.linalg.norm(moments.objects[row, :, :2] - moments.hands[row, :2], axis=1)
    return int(gaps.argmin()) if rng.random() < AT_HAND else int(rng.integers(OBJECTS))


def _learn(
    network: nn.Module,
    draw: Draw,
    loss_of: Callable[..., torch.Tensor],
    lesson: LessonPlan,
    say_how: Say,
) -> None:
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.AdamW(network.parameters(), lr=lesson.rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, lesson.rate, total_steps=lesson.steps, pct_start=0.1
    )
    rng, recent = np.random.default_rng(lesson.seed), 0.0
    network.train()
    for step in range(lesson.steps):
        loss = loss_of(network, *draw(rng))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        recent += float(loss.detach()) / 100
        if step % 100 == 99:
            say_how(f"step {step + 1} of {lesson.steps}: loss {recent:.4f}")
            recent = 0.0
    network.eval()


def _glimpsed(eyes: TableEyes, pictures: torch.Tensor) -> Glimpse:
    """A look in short numbers where they are enough, which halves the time."""
    with torch.autocast("cpu", torch.bfloat16):
        return eyes.glimpse(pictures)


def _seen_loss(
    eyes: TableEyes,
    pictures: torch.Tensor,
    hands: torch.Tensor,
    poses: torch.Tensor,
    pixels: torch.Tensor,
    held: torch.Tensor,
    bins: torch.Tensor,
) -> torch.Tensor:
    """Where things are, what is held, what lies in which bin, and on which pixel each thing is."""
    glimpse = _glimpsed(eyes, pictures)
    said = eyes.judge(glimpse)
    near = (poses[..., :2].norm(dim=-1) < NEAR / SCALE).float()
    weights = (1 + 2 * near)[..., None] * torch.tensor((3.0, 3.0, 3.0, 1.0, 1.0))
    loss = _off(said.hands, hands, torch.tensor(HAND_WEIGHTS)) + _off(said.poses, poses, weights)
    loss = loss + 0.1 * nn.functional.cross_entropy(said.held, held)
    loss = loss + 0.1 * nn.functional.cross_entropy(said.bins.flatten(0, 1), bins.flatten())
    inside = (pixels.abs().amax(-1) < 1.0).float()
    return (
        loss
        + _off(glimpse.places, pixels, inside[..., None])
        + 0.03 * _mapped(glimpse.maps, pixels, inside)
    )


def _off(said: torch.Tensor, true: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (nn.functional.smooth_l1_loss(said, true, beta=0.03, reduction="none") * weights).mean()


def _mapped(maps: torch.Tensor, pixels: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """How far each map is from a small hill around the right place."""
    side = maps.shape[-1]
    axis = (torch.arange(side) + 0.5) * 2 / side - 1
    wide = SPREAD * 2 / side
    across, down = (
        torch.softmax(-(((axis - pixels[..., n : n + 1]) / wide) ** 2) / 2, dim=-1) for n in (0, 1)
    )
    hills = (down[..., None] * across[..., None, :]).flatten(-2)
    missed = -(hills * torch.log_softmax(maps.flatten(-2), dim=-1)).sum(-1)
    return (missed * inside).mean()


def _blind_loss(clone: Clone, *told: torch.Tensor) -> torch.Tensor:
    return nn.functional.smooth_l1_loss(clone.answer(*told[:-1]), told[-1], beta=0.05)


def _cloned_loss(
    clone: Clone, pictures: torch.Tensor, told: torch.Tensor, chunks: torch.Tensor
) -> torch.Tensor:
    answer = clone.judge(_glimpsed(clone.eyes, pictures), told)
    return nn.functional.smooth_l1_loss(answer, chunks, beta=0.05)


def _lit(pictures: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """The same pictures in another light, with some grain."""
    count = len(pictures)
    gain = torch.from_numpy(rng.uniform(0.9, 1.1, (count, 1, 1, 1, 1)).astype(np.float32))
    shift = torch.from_numpy(rng.uniform(-0.05, 0.05, (count, 1, 1, 1, 1)).astype(np.float32))
    grain = torch.randn_like(pictures) * float(rng.uniform(0.0, 0.03))
    return pictures * gain + shift + grain
