"""Every cell (a mean, a difference, or a suite's own statistic) with the influence of each cluster
on its error.

A mean knows its clusters by itself. What follows from other cells (`derive`) is worked out again
with each cluster's part added to them, which is exact for differences. What a suite tabulates or
pools by its own rule is worked out again without each cluster in turn (the jackknife).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from evaluators.aggregate.addresses import (
    Codes,
    Counts,
    Flags,
    Floats,
    ScoreLayout,
    codes_of,
    lay_out,
)
from evaluators.aggregate.cells import cells
from evaluators.contracts import ALL, FACETS, Cell, Facets, Metric, Sample, Score, Suite
from evaluators.statistics.intervals import Estimates, intervals, join
from evaluators.statistics.raters import widened

MOST_LEFT_OUT = 60
"""Beyond so many clusters they are left out in groups."""


@dataclass(frozen=True, slots=True)
class Column:
    """A cell's value with what each of its clusters adds to its error; `ids` number the clusters
    among the samples.

    `clusters` is how many of one size would carry as much.
    """

    value: float
    ids: Counts
    influence: Floats
    clusters: int


Key: TypeAlias = "tuple[str, Facets]"
Columns: TypeAlias = "dict[Key, Column]"


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A run's cells with their intervals, and the columns of all of them if some interval was made
    from these."""

    cells: tuple[Cell, ...]
    columns: Columns | None


def without_intervals(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score]
) -> tuple[Cell, ...]:
    """All cells of a run, by the suite's own rule or as means over samples, without intervals."""
    if suite.tabulate:
        run_cells = suite.tabulate(samples, scores)
    else:
        run_cells = cells(scored_metrics(suite, scores), samples, scores, resamples=0)
    return run_cells + (suite.derive(run_cells) if suite.derive else ())


def tabulate(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    noise: Mapping[str, float] | None = None,
) -> tuple[Cell, ...]:
    """All cells of a run, with their intervals; `noise` is the standard error of a metric's mean
    between repeated measurements."""
    return tabulated(suite, samples, scores, noise).cells


def tabulated(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    noise: Mapping[str, float] | None = None,
) -> Tabulated:
    """The same, with the columns if the intervals needed them."""
    metrics = scored_metrics(suite, scores)
    layout = None if _has_own_rule(suite) else lay_out(metrics, samples, scores)
    run_cells = (
        suite.tabulate(samples, scores)
        if suite.tabulate
        else cells(metrics, samples, scores, layout=layout)
    )
    run_cells += suite.derive(run_cells) if suite.derive else ()
    needs = any(_is_bare(cell) for cell in run_cells)
    cell_columns = columns(suite, samples, scores, layout) if needs else None
    whole = with_intervals(suite, run_cells, cell_columns) if cell_columns else run_cells
    noisy = (
        _noisy(suite, cell, noise[cell.metric]) if noise and cell.metric in noise else cell
        for cell in whole
    )
    return Tabulated(tuple(noisy), cell_columns)


def _noisy(suite: Suite, cell: Cell, error: float) -> Cell:
    if cell.value is None or cell.low is None or cell.high is None:
        return cell
    lowest, highest = next(
        sorted((metric.worst, metric.best))
        for metric in suite.metrics
        if metric.name == cell.metric
    )
    low, high = widened(cell.value, cell.low, cell.high, error, lowest, highest)
    return replace(cell, low=low, high=high)


def scored_metrics(suite: Suite, scores: Sequence[Score]) -> list[Metric]:
    """The metrics that samples have scores of; the others follow from these."""
    named = {score.metric for score in scores}
    return [metric for metric in suite.metrics if metric.name in named]


def columns(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    layout: ScoreLayout | None = None,
) -> Columns:
    """The columns of all cells that have a value; `layout` is the layout of these scores, where the
    caller has it."""
    metrics = scored_metrics(suite, scores)
    if _has_own_rule(suite):
        return _left_out(suite, samples, scores)
    layout = layout or lay_out(metrics, samples, scores)
    mean_columns = _means(metrics, layout)
    if suite.derive:
        base = cells(metrics, samples, scores, resamples=0, layout=layout)
        mean_columns |= _derived(suite.derive, base, mean_columns)
    return mean_columns


def units(suite: Suite, samples: Sequence[Sample]) -> Counts:
    """The number of each sample's cluster, or of the group of clusters that is left out
    together."""
    clusters = codes_of(samples).clusters
    return clusters % MOST_LEFT_OUT if _has_own_rule(suite) else clusters


def _has_own_rule(suite: Suite) -> bool:
    return suite.tabulate is not None or any(metric.pool for metric in suite.metrics)


def _means(metrics: Sequence[Metric], layout: ScoreLayout) -> Columns:
    mean_columns: Columns = {}
    for place, place_estimates in zip(layout.places, layout.estimates, strict=bool(metrics)):
        ids = np.unique(layout.codes.clusters[place.members])
        for number in np.flatnonzero(~np.isnan(place_estimates.values)).tolist():
            influence, clusters = (
                place_estimates.influence[:, number],
                int(place_estimates.clusters[number]),
            )
            mean_columns[metrics[number].name, place.facets] = Column(
                float(place_estimates.values[number]), ids, influence, clusters
            )
    return mean_columns


