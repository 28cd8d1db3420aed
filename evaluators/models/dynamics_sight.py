"""How the tokeniser learns to see and to paint: least squares for the eyes, gradient descent for the brush."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from evaluators.models.dynamics_data import Practice
from evaluators.models.dynamics_eyes import (
    HAND,
    STIR,
    Eyes,
    EyesConfig,
    Tokeniser,
    all_colours,
    to_bytes,
)
from evaluators.worlds.bussing_starts import BINS
from evaluators.worlds.bussing_views import BIN_SIZE, FINGER_RADIUS, OBJECT_RADIUS, WRIST_HALF

CENTRES, WIDTH, RIDGE = 160, 0.07, 1e-3
HEAVY = 4.0


@dataclass(frozen=True, slots=True)
class SightPlan:
    """How much the tokeniser practises."""

    frames: int = 1500
    brush_steps: int = 500
    batch: int = 24
    rate: float = 1e-2
    seed: int = 0


def train_tokeniser(practice: Practice, plan: SightPlan, config: EyesConfig | None = None) -> Tokeniser:
    """Eyes on real frames, a brush for what they see, then eyes again on real and painted frames alike."""
    torch.manual_seed(plan.seed)
    made = Tokeniser(config or EyesConfig())
    chosen = choose(practice, plan.frames, plan.seed)
    learn_ground(made.eyes, chosen.frames)
    fit_eyes(made.eyes, chosen, chosen.frames)
    points = made.eyes(chosen.frames)
    _train_brush(made, points, chosen.frames, plan, plan.brush_steps // 3)
    with torch.no_grad():
        painted = to_bytes(_in_parts(made.brush, points))
    fit_eyes(made.eyes, chosen.repeated(2), torch.cat([chosen.frames, painted]))
    _train_brush(made, made.eyes(chosen.frames), chosen.frames, plan, plan.brush_steps)
    with torch.no_grad():
        latents = made.eyes(chosen.frames).flatten(2)
        made.mean.copy_(latents.mean(0))
        made.deviation.copy_(latents.std(0).clamp(min=0.02))
    return made


@dataclass(frozen=True, slots=True)
class Chosen:
    """Frames picked for practice, with where things are in them and the state of the table."""

    frames: Tensor
    places: Tensor
    states: Tensor

    def repeated(self, times: int) -> Chosen:
        """The same truth for several sets of frames."""
        return Chosen(self.frames, torch.cat([self.places] * times), torch.cat([self.states] * times))


def choose(practice: Practice, count: int, seed: int) -> Chosen:
    """So many frames of the practice, at random."""
    total = practice.frames.shape[0] * practice.frames.shape[1]
    rows = np.random.default_rng(seed).permutation(total)[:count]
    flat = (torch.from_numpy(a.reshape(total, *a.shape[2:])[rows]) for a in (practice.frames, practice.places))
    frames, places = flat
    return Chosen(frames, places, torch.from_numpy(practice.states.reshape(total, -1)[rows]))


def learn_ground(eyes: Eyes, frames: Tensor) -> None:
    """What a camera mostly sees at each pixel, and whether it stands still: then that is what is seen mostly."""
    pixels = frames.flatten(2, 3).float() / 255
    eyes.ground.copy_(pixels.median(0).values)
    same = ((pixels - eyes.ground).abs().amax(-1) < STIR).float().mean(0)
    eyes.fixed.copy_((same.amin(1) > 0.5).float())


def fit_eyes(eyes: Eyes, chosen: Chosen, frames: Tensor) -> None:
    """Ridge regression from smooth features of a pixel's colour to what it belongs to, and from points to the state."""
    labels = _labels(eyes, chosen)
    for view in range(eyes.config.views):
        pixels = frames[:, view].flatten(1, 2).flatten(0, 1)
        wanted = labels[:, view].flatten(0, 1)
        rows = _balanced(wanted, eyes.changed(frames)[:, view].flatten())
        centres = pixels[rows[torch.randint(0, len(rows), (CENTRES,))]].float() / 255
        features = _features(pixels[rows].float() / 255, centres)
        weights = _ridge(features, wanted[rows])
        eyes.table[view] = _features(all_colours(), centres) @ weights
    points = eyes(frames).flatten(1)
    eyes.state.copy_(_ridge(torch.cat([points, torch.ones(len(points), 1)], dim=1), chosen.states))


