"""Every cell with what each cluster adds to its error, whatever it is: a mean, a difference, a
rule's own.

A mean knows its clusters by itself. What follows from other cells (`derive`) is worked out again
with each cluster's part added to them, which is exact for differences. What a suite tabulates or
pools by its own rule is worked out again without each cluster in turn (the jackknife).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from evaluators.aggregate.addresses import Codes, Counts, Flags, Floats, Ground, codes_of, ground_of
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
        made = suite.tabulate(samples, scores)
    else:
        made = cells(scored_metrics(suite, scores), samples, scores, resamples=0)
    return made + (suite.derive(made) if suite.derive else ())


def tabulate(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    noise: Mapping[str, float] | None = None,
) -> tuple[Cell, ...]:
    """All cells of a run, with their intervals; `noise` is what a metric's mean moves by when
    measured again."""
    return tabulated(suite, samples, scores, noise).cells


def tabulated(
    suite: Suite,
    samples: Sequence[Sample],
    scores: Sequence[Score],
    noise: Mapping[str, float] | None = None,
) -> Tabulated:
    """The same, with the columns if the intervals needed them."""
    metrics = scored_metrics(suite, scores)
    ground = None if _has_own_rule(suite) else ground_of(metrics, samples, scores)
    made = (
        suite.tabulate(samples, scores)
        if suite.tabulate
        else cells(metrics, samples, scores, ground=ground)
    )
    made += suite.derive(made) if suite.derive else ()
    needs = any(_is_bare(cell) for cell in made)
    known = columns(suite, samples, scores, ground) if needs else None
    whole = with_intervals(suite, made, known) if known else made
    noisy = (
        _noisy(suite, cell, noise[cell.metric]) if noise and cell.metric in noise else cell
        for cell in whole
    )
    return Tabulated(tuple(noisy), known)


def _noisy(suite: Suite, cell: Cell, error: float) -> Cell:
    if cell.value is None or cell.low is None or cell.high is None:
        return cell
    least, most = next(
        sorted((metric.worst, metric.best))
        for metric in suite.metrics
        if metric.name == cell.metric
    )
    low, high = widened(cell.value, cell.low, cell.high, error, least, most)
    return replace(cell, low=low, high=high)


def scored_metrics(suite: Suite, scores: Sequence[Score]) -> list[Metric]:
    """The metrics that samples have scores of; the others follow from these."""
    named = {score.metric for score in scores}
    return [metric for metric in suite.metrics if metric.name in named]


def columns(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score], ground: Ground | None = None
) -> Columns:
    """The columns of all cells that have a value; `ground` is what these scores were laid out as,
    where known."""
    metrics = scored_metrics(suite, scores)
    if _has_own_rule(suite):
        return _left_out(suite, samples, scores)
    ground = ground or ground_of(metrics, samples, scores)
    found = _means(metrics, ground)
    if suite.derive:
        base = cells(metrics, samples, scores, resamples=0, ground=ground)
        found |= _derived(suite.derive, base, found)
    return found


def units(suite: Suite, samples: Sequence[Sample]) -> Counts:
    """The number of each sample's cluster, or of the group of clusters that is left out
    together."""
    clusters = codes_of(samples).clusters
    return clusters % MOST_LEFT_OUT if _has_own_rule(suite) else clusters


def _has_own_rule(suite: Suite) -> bool:
    return suite.tabulate is not None or any(metric.pool for metric in suite.metrics)


def _means(metrics: Sequence[Metric], ground: Ground) -> Columns:
    found: Columns = {}
    for place, made in zip(ground.places, ground.estimates, strict=bool(metrics)):
        ids = np.unique(ground.codes.clusters[place.members])
        for number in np.flatnonzero(~np.isnan(made.values)).tolist():
            influence, clusters = made.influence[:, number], int(made.clusters[number])
            found[metrics[number].name, place.facets] = Column(
                float(made.values[number]), ids, influence, clusters
            )
    return found


def _derived(
    derive: Callable[[Sequence[Cell]], tuple[Cell, ...]], base: Sequence[Cell], known: Columns
) -> Columns:
    """Worked out once for all: each value is a row of numbers, itself and then moved by each
    cluster in turn."""
    count = 1 + max((int(column.ids[-1]) for column in known.values()), default=-1)
    made = derive([_moved(cell, known.get((cell.metric, cell.facets)), count) for cell in base])
    at_address = {facets: column for (_, facets), column in known.items()}
    found: Columns = {}
    for cell in made:
        there = at_address.get(cell.facets)
        if cell.value is not None and there:
            whole, *moved = np.broadcast_to(cell.value, count + 1).tolist()
            influence = np.array(moved)[there.ids] - whole
            found[cell.metric, cell.facets] = Column(whole, there.ids, influence, there.clusters)
    return found


def _moved(cell: Cell, column: Column | None, count: int) -> Cell:
    """A cell with all its values at once; arithmetic is the same for many numbers as for one."""
    if column is None or cell.value is None:
        return cell
    values = np.full(count + 1, cell.value)
    values[1 + column.ids] = column.value + column.influence
    return replace(cell, value=values)  # type: ignore[arg-type]


def _left_out(suite: Suite, samples: Sequence[Sample], scores: Sequence[Score]) -> Columns:
    """The jackknife: a cluster's part is what the value loses without it, times (n - 1) / n."""
    made = _by_key(without_intervals(suite, samples, scores))
    groups, codes = units(suite, samples), codes_of(samples)
    without = [
        _by_key(_kept(suite, samples, scores, groups != group))
        for group in range(groups.max(initial=-1) + 1)
    ]
    found: Columns = {}
    for key, cell in made.items():
        ids = np.unique(groups[members(codes, cell.facets)])
        values = [without[group].get(key) for group in ids]
        left = np.array(
            [np.nan if one is None or one.value is None else one.value for one in values]
        )
        if cell.value is not None and len(ids) > 1 and not np.isnan(left).any():
            influence = (left.mean() - left) * (len(ids) - 1) / len(ids)
            found[key] = Column(cell.value, ids, influence, len(ids))
    return found