def _derived(
    derive: Callable[[Sequence[Cell]], tuple[Cell, ...]],
    base: Sequence[Cell],
    base_columns: Columns,
) -> Columns:
    """Derived cells are computed once on arrays: the value itself, then the value with each
    cluster's influence added."""
    count = 1 + max((int(column.ids[-1]) for column in base_columns.values()), default=-1)
    derived_cells = derive(
        [_moved(cell, base_columns.get((cell.metric, cell.facets)), count) for cell in base]
    )
    at_address = {facets: column for (_, facets), column in base_columns.items()}
    derived_columns: Columns = {}
    for cell in derived_cells:
        address_column = at_address.get(cell.facets)
        if cell.value is not None and address_column:
            whole, *moved = np.broadcast_to(cell.value, count + 1).tolist()
            influence = np.array(moved)[address_column.ids] - whole
            derived_columns[cell.metric, cell.facets] = Column(
                whole, address_column.ids, influence, address_column.clusters
            )
    return derived_columns


def _moved(cell: Cell, column: Column | None, count: int) -> Cell:
    """A cell whose value is an array: the value, then the value with each cluster's influence
    added."""
    if column is None or cell.value is None:
        return cell
    values = np.full(count + 1, cell.value)
    values[1 + column.ids] = column.value + column.influence
    return replace(cell, value=values)  # type: ignore[arg-type]


def _left_out(suite: Suite, samples: Sequence[Sample], scores: Sequence[Score]) -> Columns:
    """The jackknife: a cluster's part is what the value loses without it, times (n - 1) / n."""
    cells_by_key = _by_key(without_intervals(suite, samples, scores))
    groups, codes = units(suite, samples), codes_of(samples)
    without = [
        _by_key(_cells_of_remaining(suite, samples, scores, groups != group))
        for group in range(groups.max(initial=-1) + 1)
    ]
    jackknife_columns: Columns = {}
    for key, cell in cells_by_key.items():
        ids = np.unique(groups[members(codes, cell.facets)])
        values = [without[group].get(key) for group in ids]
        left = np.array(
            [
                np.nan if cell_without is None or cell_without.value is None else cell_without.value
                for cell_without in values
            ]
        )
        if cell.value is not None and len(ids) > 1 and not np.isnan(left).any():
            influence = (left.mean() - left) * (len(ids) - 1) / len(ids)
            jackknife_columns[key] = Column(cell.value, ids, influence, len(ids))
    return jackknife_columns


def _cells_of_remaining(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score], stay_flags: Flags
) -> tuple[Cell, ...]:
    remaining = [sample for sample, stays in zip(samples, stay_flags, strict=True) if stays]
    names = {sample.id for sample in remaining}
    return without_intervals(
        suite, remaining, [score for score in scores if score.sample_id in names]
    )


def members(codes: Codes, facets: Facets) -> Counts:
    """The rows of the samples at an address; an address that no sample has stands for all
    samples."""
    at = np.ones(len(codes.facets), np.bool_)
    for column, (facet, names) in enumerate(zip(FACETS, codes.names, strict=True)):
        value = getattr(facets, facet)
        if value != ALL and value in names:
            at &= codes.facets[:, column] == names.index(value)
    return np.flatnonzero(at)


def _by_key(table_cells: Sequence[Cell]) -> dict[Key, Cell]:
    return {(cell.metric, cell.facets): cell for cell in table_cells}


def with_intervals(
    suite: Suite, run_cells: Sequence[Cell], cell_columns: Columns
) -> tuple[Cell, ...]:
    """Give an interval to the cells that have a value and none yet: differences, pooled cells, a
    suite's own statistics."""
    bare = [
        cell for cell in run_cells if _is_bare(cell) and (cell.metric, cell.facets) in cell_columns
    ]
    ends = _ends(suite, bare, cell_columns)
    return tuple(
        ends.get((cell.metric, cell.facets), cell) if cell.low is None else cell
        for cell in run_cells
    )


def _is_bare(cell: Cell) -> bool:
    return cell.value is not None and cell.low is None


def _ends(
    suite: Suite, bare: Sequence[Cell], columns_by_key: Mapping[Key, Column]
) -> dict[Key, Cell]:
    """Cells with equally many clusters share their resamples and one matrix product."""
    limits = {metric.name: sorted((metric.worst, metric.best)) for metric in suite.metrics}
    alike: dict[int, list[Cell]] = {}
    for cell in bare:
        alike.setdefault(len(columns_by_key[cell.metric, cell.facets].ids), []).append(cell)
    cells_with_ends: dict[Key, Cell] = {}
    for group in alike.values():
        lowest, highest = np.array([limits[cell.metric] for cell in group], float).T
        wide = intervals(_joined(group, columns_by_key), lowest, highest)
        for number, cell in enumerate(group):
            if not np.isnan(wide.low[number]):
                low, high = float(wide.low[number]), float(wide.high[number])
                cells_with_ends[cell.metric, cell.facets] = replace(cell, low=low, high=high)
    return cells_with_ends


def _joined(group: Sequence[Cell], columns_by_key: Mapping[Key, Column]) -> Estimates:
    parts = [columns_by_key[cell.metric, cell.facets] for cell in group]
    return join(
        [
            Estimates(np.array([p.value]), p.influence[:, None], np.array([p.clusters], np.int64))
            for p in parts
        ]
    )
