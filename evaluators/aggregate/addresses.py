"""Scores as matrices, and the addresses at which they are averaged; cells and comparisons are
computed from these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import (
    ALL,
    FACETS,
    OUR_FAILURES,
    SUBMITTER_FAILURES,
    Facets,
    Metric,
    Outcome,
    Sample,
    Score,
)
from evaluators.statistics.intervals import Estimates, estimate, join, macro_mean

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
NOT_EXPECTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})
UNKNOWN = OUR_FAILURES | {Outcome.OUTPUT_MISSING}
"""What an output that is not there, or a judge's failure, would have scored is not known."""


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """Scores as matrices, one row a sample and one column a metric; NaN values are left out of the
    mean."""

    values: Floats
    scored: Counts
    expected: Counts
    unknown: Flags


@dataclass(frozen=True, slots=True)
class AddressRows:
    """An address with the rows of its samples."""

    facets: Facets
    fixed: tuple[str, ...]
    members: Counts


@dataclass(frozen=True, slots=True)
class Codes:
    """Facets and clusters as numbers, one row a sample, numbered as they first occur."""

    facets: Counts
    names: tuple[tuple[str, ...], ...]
    clusters: Counts


@dataclass(frozen=True, slots=True)
class ScoreLayout:
    """A run's scores as matrices, its addresses, and for each the means with what clusters add to
    their error."""

    table: ScoreMatrix
    codes: Codes
    places: tuple[AddressRows, ...]
    estimates: tuple[Estimates, ...]


def lay_out(
    metrics: Sequence[Metric], samples: Sequence[Sample], scores: Sequence[Score]
) -> ScoreLayout:
    """Build the layout of a run's scores, which cells, columns and summaries share."""
    table, codes = table_of(metrics, samples, scores), codes_of(samples)
    places = tuple(places_of(codes))
    estimates = (estimates_at(metrics, table.values, codes, place) for place in places)
    return ScoreLayout(table, codes, places, tuple(estimates) if metrics else ())


def table_of(
    metrics: Sequence[Metric], samples: Sequence[Sample], scores: Sequence[Score]
) -> ScoreMatrix:
    """A score that is not there is a missing output: it counts as the worst value."""
    row = {sample.id: number for number, sample in enumerate(samples)}
    column = {metric.name: number for number, metric in enumerate(metrics)}
    shape = (len(samples), len(metrics))
    values = (
        np.tile([metric.worst for metric in metrics], (len(samples), 1))
        .astype(float)
        .reshape(shape)
    )
    scored, expected, unknown = (
        np.zeros(shape, np.int64),
        np.ones(shape, np.int64),
        np.ones(shape, np.bool_),
    )
    for score in scores:
        at = row[score.sample_id], column[score.metric]
        unknown[at] = score.outcome in UNKNOWN
        if score.outcome is Outcome.SCORED:
            values[at] = np.nan if score.value is None else score.value
            scored[at] = 1
        elif score.outcome not in SUBMITTER_FAILURES:
            values[at] = np.nan
            expected[at] = 0 if score.outcome in NOT_EXPECTED else 1
    return ScoreMatrix(values, scored, expected, unknown)


def codes_of(samples: Sequence[Sample]) -> Codes:
    columns, names = [], []
    for words in ([getattr(sample.facets, facet) for sample in samples] for facet in FACETS):
        order = {word: number for number, word in enumerate(dict.fromkeys(words))}
        columns.append([order[word] for word in words])
        names.append(tuple(order))
    clusters = {
        name: number
        for number, name in enumerate(dict.fromkeys(sample.cluster for sample in samples))
    }
    facets = np.array(columns, np.int64).reshape(len(FACETS), len(samples)).T
    return Codes(
        facets, tuple(names), np.array([clusters[sample.cluster] for sample in samples], np.int64)
    )


def places_of(codes: Codes) -> Iterator[AddressRows]:
    """All addresses, ordered by the facets they fix and then by their first sample."""
    for size in range(len(FACETS) + 1):
        for fixed in combinations(FACETS, size):
            keys = _keys(codes, fixed)
            _, first, group = np.unique(keys, return_index=True, return_inverse=True)
            order = np.argsort(group, kind="stable")
            members = np.split(order, np.cumsum(np.bincount(group))[:-1])
            for number in np.argsort(first):
                yield AddressRows(_facets(codes, int(first[number]), fixed), fixed, members[number])


def _keys(codes: Codes, facets: Sequence[str]) -> Counts:
    """One number a sample, the same for samples alike in these facets."""
    keys = np.zeros(len(codes.facets), np.int64)
    for facet in facets:
        column = FACETS.index(facet)
        keys = keys * len(codes.names[column]) + codes.facets[:, column]
    return keys


def _facets(codes: Codes, row: int, fixed: tuple[str, ...]) -> Facets:
    named = (codes.names[number][codes.facets[row, number]] for number in range(len(FACETS)))
    return Facets(
        *(name if facet in fixed else ALL for facet, name in zip(FACETS, named, strict=True))
    )


def metric_groups(
    metrics: Sequence[Metric], codes: Codes, place: AddressRows
) -> Iterator[tuple[Counts, Counts | None]]:
    """The metrics (as columns) that are averaged in the same way at an address, with the parts that
    get equal weight."""
    spanned = [
        tuple(facet for facet in metric.macro if facet not in place.fixed) for metric in metrics
    ]
    for facets in dict.fromkeys(spanned):
        parts = _numbered(_keys(codes, facets)[place.members]) if facets else None
        yield np.flatnonzero([span == facets for span in spanned]), parts


def _numbered(keys: Counts) -> Counts:
    return np.unique(keys, return_inverse=True)[1]


def means_at(metrics: Sequence[Metric], values: Floats, codes: Codes, place: AddressRows) -> Floats:
    means = np.full(len(metrics), np.nan)
    for columns, parts in metric_groups(metrics, codes, place):
        means[columns] = macro_mean(values[np.ix_(place.members, columns)], parts)
    return means


def estimates_at(
    metrics: Sequence[Metric], values: Floats, codes: Codes, place: AddressRows
) -> Estimates:
    clusters = _numbered(codes.clusters[place.members])
    groups = tuple(metric_groups(metrics, codes, place))
    estimates_by_group = [
        estimate(values[np.ix_(place.members, columns)], clusters, parts)
        for columns, parts in groups
    ]
    return join(estimates_by_group).take(
        np.argsort(np.concatenate([columns for columns, _ in groups]))
    )
