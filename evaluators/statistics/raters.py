"""The error that all outputs share when they are measured again: a judge that drifts, or a rater's
strictness.

What changes from output to output by itself is in the spread between tasks already. What all
outputs share is not: it moves the whole mean, and no number of tasks averages it away. That part is
measured here and added to the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import hypot, sqrt

import numpy as np
import numpy.typing as npt

from evaluators.statistics.intervals import Z

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Shared:
    """The standard error that all outputs share, from so many outputs seen so many times."""

    error: float
    outputs: int
    times: int


def shared(values: Floats, used: int | None = 1) -> Shared | None:
    """Estimate the shared error from a table of outputs (rows) by repeats or raters (columns); NaN
    is no value.

    Each two columns differ by more than the noise of single values explains; that is what a column
    shares, and with a whole table it is the variance between columns of the two-way layout. `used`
    is how many columns the published mean averages: one for a judge. None is for raters, whose mean
    of each output is taken over those who rated it. The answer is None where no two columns have
    two outputs in common, since then nothing was measured.

    >>> table = np.array([[3.0, 4.0], [2.0, 3.0], [5.0, 6.0]])
    >>> round(shared(table).error, 6), round(shared(table, used=None).error, 6)
    (0.707107, 0.5)
    """
    present = ~np.isnan(values)
    pairs = [
        excess_and_count
        for pair in combinations(values.T, 2)
        if (excess_and_count := _apart(*pair))
    ]
    if not pairs:
        return None
    variance = max(sum(n * excess for excess, n in pairs) / sum(n for _, n in pairs), 0.0)
    part = 1 / used if used else float((_weights(present) ** 2).sum())
    return Shared(
        sqrt(variance * part), int((present.sum(axis=1) > 1).sum()), int(present.any(axis=0).sum())
    )


def _apart(first: Floats, second: Floats) -> tuple[float, int] | None:
    """Half the squared mean difference of two columns beyond its own noise, and over how many
    outputs."""
    gap = (first - second)[~np.isnan(first - second)]
    if len(gap) < 2:
        return None
    return float(gap.mean() ** 2 - gap.var(ddof=1) / len(gap)) / 2, len(gap)


def _weights(present: Flags) -> Floats:
    """How much of the mean over outputs comes from each rater."""
    rated = present[present.any(axis=1)]
    weights: Floats = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    return weights


def widened(
    value: float, low: float, high: float, error: float, lowest: float, highest: float
) -> tuple[float, float]:
    """Stretch both arms of an interval by a shared error: variances add, and the range of values
    still holds.

    >>> widened(50.0, 46.0, 53.0, error=0.0, lowest=0.0, highest=100.0)
    (46.0, 53.0)
    >>> ends = widened(50.0, 47.0, 53.0, error=2.0, lowest=0.0, highest=100.0)
    >>> [round(end, 2) for end in ends]
    [45.06, 54.94]
    """
    if not error:
        return low, high
    below, above = (hypot(arm, Z * error) for arm in (value - low, high - value))
    return max(value - below, lowest), min(value + above, highest)
