"""How two numbers of the same things go together: Pearson and Spearman with intervals, and nothing
where there is too little to say."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np
import numpy.typing as npt

from evaluators.metrics.ranking import pearson, spearman

RESAMPLES = 200
LEAST_ALONE, LEAST_GROUPS = 4, 8
"""Points that stand for themselves, and groups of points that are drawn again, below which there is
no figure."""
Z = 1.959964
DIGITS = 9
TOO_FEW, STILL = "too few", "one side does not vary"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation with the ends of its 95 % interval; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Correlation:
    """Two correlations of the same points, how many points, and why there is none."""

    pearson: Coefficient
    spearman: Coefficient
    n: int
    absent: str = ""


def of_points(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Correlate points that stand for themselves; intervals by Fisher's transform.

    >>> found = of_points([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.0, 2.0, 5.0, 4.0])
    >>> round(found.pearson.value, 2), round(found.pearson.low, 2), found.n
    (0.8, -0.28, 5)
    >>> of_points([1.0, 2.0], [1.0, 2.0]).absent
    'too few'
    """
    n = len(first)
    if n < LEAST_ALONE:
        return _none(n, TOO_FEW)
    linear, ranked = pearson(first, second), spearman(first, second)
    if linear is None or ranked is None:
        return _none(n, STILL)
    return Correlation(_fisher(linear, n), _fisher(ranked, n), n)


def of_groups(
    first: Sequence[float], second: Sequence[float], groups: Sequence[Hashable], seed: int = 0
) -> Correlation:
    """Correlate points of which those of one group lean on each other; intervals by drawing groups
    again."""
    n, members = len(first), _members(groups)
    if len(members) < LEAST_GROUPS:
        return _none(n, TOO_FEW)
    linear, ranked = pearson(first, second), spearman(first, second)
    if linear is None or ranked is None:
        return _none(n, STILL)
    tables = list(_resampled(np.array([first, second], np.float64), members, seed))
    return Correlation(
        Coefficient(linear, *_ends([_linear(table) for table in tables])),
        Coefficient(ranked, *_ends([_linear(_ranks(table)) for table in tables])),
        n,
    )


def without_means(values: Sequence[float], owners: Sequence[Hashable]) -> list[float]:
    """Values less the mean of their owner, so that what owners differ in does not count.

    >>> without_means([1.0, 3.0, 10.0], ["a", "a", "b"])
    [-1.0, 1.0, 0.0]
    """
    table = np.array(values, np.float64)
    for members in _members(owners):
        table[members] -= table[members].mean()
    # What never varied must not vary by what rounding leaves.
    return [float(value) for value in table.round(DIGITS)]


def _none(n: int, absent: str) -> Correlation:
    return Correlation(Coefficient(), Coefficient(), n, absent)


def _fisher(value: float, n: int) -> Coefficient:
    if abs(value) > 1 - 1e-12:
        return Coefficient(value)
    middle, half = atanh(value), Z / sqrt(n - 3)
    return Coefficient(value, tanh(middle - half), tanh(middle + half))


def _members(groups: Sequence[Hashable]) -> list[npt.NDArray[np.int64]]:
    places: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    return [np.array(members, np.int64) for members in places.values()]


def _resampled(
    table: Floats, members: Sequence[npt.NDArray[np.int64]], seed: int
) -> Iterator[Floats]:
    """The columns of as many groups as there are, drawn again and again."""
    dice = np.random.default_rng(seed)
    for _ in range(RESAMPLES):
        chosen = dice.integers(0, len(members), len(members))
        yield table[:, np.concatenate([members[group] for group in chosen])]


def _linear(table: Floats) -> float | None:
    if not (np.ptp(table[0]) and np.ptp(table[1])):
        return None
    return float(np.atleast_2d(np.corrcoef(table))[0, 1])


def _ranks(table: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(table, axis=1), np.float64)


def _ends(draws: Sequence[float | None]) -> tuple[float | None, float | None]:
    numbers = [draw for draw in draws if draw is not None]
    if len(numbers) < RESAMPLES // 2:
        return None, None
    low, high = (float(end) for end in np.quantile(numbers, [0.025, 0.975]))
    return low, high
