"""How far a rule gets that sees only the last frame, or only the first: nearest neighbours among
the clips of the adaptation environment.

`python -m tests.bench.leaks` prints it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evaluators.suites.universe.bank import FILE, read_rows
from evaluators.suites.universe.bank_making import BankRow
from evaluators.suites.universe.course.reader import shrunk
from evaluators.worlds.doom.places import HOME

NEIGHBOURS = 3


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Right answers in percent, and one standard deviation of chance on actions."""

    actions: float
    characters: float
    spread: float


def last_frame_rule(frame: int = -1) -> RuleResult:
    """Leave one clip out, take what most of the clips with the most similar frame do."""
    rows = [row for row in read_rows(FILE) if row.clip.environment == HOME]
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
    return RuleResult(float(right[0]), float(right[1]), spread)


def _features(row: BankRow, frame: int) -> NDArray[np.float64]:
    picture = shrunk(row.clip.frames()[[frame]])[0].astype(float)
    coarse = picture.reshape(16, 4, 16, 4, 3).mean((1, 3)).ravel()
    return np.asarray((coarse - coarse.mean()) / (coarse.std() + 1e-6))


def _usual(labels: list[str]) -> str:
    return max(labels, key=lambda label: (labels.count(label), -labels.index(label)))


def main() -> int:
    """Print both rules."""
    for name, frame in (("last", -1), ("first", 0)):
        found = last_frame_rule(frame)
        print(
            f"{name} frame alone: actions {found.actions:.1f} (chance 12.5 +- {found.spread:.1f}), "
            f"characters {found.characters:.1f} (chance 7.7)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
