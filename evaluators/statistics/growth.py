"""A ranking that grows: a new entry is compared with every present one, and these are not compared
again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
import numpy.typing as npt

from evaluators.metrics.student import student
from evaluators.statistics.intervals import NO_SPREAD, Floats, Ints
from evaluators.statistics.standings import FEWEST, LEVEL

Flags = npt.NDArray[np.bool_]
GRID = float(1 << 25)
"""Influences are whole numbers of so many parts of a metric's range: then sums of products are
exact in 53 bits, so a comparison has the same bits on every machine, whoever of the two came
first."""

EDGES: Floats = np.round(1.9 * 1.02 ** np.arange(255), 6)
"""Differences are counted by size, in steps of 2 % from 1.9 standard errors up, and the bar moves
from step to step."""

BINS = len(EDGES) + 1

ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Field:
    """Entries, one a row, with what each cluster adds to their means, and who is surely better than
    whom, counted.

    `above` is the row of the lowest entry that is surely better, or -1. `sizes` counts all pairs by
    size of difference.
    """

    values: Floats
    influence: Floats
    clusters: int
    bar: float
    sizes: Ints
    better: Ints
    worse: Ints
    above: Ints


def on_steps(influence: Floats, scale: float) -> npt.NDArray[np.int32]:
    """Influences as whole numbers of the grid; `scale` is the metric's range.

    >>> on_steps(np.array([0.5, -1.0]), 100.0).tolist()
    [167772, -335544]
    """
    return np.rint(np.clip(influence / scale, -1.0, 1.0) * GRID).astype(np.int32)


def empty(clusters: int) -> Field:
    """A field without entries, over so many clusters."""
    none = np.zeros(0, np.int64)
    return Field(
        np.zeros(0), np.zeros((0, 0)), clusters, 0.0, np.zeros(BINS, np.int64), none, none, none
    )


def build(
    values: Floats, influence: Floats, clusters: int, *, scale: float, higher: bool = True
) -> Field:
    """Compare all with all: rows are entries, influences are on the grid.

    >>> one = np.array([[3.0, -3.0] * 20, [2.0, -2.0] * 20])
    >>> build(np.array([0.9, 0.1]), one * 2**16, 40, scale=1.0).better.tolist()
    [0, 1]
    """
    count = len(values)
    sizes = np.zeros(BINS, np.int64)
    for rows, size in _blocks(values, influence, clusters, scale):
        later = np.arange(count)[None, :] > rows[:, None]
        sizes += np.bincount(_bins(size[later]), minlength=BINS)
    bar = _bar(sizes, clusters)
    better, worse, above = (
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(count, -1, np.int64),
    )
    order = _order(values, higher)
    for rows, size in _blocks(values, influence, clusters, scale):
        sure = size >= bar
        ahead = order[rows][:, None] < order[None, :]
        worse[rows] = (sure & ahead).sum(axis=1)
        better[rows] = (sure & ~ahead).sum(axis=1)
        above[rows] = _lowest(sure & ~ahead, order)
    return Field(values, influence, clusters, bar, sizes, better, worse, above)


def grow(
    field: Field,
    value: float,
    influence: Floats,
    clusters: int,
    *,
    scale: float,
    higher: bool = True,
) -> Field:
    """Add one entry. The others are compared again only if the critical value moved, which becomes
    rarer as the field grows.

    >>> one = np.array([3.0, -3.0] * 20) * 2**16
    >>> first = grow(empty(40), 0.9, one, 40, scale=1.0)
    >>> second = grow(first, 0.1, one[::-1] / 2, 40, scale=1.0)
    >>> second.better.tolist(), second.worse.tolist(), second.above.tolist()
    ([0, 1], [1, 0], [-1, 0])
    """
    values = np.append(field.values, value)
    rows = np.vstack([field.influence, influence]) if len(field.values) else influence[None, :]
    fewest = min(field.clusters, clusters)
    size = _sizes(values, rows, np.array([len(values) - 1]), fewest, scale)[0, :-1]
    sizes = field.sizes + np.bincount(_bins(size), minlength=BINS)
    if fewest != field.clusters or _bar(sizes, fewest) != field.bar:
        return build(values, rows, fewest, scale=scale, higher=higher)
    order = _order(values, higher)
    sure, ahead = size >= field.bar, order[-1] < order[:-1]
    below = sure & ahead
    higher_up = np.where(field.above >= 0, order[field.above], -1)
    above = np.where(below & (order[-1] > higher_up), len(values) - 1, field.above)
    own = _lowest((sure & ~ahead)[None, :], order[:-1])
    return Field(
        values,
        rows,
        fewest,
        field.bar,
        sizes,
        np.append(field.better + below, (sure & ~ahead).sum()),
        np.append(field.worse + (sure & ~ahead), below.sum()),
        np.append(above, own),
    )


def ranks(field: Field, *, higher: bool = True) -> list[int]:
    """Shared ranks: a group holds none that is surely worse than another of it, and equal values
    are never parted.

    >>> one = np.array([3.0, -3.0] * 20) * 2**16
    >>> ranks(build(np.array([0.1, 0.9, 0.1]), np.stack([one, one / 2, one]), 40, scale=1.0))
    [2, 1, 2]
    """
    order = _order(field.values, higher)
    count = int(order.max(initial=-1)) + 1
    surely = np.full(count, -1, np.int64)
    np.maximum.at(surely, order, np.where(field.above >= 0, order[field.above], -1))
    heads = np.zeros(count, np.int64)
    for head, stop in _groups(surely):
        heads[head:stop] = head
    ahead = np.concatenate([[0], np.cumsum(np.bincount(order, minlength=count))])
    shared_ranks: list[int] = (1 + ahead[heads[order]]).tolist()
    return shared_ranks


def _groups(surely: Ints) -> Iterator[tuple[int, int]]:
    """Groups of places from the best down, given each place's lowest one that is surely better.

    >>> list(_groups(np.array([-1, -1, 0, 1, 2])))
    [(0, 2), (2, 4), (4, 5)]
    """
    head = 0
    while head < len(surely):
        parted = surely[head + 1 :] >= head
        stop = head + 1 + int(parted.argmax()) if parted.any() else len(surely)
        yield head, stop
        head = stop


def _order(values: Floats, higher: bool) -> Ints:
    """Each entry's place by value, the best 0, equal values together."""
    return np.unique(-values if higher else values, return_inverse=True)[1].astype(np.int64)


