"""How far a rule gets that sees only the last frame, or only the first: nearest neighbours among
the clips of the adaptation environment, and among those of all eight.

`python -m tests.bench.leaks` prints it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evaluators.suites.universe.bank import FILE, read_rows
from evaluators.suites.universe.bank_making import BankRow
from evaluators.suites.universe.course.reader import shrunk
from evaluators.worlds.doom.places import HOME

NEIGHBOURS, COARSE = 3, 16
"""Clips asked, and squares a side that a frame is compared by."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Right answers in percent among so many clips, and one standard deviation of chance on
    actions."""

    clips: int
    actions: float
    characters: float
    spread: float


def last_frame_rule(frame: int = -1, everywhere: bool = False) -> RuleResult:
    """Leave one clip out, take what most of the clips with the most similar frame do; those of its
    own session are not asked."""
    rows = [row for row in read_rows(FILE) if everywhere or row.clip.environment == HOME]
    pictures = np.stack([_features(row, frame) for row in rows])
    distances = ((pictures[:, None] - pictures[None]) ** 2).sum(-1)
    same_session = np.array([row.clip.seed for row in rows])
    distances[same_session[:, None] == same_session[None]] = np.inf
    near = np.argsort(distances, 1)[:, :NEIGHBOURS]
    actions = [_usual([rows[i].action for i in around]) for around in near]
    characters = [_usual([rows[i].character for i in around]) for around in near]
    right = [
        100 * np.mean([said == truth for said, truth in zip(told, labels, strict=True)])
        for told, labels in (
            (actions, [row.action for row in rows]),
            (characters, [row.character for row in rows]),
        )
    ]
    spread = 100 * sqrt(1 / 8 * 7 / 8 / len(rows))
    return RuleResult(len(rows), float(right[0]), float(right[1]), spread)


def _features(row: BankRow, frame: int) -> NDArray[np.float64]:
    picture = shrunk(row.clip.frames()[[frame]])[0].astype(float)
    side = len(picture) // COARSE
    coarse = picture.reshape(COARSE, side, COARSE, side, 3).mean((1, 3)).ravel()
    return np.asarray((coarse - coarse.mean()) / (coarse.std() + 1e-6))


def _usual(labels: list[str]) -> str:
    return max(labels, key=lambda label: (labels.count(label), -labels.index(label)))


def main() -> int:
    """Print both rules at home and everywhere."""
    asked = product((("last", -1), ("first", 0)), (False, True))
    for (name, frame), everywhere in asked:
        found = last_frame_rule(frame, everywhere)
        print(
            f"{name} frame alone, {found.clips} clips: actions {found.actions:.1f} "
            f"(chance 12.5 +- {found.spread:.1f}), characters {found.characters:.1f} (chance 7.7)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
