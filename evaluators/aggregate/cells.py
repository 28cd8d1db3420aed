"""From scores to cells: every metric at every address, with the samples scored and expected, and an
interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.aggregate.addresses import (
    NOT_EXPECTED,
    AddressRows,
    Floats,
    ScoreLayout,
    ScoreMatrix,
    codes_of,
    lay_out,
    means_at,
    places_of,
    table_of,
)
from evaluators.contracts import OUR_FAILURES, Cell, Facets, Metric, Sample, Score
from evaluators.statistics.intervals import RESAMPLES, Estimates, Intervals, intervals, join


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a cell would be if everything unknown in it were as bad, and as good, as can be."""

    metric: str
    facets: Facets
    if_worst: float
    if_best: float
    n_unknown: int


def cells(
    metrics: Sequence[Metric],
    samples: Sequence[Sample],
    scores: Sequence[Score],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    layout: ScoreLayout | None = None,
) -> tuple[Cell, ...]:
    """All cells of a run: each metric for each combination of facet values and of `*`; 0 resamples,
    no intervals.

    `layout` is the layout of these scores, where the caller has it.
    """
    if layout is None and resamples:
        layout = lay_out(metrics, samples, scores)
    if layout:
        table, places, means = (
            layout.table,
            layout.places,
            [address_estimates.values for address_estimates in layout.estimates],
        )
    else:
        table, codes = table_of(metrics, samples, scores), codes_of(samples)
        places = tuple(places_of(codes))
        means = [means_at(metrics, table.values, codes, place) for place in places]
    ends = _intervals(metrics, layout.estimates, resamples, seed) if layout and resamples else {}
    pooled = _by_sample(scores) if any(metric.pool for metric in metrics) else {}
    return tuple(
        cell
        for number, (place, values) in enumerate(zip(places, means, strict=bool(metrics)))
        for cell in _cells_of(place, metrics, samples, table, values, ends.get(number), pooled)
    )


def bounds(
    metrics: Sequence[Metric], samples: Sequence[Sample], scores: Sequence[Score]
) -> tuple[Bounds, ...]:
    """The bounds of every cell that has something unknown in it and is a mean.

    Unknown is a sample without a score, an output that is missing, a judge that failed; a model
    that failed is known.
    """
    table, codes = table_of(metrics, samples, scores), codes_of(samples)
    if not table.unknown.any():
        return ()
    worst, best = (
        np.where(
            table.unknown,
            np.array([getattr(metric, end) for metric in metrics], float),
            table.values,
        )
        for end in ("worst", "best")
    )
    return tuple(
        Bounds(metric.name, place.facets, float(low), float(high), int(n_unknown))
        for place in places_of(codes)
        for metric, low, high, n_unknown in zip(
            metrics,
            means_at(metrics, worst, codes, place),
            means_at(metrics, best, codes, place),
            table.unknown[place.members].sum(axis=0),
            strict=True,
        )
        if n_unknown and not metric.pool and not np.isnan(low)
    )


def _intervals(
    metrics: Sequence[Metric], estimates: Sequence[Estimates], resamples: int, seed: int
) -> dict[int, Intervals]:
    """The intervals of each address; addresses with equally many clusters share their resamples and
    one matrix product."""
    if not metrics:
        return {}
    lowest, highest = np.sort([(metric.worst, metric.best) for metric in metrics]).astype(float).T
    alike: dict[int, dict[int, Estimates]] = {}
    for number, address_estimates in enumerate(estimates):
        alike.setdefault(len(address_estimates.influence), {})[number] = address_estimates
    intervals_by_address: dict[int, Intervals] = {}
    for group in alike.values():
        limits = np.tile(lowest, len(group)), np.tile(highest, len(group))
        wide = intervals(join(list(group.values())), *limits, resamples=resamples, seed=seed)
        low, high = (ends.reshape(len(group), len(metrics)) for ends in (wide.low, wide.high))
        intervals_by_address |= {
            number: Intervals(low[at], high[at]) for at, number in enumerate(group)
        }
    return intervals_by_address


def _cells_of(
    place: AddressRows,
    metrics: Sequence[Metric],
    samples: Sequence[Sample],
    table: ScoreMatrix,
    values: Floats,
    ends: Intervals | None,
    pooled: dict[tuple[str, str], Score],
) -> Iterator[Cell]:
    scored, expected = (
        table.scored[place.members].sum(axis=0),
        table.expected[place.members].sum(axis=0),
    )
    for number, metric in enumerate(metrics):
        if not expected[number]:
            continue
        value = _pool(metric, place, samples, pooled) if metric.pool else _or_none(values[number])
        empty = "" if value is not None else "no sample here has a usable score"
        cell = Cell(
            metric.name, place.facets, value, int(scored[number]), int(expected[number]), empty
        )
        if ends and not metric.pool:
            cell = replace(cell, low=_or_none(ends.low[number]), high=_or_none(ends.high[number]))
        yield cell


def _by_sample(scores: Sequence[Score]) -> dict[tuple[str, str], Score]:
    return {(score.sample_id, score.metric): score for score in scores}


def _pool(
    metric: Metric,
    place: AddressRows,
    samples: Sequence[Sample],
    pooled: dict[tuple[str, str], Score],
) -> float | None:
    assert metric.pool is not None
    scores = (pooled.get((samples[number].id, metric.name)) for number in place.members)
    return metric.pool([score for score in scores if score])


def _or_none(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)


def share_of_our_failures(scores: Sequence[Score]) -> float:
    """The part of the expected scores that a judge could not give; above one in a hundred a run is
    not published."""
    expected = [score for score in scores if score.outcome not in NOT_EXPECTED]
    return (
        sum(score.outcome in OUR_FAILURES for score in expected) / len(expected)
        if expected
        else 0.0
    )
