"""The Ladder: a public score moves only when a submission is surely better, so that trying often
gains little."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from evaluators.statistics.comparison import Difference


@dataclass(frozen=True, slots=True)
class LadderStep:
    """Whether the public score moves, by how much it had to be better, and by how much it is."""

    moves: bool
    step: float | None
    gain: float | None


def climb(new_minus_best: Difference, *, higher: bool = True, attempt: int = 2) -> LadderStep:
    """Decide about a team's submission against its best so far; `attempt` counts its scored
    submissions, this one too.

    The step of the second attempt is a standard error of the paired difference. The best of k
    equals is ahead of the first by about sqrt(2 ln k) errors, so a step that stays at one error is
    climbed by patience alone: it grows with the attempts.

    >>> climb(Difference(value=1.5, error=1.0, clusters=80, n=1600))
    LadderStep(moves=True, step=1.0, gain=1.5)
    >>> climb(Difference(value=1.5, error=1.0, clusters=80, n=1600), attempt=20).moves
    False
    """
    if attempt < 2:
        raise ValueError(
            f"The attempt is {attempt}. A first submission has nothing to climb from: publish its "
            "score."
        )
    if new_minus_best.value is None or new_minus_best.error is None:
        return LadderStep(False, None, None)
    gain = new_minus_best.value if higher else -new_minus_best.value
    step = new_minus_best.error * sqrt(1 + 2 * log(attempt - 1))
    return LadderStep(gain > 0 and gain >= step, step, gain)
