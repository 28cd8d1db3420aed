"""Two entries side by side: by how much they differ on the samples both have, how sure that is, and
who wins where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluators.statistics.intervals import (
    RESAMPLES,
    Estimates,
    Floats,
    Ints,
    estimate,
    intervals,
    sums,
)

EXACT_UP_TO = 13
"""Clusters whose 2^n ways to flip signs are all tried."""

ROUNDING = 1e-9
FLIPS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Difference:
    """The first entry minus the second over the samples both have; no error with fewer than two
    clusters."""

    value: float | None
    error: float | None
    clusters: int
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A difference, its 95 % interval, the chance of one as large between equals, and how many
    samples each wins."""

    difference: Difference
    low: float | None
    high: float | None
    p: float | None
    wins: int
    ties: int
    losses: int


def difference(a: Floats, b: Floats, clusters: Ints, parts: Ints | None = None) -> Difference:
    """Subtract the means of two entries, sample by sample; NaN is no value.

    The error is that of the paired difference between clusters, with n - 1 for n.

    >>> a, b = np.array([3.0, 5.0, np.nan]), np.array([1.0, 1.0, 9.0])
    >>> result = difference(a, b, np.array([0, 1, 2]))
    >>> result.value, round(result.error, 9), result.clusters, result.n
    (3.0, 1.0, 2, 2)
    """
    return _difference(_paired(a, b, clusters, parts), int((~np.isnan(a - b)).sum()))


def compare(
    a: Floats,
    b: Floats,
    clusters: Ints,
    parts: Ints | None = None,
    *,
    higher: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare two entries on the samples both have; `higher` says which way is a win.

    The interval is that of the cluster bootstrap; p is by flipping the sign of whole clusters,
    which is what could as well have happened were the two entries equal. It is exact up to 13
    clusters, and never 0.

    >>> a, b = np.array([3.0, 5.0, 4.0, 4.0]), np.array([1.0, 1.0, 2.0, 4.0])
    >>> result = compare(a, b, np.arange(4))
    >>> result.difference.value, result.p, (result.wins, result.ties, result.losses)
    (2.0, 0.25, (3, 1, 0))
    """
    gap = a - b
    present = ~np.isnan(gap)
    paired = _paired(a, b, clusters, parts)
    ends = intervals(paired, resamples=resamples, seed=seed)
    signs = np.sign(gap[present]) * (1 if higher else -1)
    return Comparison(
        _difference(paired, int(present.sum())),
        _or_none(ends.low[0]),
        _or_none(ends.high[0]),
        _p(_contributions(gap, clusters, parts), resamples, seed)
        if paired.clusters[0] >= 2
        else None,
        *(int((signs == sign).sum()) for sign in (1, 0, -1)),
    )


def _paired(a: Floats, b: Floats, clusters: Ints, parts: Ints | None) -> Estimates:
    if not len(a) == len(b) == len(clusters) == len(clusters if parts is None else parts):
        raise ValueError(
            f"The entries have {len(a)} and {len(b)} values, the samples {len(clusters)}. Give one "
            "a sample."
        )
    return estimate((a - b)[:, None], clusters, parts)


def _difference(paired: Estimates, n: int) -> Difference:
    count = int(paired.clusters[0])
    spread = float(np.sqrt((paired.influence[:, 0] ** 2).sum()))
    error = spread * sqrt(count / (count - 1)) if count >= 2 else None
    return Difference(_or_none(paired.values[0]), error, count, n)


def _or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def _contributions(gap: Floats, clusters: Ints, parts: Ints | None) -> Floats:
    """What each cluster gives of the difference: its influence with the mean left in."""
    present = ~np.isnan(gap)
    part = np.zeros(len(gap), np.int64) if parts is None else parts
    size = np.bincount(part[present], minlength=int(part.max()) + 1)
    return sums(clusters[present], (gap[present] / size[part[present]])[:, None])[:, 0]


def _p(contributions: Floats, resamples: int, seed: int) -> float:
    """The share of sign flips that give a difference as far from zero, the one that happened among
    them."""
    observed = abs(float(contributions.sum())) - ROUNDING * float(np.abs(contributions).sum())
    far = total = 0
    for signs in _signs(len(contributions), resamples, seed):
        far += int((np.abs(signs @ contributions) >= observed).sum())
        total += len(signs)
    return far / total if len(contributions) <= EXACT_UP_TO else (far + 1) / (total + 1)


def _signs(clusters: int, resamples: int, seed: int) -> Iterator[Floats]:
    if clusters <= EXACT_UP_TO:
        ways = np.arange(2**clusters)[:, None] >> np.arange(clusters)
        yield np.where(ways & 1, 1.0, -1.0)
        return
    random = np.random.default_rng(seed)
    for start in range(0, resamples, FLIPS_AT_ONCE):
        flips = random.integers(0, 2, (min(FLIPS_AT_ONCE, resamples - start), clusters))
        yield np.where(flips == 1, 1.0, -1.0)
