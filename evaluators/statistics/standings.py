"""Rank intervals and tie groups from paired differences, valid for all entries at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.metrics.student import students
from evaluators.statistics.intervals import NO_SPREAD, Estimates, Floats

Flags = npt.NDArray[np.bool_]
LEVEL = 0.05
FEWEST = 6
"""With fewer clusters not even a difference of one sign throughout is rare at 5 %, so nobody is
told apart."""


@dataclass(frozen=True, slots=True)
class RankInterval:
    """An entry's shared rank, and the ranks from `low` to `high` that its true one lies among."""

    name: str
    value: float
    rank: int
    low: int
    high: int


def standings(
    names: Sequence[str], estimates: Estimates, *, higher: bool = True
) -> tuple[RankInterval, ...]:
    """Rank entries, one a column, in the order they are given.

    `low` is one more than how many are surely better, `high` leaves room for all that are not
    surely worse: together they hold every entry's true rank in 95 of 100 boards. Entries share a
    rank when no two of their group can be told apart; a group is opened by the best entry that is
    surely worse than one of the group before. Equal values are never parted, so twins share all of
    it, and a rank lies in its interval.

    >>> from evaluators.statistics.intervals import estimate
    >>> task = np.arange(80.0)
    >>> scores = np.stack([task % 7, task % 7, task % 7 + 9 + task % 3], axis=1)
    >>> [(p.name, p.rank, p.low, p.high) for p in standings("abc", estimate(scores, np.arange(80)))]
    [('a', 2, 2, 3), ('b', 2, 2, 3), ('c', 1, 1, 1)]
    """
    if np.isnan(estimates.values).any():
        without = [
            name for name, value in zip(names, estimates.values, strict=True) if np.isnan(value)
        ]
        raise ValueError(
            f"{len(without)} entries have no value, first {without[0]!r}. Rank only entries that "
            "have one."
        )
    values = estimates.values if higher else -estimates.values
    better = (values[:, None] > values[None, :]) & separated(estimates)
    low, high = 1 + better.sum(axis=0), len(values) - better.sum(axis=1)
    ranks = _ranks(values, better)
    return tuple(
        RankInterval(name, float(estimates.values[n]), ranks[n], int(low[n]), int(high[n]))
        for n, name in enumerate(names)
    )


def separated(estimates: Estimates) -> Flags:
    """Tell which pairs of columns differ, with at most one board in twenty having any wrong.

    Each pair by Student's t of its paired difference between clusters, all pairs together by Holm.
    Why not max-t over the bootstrap: one pair's spread is small by chance, which resampling around
    it cannot know (20 equal entries on 7 clusters: 20 % of boards wrong), and between all pairs of
    a board its bar is but 3 % lower than Bonferroni's. Holm wins that back as soon as some pairs
    differ, holds under any dependence, and draws nothing.

    >>> from evaluators.statistics.intervals import estimate
    >>> task = np.arange(80.0)
    >>> values = np.stack([task % 7, task % 7, task % 5 + 9], axis=1)
    >>> separated(estimate(values, np.arange(80))).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    count = len(estimates.values)
    sure = np.zeros((count, count), np.bool_)
    clusters = int(estimates.clusters.min()) if count else 0
    if clusters < FEWEST or count < 2:
        return sure
    first, second = np.triu_indices(count, 1)
    sizes = _sizes(estimates, clusters)[first, second]
    order = np.argsort(-sizes, kind="stable")
    bars = students(clusters - 1, 1 - LEVEL / np.arange(len(order), 0, -1))
    passed = order[np.logical_and.accumulate(sizes[order] > bars)]
    sure[first[passed], second[passed]] = sure[second[passed], first[passed]] = True
    return sure


def _sizes(estimates: Estimates, clusters: int) -> Floats:
    """Each difference in its own standard errors; a difference no larger than rounding is none."""
    gap = np.abs(estimates.values[:, None] - estimates.values[None, :])
    gap[gap <= NO_SPREAD * np.abs(estimates.values).max()] = 0.0
    spread = np.stack(
        [
            ((estimates.influence - entry_influence[:, None]) ** 2).sum(axis=0)
            for entry_influence in estimates.influence.T
        ]
    )
    error = np.sqrt(spread * clusters / (clusters - 1))
    return np.divide(gap, error, out=np.where(gap > 0, np.inf, 0.0), where=error > 0)


def _ranks(values: Floats, better: Flags) -> list[int]:
    """From the best value down, all of one value together: join the group, or open the next."""
    ranks = np.zeros(len(values), np.int64)
    group: list[int] = []
    for value in np.unique(values)[::-1]:
        equal = np.flatnonzero(values == value)
        if better[np.ix_(np.array(group, np.int64), equal)].any():
            group = []
        group += equal.tolist()
        ranks[equal] = 1 + (values > values[group[0]]).sum()
    return [int(rank) for rank in ranks]
