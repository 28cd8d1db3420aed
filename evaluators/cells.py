"""From scores to cells: every metric at every address, with how many samples there are and should be, and how sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import (
    ALL,
    FACETS,
    OUR_FAILURES,
    SUBMITTER_FAILURES,
    Cell,
    Facets,
    Metric,
    Outcome,
    Sample,
    Score,
)
from evaluators.metrics.intervals import RESAMPLES, Estimates, Intervals, estimate, intervals, join, macro_mean

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
NOT_EXPECTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})
UNKNOWN = OUR_FAILURES | {Outcome.OUTPUT_MISSING}
"""What an output that is not there, or a judge's failure, would have scored is not known."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a cell would be if everything unknown in it were as bad, and as good, as can be."""

    metric: str
    facets: Facets
    if_worst: float
    if_best: float
    n_unknown: int


@dataclass(frozen=True, slots=True)
class Table:
    """Scores as matrices, one row a sample and one column a metric; NaN is: not in the mean."""

    values: Floats
    scored: Counts
    expected: Counts
    unknown: Flags


@dataclass(frozen=True, slots=True)
class Place:
    """An address with the rows of its samples."""

    facets: Facets
    kept: tuple[str, ...]
    members: Counts


@dataclass(frozen=True, slots=True)
class Codes:
    """Facets and clusters as numbers, one row a sample, numbered as they first occur."""

    facets: Counts
    names: tuple[tuple[str, ...], ...]
    clusters: Counts


def cells(
    metrics: Sequence[Metric],
    samples: Sequence[Sample],
    scores: Sequence[Score],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Cell, ...]:
    """All cells of a run: each metric for each combination of facet values and of `*`; 0 resamples, no intervals."""
    table, codes = _table(metrics, samples, scores), _codes(samples)
    places = tuple(_places(codes))
    ends = _intervals(metrics, table.values, codes, places, resamples, seed) if resamples and metrics else {}
    pooled = _by_sample(scores) if any(metric.pool for metric in metrics) else {}
    return tuple(
        cell
        for number, place in enumerate(places)
        for cell in _cells_of(place, metrics, samples, table, codes, ends.get(number), pooled)
    )


def bounds(metrics: Sequence[Metric], samples: Sequence[Sample], scores: Sequence[Score]) -> tuple[Bounds, ...]:
    """The bounds of every cell that has something unknown in it and is a mean.

    Unknown is a sample without a score, an output that is missing, a judge that failed; a model that failed is known.
    """
    table, codes = _table(metrics, samples, scores), _codes(samples)
    worst, best = (
        np.where(table.unknown, np.array([getattr(metric, end) for metric in metrics], float), table.values)
        for end in ("worst", "best")
    )
    return tuple(
        Bounds(metric.name, place.facets, float(low), float(high), int(n_unknown))
        for place in _places(codes)
        for metric, low, high, n_unknown in zip(
            metrics,
            _values(metrics, worst, codes, place),
            _values(metrics, best, codes, place),
            table.unknown[place.members].sum(axis=0),
            strict=True,
        )
        if n_unknown and not metric.pool and not np.isnan(low)
    )


def _table(metrics: Sequence[Metric], samples: Sequence[Sample], scores: Sequence[Score]) -> Table:
    """A score that is not there is a missing output: it counts as the worst value."""
    row = {sample.id: number for number, sample in enumerate(samples)}
    column = {metric.name: number for number, metric in enumerate(metrics)}
    shape = (len(samples), len(metrics))
    values = np.tile([metric.worst for metric in metrics], (len(samples), 1)).astype(float).reshape(shape)
    scored, expected, unknown = np.zeros(shape, np.int64), np.ones(shape, np.int64), np.ones(shape, np.bool_)
    for score in scores:
        at = row[score.sample_id], column[score.metric]
        unknown[at] = score.outcome in UNKNOWN
        if score.outcome is Outcome.SCORED:
            values[at] = np.nan if score.value is None else score.value
            scored[at] = 1
        elif score.outcome not in SUBMITTER_FAILURES:
            values[at] = np.nan
            expected[at] = 0 if score.outcome in NOT_EXPECTED else 1
    return Table(values, scored, expected, unknown)


def _codes(samples: Sequence[Sample]) -> Codes:
    columns, names = [], []
    for words in ([getattr(sample.facets, facet) for sample in samples] for facet in FACETS):
        order = {word: number for number, word in enumerate(dict.fromkeys(words))}
        columns.append([order[word] for word in words])
        names.append(tuple(order))
    clusters = {name: number for number, name in enumerate(dict.fromkeys(sample.cluster for sample in samples))}
    facets = np.array(columns, np.int64).reshape(len(FACETS), len(samples)).T
    return Codes(facets, tuple(names), np.array([clusters[sample.cluster] for sample in samples], np.int64))