def _kept(
    suite: Suite, samples: Sequence[Sample], scores: Sequence[Score], kept: Flags
) -> tuple[Cell, ...]:
    some = [sample for sample, stays in zip(samples, kept, strict=True) if stays]
    names = {sample.id for sample in some}
    return without_intervals(suite, some, [score for score in scores if score.sample_id in names])


def members(codes: Codes, facets: Facets) -> Counts:
    """The samples at an address; those of a rule's own address that no sample has are all."""
    at = np.ones(len(codes.facets), np.bool_)
    for column, (facet, names) in enumerate(zip(FACETS, codes.names, strict=True)):
        value = getattr(facets, facet)
        if value != ALL and value in names:
            at &= codes.facets[:, column] == names.index(value)
    return np.flatnonzero(at)


def _by_key(found: Sequence[Cell]) -> dict[Key, Cell]:
    return {(cell.metric, cell.facets): cell for cell in found}


def with_intervals(suite: Suite, made: Sequence[Cell], known: Columns) -> tuple[Cell, ...]:
    """Give those cells an interval that have none and could: differences, pooled ones, a rule's
    own."""
    bare = [cell for cell in made if _is_bare(cell) and (cell.metric, cell.facets) in known]
    ends = _ends(suite, bare, known)
    return tuple(
        ends.get((cell.metric, cell.facets), cell) if cell.low is None else cell for cell in made
    )


def _is_bare(cell: Cell) -> bool:
    return cell.value is not None and cell.low is None


def _ends(suite: Suite, bare: Sequence[Cell], known: Mapping[Key, Column]) -> dict[Key, Cell]:
    """Cells with as many clusters share their draws, and so one matrix product."""
    limits = {metric.name: sorted((metric.worst, metric.best)) for metric in suite.metrics}
    alike: dict[int, list[Cell]] = {}
    for cell in bare:
        alike.setdefault(len(known[cell.metric, cell.facets].ids), []).append(cell)
    found: dict[Key, Cell] = {}
    for some in alike.values():
        least, most = np.array([limits[cell.metric] for cell in some], float).T
        wide = intervals(_joined(some, known), least, most)
        for number, cell in enumerate(some):
            if not np.isnan(wide.low[number]):
                low, high = float(wide.low[number]), float(wide.high[number])
                found[cell.metric, cell.facets] = replace(cell, low=low, high=high)
    return found


def _joined(some: Sequence[Cell], known: Mapping[Key, Column]) -> Estimates:
    parts = [known[cell.metric, cell.facets] for cell in some]
    return join(
        [
            Estimates(np.array([p.value]), p.influence[:, None], np.array([p.clusters], np.int64))
            for p in parts
        ]
    )