def _lowest(sure: Flags, order: Ints) -> Ints:
    """In each row the one furthest down among the marked, or -1; of equals the first."""
    places = np.where(sure, order[None, :], -1)
    if not places.shape[1]:
        return np.full(len(sure), -1, np.int64)
    return np.where(sure.any(axis=1), places.argmax(axis=1), -1).astype(np.int64)


def _blocks(
    values: Floats, influence: Floats, clusters: int, scale: float
) -> list[tuple[Ints, Floats]]:
    return [
        (rows, _sizes(values, influence, rows, clusters, scale))
        for rows in np.array_split(np.arange(len(values)), max(ceil(len(values) / ROWS_AT_ONCE), 1))
    ]


def _sizes(values: Floats, influence: Floats, rows: Ints, clusters: int, scale: float) -> Floats:
    """Each difference of these rows from all in its own standard errors; one no larger than
    rounding is none."""
    if clusters < FEWEST:
        return np.zeros((len(rows), len(values)))
    gap = np.abs(values[rows][:, None] - values[None, :]) / scale
    gap[gap <= NO_SPREAD] = 0.0
    own = np.einsum("ij,ij->i", influence, influence)
    spread = own[rows][:, None] + own[None, :] - 2 * (influence[rows] @ influence.T)
    error = np.sqrt(np.maximum(spread, 0.0) * clusters / (clusters - 1)) / GRID
    standardised: Floats = np.divide(
        gap, error, out=np.where(gap > 0, np.inf, 0.0), where=error > 0
    )
    return standardised


def _bins(sizes: Floats) -> Ints:
    return np.searchsorted(EDGES, sizes, side="right").astype(np.int64)


def _bar(sizes: Ints, clusters: int) -> float:
    """Holm's bar, rounded up to the next step: every pair beyond it is told apart, one board in
    twenty with any wrong.

    Holm takes pairs from the largest difference down, and each one taken lowers the bar for the
    rest. Here all beyond the bar are taken at once and the bar is lowered, until nothing more
    passes: the same pairs, without sorting them.
    """
    pairs, separated = int(sizes.sum()), 0
    if not pairs or clusters < FEWEST:
        return float("inf")
    while True:
        step = _step(clusters, pairs - separated)
        passed = int(sizes[step + 1 :].sum())
        if passed in (separated, pairs):
            return float(EDGES[step]) if step < len(EDGES) else float("inf")
        separated = passed


@lru_cache(maxsize=1 << 16)
def _step(clusters: int, pairs: int) -> int:
    """The first edge at or beyond the bar for so many pairs."""
    return int(np.searchsorted(EDGES, student(clusters - 1, 1 - LEVEL / pairs), side="left"))