def _places(codes: Codes) -> Iterator[Place]:
    """All addresses, those that share what they keep apart in the order of their first sample."""
    for size in range(len(FACETS) + 1):
        for kept in combinations(FACETS, size):
            keys = _keys(codes, kept)
            _, first, group = np.unique(keys, return_index=True, return_inverse=True)
            order = np.argsort(group, kind="stable")
            members = np.split(order, np.cumsum(np.bincount(group))[:-1])
            for number in np.argsort(first):
                yield Place(_facets(codes, int(first[number]), kept), kept, members[number])


def _keys(codes: Codes, facets: Sequence[str]) -> Counts:
    """One number a sample, the same for samples alike in these facets."""
    keys = np.zeros(len(codes.facets), np.int64)
    for facet in facets:
        column = FACETS.index(facet)
        keys = keys * len(codes.names[column]) + codes.facets[:, column]
    return keys


def _facets(codes: Codes, row: int, kept: tuple[str, ...]) -> Facets:
    named = (codes.names[number][codes.facets[row, number]] for number in range(len(FACETS)))
    return Facets(*(name if facet in kept else ALL for facet, name in zip(FACETS, named, strict=True)))


def _alike(metrics: Sequence[Metric], codes: Codes, place: Place) -> Iterator[tuple[Counts, Counts | None]]:
    """The columns that are averaged together at an address, with the parts that weigh alike in them."""
    spanned = [tuple(facet for facet in metric.macro if facet not in place.kept) for metric in metrics]
    for facets in dict.fromkeys(spanned):
        parts = _numbered(_keys(codes, facets)[place.members]) if facets else None
        yield np.flatnonzero([span == facets for span in spanned]), parts


def _numbered(keys: Counts) -> Counts:
    return np.unique(keys, return_inverse=True)[1]


def _values(metrics: Sequence[Metric], values: Floats, codes: Codes, place: Place) -> Floats:
    found = np.full(len(metrics), np.nan)
    for columns, parts in _alike(metrics, codes, place):
        found[columns] = macro_mean(values[np.ix_(place.members, columns)], parts)
    return found


def _estimates(metrics: Sequence[Metric], values: Floats, codes: Codes, place: Place) -> Estimates:
    clusters = _numbered(codes.clusters[place.members])
    alike = tuple(_alike(metrics, codes, place))
    made = [estimate(values[np.ix_(place.members, columns)], clusters, parts) for columns, parts in alike]
    return join(made).take(np.argsort(np.concatenate([columns for columns, _ in alike])))


def _intervals(
    metrics: Sequence[Metric], values: Floats, codes: Codes, places: Sequence[Place], resamples: int, seed: int
) -> dict[int, Intervals]:
    """The intervals of each address; those with as many clusters share their draws, and so one matrix product."""
    least, most = np.sort([(metric.worst, metric.best) for metric in metrics]).astype(float).T
    alike: dict[int, dict[int, Estimates]] = {}
    for number, place in enumerate(places):
        found = _estimates(metrics, values, codes, place)
        alike.setdefault(len(found.influence), {})[number] = found
    made: dict[int, Intervals] = {}
    for group in alike.values():
        limits = np.tile(least, len(group)), np.tile(most, len(group))
        wide = intervals(join(list(group.values())), *limits, resamples=resamples, seed=seed)
        low, high = (ends.reshape(len(group), len(metrics)) for ends in (wide.low, wide.high))
        made |= {number: Intervals(low[at], high[at]) for at, number in enumerate(group)}
    return made


def _cells_of(
    place: Place,
    metrics: Sequence[Metric],
    samples: Sequence[Sample],
    table: Table,
    codes: Codes,
    ends: Intervals | None,
    pooled: dict[tuple[str, str], Score],
) -> Iterator[Cell]:
    values = _values(metrics, table.values, codes, place)
    scored, expected = table.scored[place.members].sum(axis=0), table.expected[place.members].sum(axis=0)
    for number, metric in enumerate(metrics):
        if not expected[number]:
            continue
        value = _pool(metric, place, samples, pooled) if metric.pool else _or_none(values[number])
        empty = "" if value is not None else "no sample here has a usable score"
        cell = Cell(metric.name, place.facets, value, int(scored[number]), int(expected[number]), empty)
        if ends and not metric.pool:
            cell = replace(cell, low=_or_none(ends.low[number]), high=_or_none(ends.high[number]))
        yield cell


def _by_sample(scores: Sequence[Score]) -> dict[tuple[str, str], Score]:
    return {(score.sample_id, score.metric): score for score in scores}


def _pool(
    metric: Metric, place: Place, samples: Sequence[Sample], pooled: dict[tuple[str, str], Score]
) -> float | None:
    assert metric.pool is not None
    found = (pooled.get((samples[number].id, metric.name)) for number in place.members)
    return metric.pool([score for score in found if score])


def _or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def share_of_our_failures(scores: Sequence[Score]) -> float:
    """The part of the expected scores that a judge could not give; above one in a hundred a run is not published."""
    expected = [score for score in scores if score.outcome not in NOT_EXPECTED]
    return sum(score.outcome in OUR_FAILURES for score in expected) / len(expected) if expected else 0.0