def _balanced(wanted: Tensor, changed: Tensor) -> Tensor:
    """Of the pixels that count, all that belong to something and some of the rest; at most 60,000."""
    something = wanted[:, : HAND + 1].sum(1) > 0.02
    rows = torch.nonzero((changed > 0) & (something | (torch.rand(len(wanted)) < 0.1)))[:, 0]
    return rows[torch.randperm(len(rows))[:60_000]]


def _features(colours: Tensor, centres: Tensor) -> Tensor:
    near = torch.exp(-torch.cdist(colours, centres).square() / (2 * WIDTH**2))
    return torch.cat([near, colours, torch.ones(len(colours), 1)], dim=1)


def _ridge(features: Tensor, wanted: Tensor) -> Tensor:
    features, wanted = features.double(), wanted.double()
    square = features.T @ features + RIDGE * len(features) / 1000 * torch.eye(features.shape[1])
    solved: Tensor = torch.linalg.solve(square, features.T @ wanted)
    return solved.float()


def _labels(eyes: Eyes, chosen: Chosen) -> Tensor:
    """How much of each pixel belongs to each thing: [n, views, pixels, things]; fingers cover objects, objects bins."""
    scale = torch.tensor([1.0, 1.0, 2 * WRIST_HALF])[None, :, None]
    away = (chosen.places[..., None] - eyes.grid).square().sum(3).sqrt() * scale[..., None]
    soft = 24 / scale[..., None]
    objects = (0.5 - (away[:, :, :2] - OBJECT_RADIUS) * soft).clamp(0, 1)
    fingers = (0.5 - (away[:, :, 2:] - FINGER_RADIUS) * soft).clamp(0, 1).amax(2)
    objects = objects * (1 - fingers[:, :, None])
    bins = _bin_labels(eyes, chosen) * (1 - fingers[:, :, None]) * (1 - objects.amax(2))[:, :, None]
    return torch.stack([objects[:, :, 0], objects[:, :, 1], fingers, bins[:, :, 0], bins[:, :, 1]], dim=3)


def _bin_labels(eyes: Eyes, chosen: Chosen) -> Tensor:
    x, y = eyes.grid[0], 1 - eyes.grid[1]
    hand = chosen.states[:, :2]
    found = torch.zeros(len(hand), eyes.config.views, len(BINS), eyes.grid.shape[1])
    for number, (left, up) in enumerate(BINS):
        found[:, 0, number] = _box(x - left, y - up, BIN_SIZE)
        found[:, 1, number] = ((x - left).abs() < BIN_SIZE) & ((y - 0.12).abs() < 0.04)
        across = hand[:, :1] + (x - 0.5)[None] * 2 * WRIST_HALF
        found[:, 2, number] = _box(across - left, hand[:, 1:] + (y - 0.5)[None] * 2 * WRIST_HALF - up, BIN_SIZE)
    return found


def _box(x: Tensor, y: Tensor, half: float) -> Tensor:
    return ((x.abs() < half) & (y.abs() < half)).float()


def _train_brush(made: Tokeniser, points: Tensor, frames: Tensor, plan: SightPlan, steps: int) -> None:
    """Pixels that differ from the empty bench weigh more: there are few of them and they carry the meaning."""
    wanted = frames.float() / 255
    weight = 1 + HEAVY * torch.unflatten(made.eyes.changed(frames), 2, frames.shape[2:4])[..., None]
    with torch.no_grad():
        made.brush.ground.copy_(made.eyes.ground.transpose(1, 2))
    optimiser = torch.optim.Adam(made.brush.parameters(), lr=plan.rate)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, plan.rate / 30)
    for _ in range(steps):
        rows = torch.randint(0, len(points), (plan.batch,))
        loss = ((made.brush(points[rows]) - wanted[rows]).square() * weight[rows]).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        slower.step()


def _in_parts(made: Callable[[Tensor], Tensor], points: Tensor, size: int = 128) -> Tensor:
    return torch.cat([made(points[first : first + size]) for first in range(0, len(points), size)])
