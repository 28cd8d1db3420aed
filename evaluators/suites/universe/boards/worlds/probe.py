"""A probe that reads the action off a clip: motion in a grid of squares, and a linear classifier
trained on recorded play. It sees no buttons, and its accuracy on true clips is part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Pixels
from evaluators.suites.universe.boards.worlds.showings import resized

Floats = NDArray[np.float64]
FILE = Path(__file__).parent / "data" / "probe.npz"
WIDTH, HEIGHT = 80, 48
ROWS, COLUMNS = 3, 5
REACH = 6
"""Pixels, at 80 x 48, that a square is followed to either side."""
GREY = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True, slots=True)
class ActionProbe:
    """A linear reader of features: labels, their mean and deviation in training, weights; and the
    share of held-out true clips that it reads right, with their number."""

    labels: tuple[str, ...]
    middle: Floats
    spread: Floats
    weights: Floats
    accuracy: float
    examined: int

    def read(self, clip: Pixels) -> str:
        """The action that a clip, the last given frame first, most looks like."""
        return self.labels[int(self.scores(features(clip)[None])[0].argmax())]

    def scores(self, rows: Floats) -> Floats:
        """One column a label, higher is likelier."""
        scaled = (rows - self.middle) / self.spread
        return np.concatenate([scaled, np.ones((len(rows), 1))], axis=1) @ self.weights


def features(clip: Pixels) -> Floats:
    """How each square of the picture moves from frame to frame, summed and at its most, how much
    changes where the weapon is, and how much light comes and goes."""
    grey = resized(clip, (WIDTH, HEIGHT)) @ GREY
    moves = np.stack([_motion(*pair) for pair in pairwise(grey)])
    travel = moves.cumsum(0)
    changes = np.abs(np.diff(grey, axis=0))
    weapon = changes[:, HEIGHT * 2 // 3 :, WIDTH * 3 // 8 : WIDTH * 5 // 8].mean((1, 2))
    light = np.diff(grey.mean((1, 2)))
    return np.concatenate(
        [
            travel[-1].ravel(),
            travel.max(0).ravel(),
            travel.min(0).ravel(),
            _shape(weapon),
            _shape(changes.mean((1, 2))),
            _shape(light),
            _shape(-light),
        ]
    )


def _shape(values: Floats) -> Floats:
    """Mean, highest, second highest and spread of a course over time."""
    ordered = np.sort(values)
    return np.array([values.mean(), ordered[-1], ordered[-2], values.std()])


def _motion(before: Floats, after: Floats) -> Floats:
    """Of each square, how far it went to the right and down: the shift that fits best."""
    errors = np.stack(
        [
            _square_errors(before, np.roll(after, (-down, -right), (0, 1)))
            for down in range(-REACH // 2, REACH // 2 + 1)
            for right in range(-REACH, REACH + 1)
        ]
    )
    shifts = np.array(
        [
            (right, down)
            for down in range(-REACH // 2, REACH // 2 + 1)
            for right in range(-REACH, REACH + 1)
        ]
    )
    # Of shifts that fit alike, the shorter: a flat or frozen square does not move.
    penalty = 0.02 * np.abs(shifts).sum(1)[:, None, None]
    return np.asarray(shifts[(errors + penalty).argmin(0)], np.float64)


def _square_errors(before: Floats, after: Floats) -> Floats:
    off = np.abs(before - after).reshape(ROWS, HEIGHT // ROWS, COLUMNS, WIDTH // COLUMNS)
    return np.asarray(off.mean((1, 3)))


def train_probe(
    rows: Floats, actions: Sequence[str], groups: Sequence[int], ridge: float = 1e-2
) -> ActionProbe:
    """A softmax regression by plain gradient steps; a fifth of the groups (sessions) is held out
    and tells its accuracy."""
    labels = tuple(sorted(set(actions)))
    targets = np.array([labels.index(action) for action in actions])
    names = sorted(set(groups))
    held = np.isin(np.array(groups), names[::5])
    middle, spread = rows[~held].mean(0), rows[~held].std(0) + 1e-6
    weights = _fitted((rows[~held] - middle) / spread, targets[~held], len(labels), ridge)
    probe = ActionProbe(labels, middle, spread, weights, 0.0, int(held.sum()))
    right = float((probe.scores(rows[held]).argmax(1) == targets[held]).mean())
    return ActionProbe(labels, middle, spread, weights, right, int(held.sum()))


def _fitted(scaled: Floats, targets: NDArray[np.int64], count: int, ridge: float) -> Floats:
    inputs = np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1)
    wanted = np.eye(count)[targets]
    weights, speed = np.zeros((inputs.shape[1], count)), np.zeros((inputs.shape[1], count))
    for _ in range(1500):
        logits = inputs @ weights
        odds = np.exp(logits - logits.max(1, keepdims=True))
        odds /= odds.sum(1, keepdims=True)
        slope = inputs.T @ (odds - wanted) / len(inputs) + ridge * weights
        speed = 0.9 * speed - 0.05 * slope
        weights += speed
    return weights


def save_probe(probe: ActionProbe, path: Path = FILE) -> Path:
    """The probe as a file of numbers."""
    np.savez_compressed(
        path,
        labels=np.array(probe.labels),
        middle=probe.middle.astype(np.float32),
        spread=probe.spread.astype(np.float32),
        weights=probe.weights.astype(np.float32),
        accuracy=probe.accuracy,
        examined=probe.examined,
    )
    return path


@cache
def packaged_probe() -> ActionProbe:
    """The probe that was trained on recorded play of all environments."""
    with np.load(FILE, allow_pickle=False) as data:
        middle, spread, weights = (
            np.asarray(data[name], np.float64) for name in ("middle", "spread", "weights")
        )
        labels = tuple(str(label) for label in data["labels"])
        shares = float(data["accuracy"]), int(data["examined"])
        return ActionProbe(labels, middle, spread, weights, *shares)
