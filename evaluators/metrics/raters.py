"""How far measuring again moves a mean for all outputs at once: a judge's mood on a day, or a rater's strictness.

What changes from output to output by itself is in the spread between tasks already. What all outputs share is not: it
moves the whole mean, and no number of tasks averages it away. That part is measured here and added to the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
import numpy.typing as npt

from evaluators.metrics.intervals import Z

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shared:
    """The standard error that all outputs share, from so many outputs seen so many times."""

    error: float
    outputs: int
    times: int


def shared(values: Floats, used: int = 1) -> Shared | None:
    """Estimate the shared error from a table of outputs (rows) by repeats or raters (columns); NaN is no value.

    Variance between columns beyond what the rest of the table explains (two-way layout, columns random). `used` is how
    many columns the published mean averages: one for a judge, all of them for raters. None with fewer than two of
    either, since then nothing was measured.

    >>> table = np.array([[3.0, 4.0], [2.0, 3.0], [5.0, 6.0]])
    >>> round(shared(table).error, 6), round(shared(table, used=2).error, 6)
    (0.707107, 0.5)
    """
    whole = values[~np.isnan(values).any(axis=1)]
    outputs, times = whole.shape
    if outputs < 2 or times < 2:
        return None
    column = whole.mean(axis=0)
    rest = whole - whole.mean(axis=1, keepdims=True) - column + whole.mean()
    noise = float((rest**2).sum()) / ((outputs - 1) * (times - 1))
    between = float(outputs * column.var(ddof=1))
    return Shared(sqrt(max(between - noise, 0.0) / outputs / used), outputs, times)


def widened(value: float, low: float, high: float, error: float, least: float, most: float) -> tuple[float, float]:
    """Stretch both arms of an interval by a shared error: squares add, and the range stays what it is.

    >>> widened(50.0, 46.0, 53.0, error=0.0, least=0.0, most=100.0)
    (46.0, 53.0)
    >>> [round(end, 2) for end in widened(50.0, 47.0, 53.0, error=2.0, least=0.0, most=100.0)]
    [45.06, 54.94]
    """
    if not error:
        return low, high
    below, above = (hypot(arm, Z * error) for arm in (value - low, high - value))
    return max(value - below, least), min(value + above, most)
