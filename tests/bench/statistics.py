"""Intervals and rank intervals of a whole board against scipy's bootstrap and against the bare
matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.aggregate.cells import cells
from evaluators.contracts import Outcome, Score
from evaluators.statistics.intervals import RESAMPLES, Floats, Ints, estimate, intervals
from evaluators.statistics.standings import standings
from evaluators.suites import tailor
from tests.bench.report import Row, at_least, at_most, report, shown

ITEMS, TASKS, METRICS = 1_600, 80, 4
SCIPY_CELLS = 3
"""scipy is timed on so many cells and the time scaled to all: it does one after the other."""

SECONDS_OF_A_RUN, SECONDS_WITHOUT = 3.0, 0.3


def main() -> int:
    """Measure in CPU seconds, the best of three."""
    return report("statistics", [*_board(20), *_board(200), *_run()])


def _board(models: int) -> Iterator[Row]:
    values = np.random.default_rng(0).random((ITEMS, models * METRICS))
    items, tasks = np.arange(ITEMS), np.repeat(np.arange(TASKS), ITEMS // TASKS)
    by_item, by_task = (_seconds(partial(_ours, values, by, models)) for by in (items, tasks))
    bare, scipys = _seconds(_product(values)), _scipy(values)
    name = f"{models} models x {ITEMS} items x {METRICS} metrics"
    yield at_least(
        f"{name}: scipy's intervals ({SCIPY_CELLS} cells, scaled) / ours with ranks",
        scipys / by_item,
        20,
    )
    yield at_most(f"{name}: ours with ranks / bare matrix product", by_item / bare, 8)
    yield at_least(f"{name}: by item / by {TASKS} tasks", by_item / by_task, 1)
    yield shown(f"{name}: CPU seconds by item", by_item)
    yield shown(f"{name}: CPU seconds by {TASKS} tasks", by_task)


def _ours(values: Floats, clusters: Ints, models: int) -> None:
    found = estimate(values, clusters)
    intervals(found, 0.0, 1.0)
    names = [str(number) for number in range(models)]
    for metric in range(METRICS):
        standings(names, found.take(np.arange(metric * models, (metric + 1) * models)))


def _product(values: Floats) -> Callable[[], object]:
    counts = np.random.default_rng(0).integers(0, 3, (RESAMPLES, len(values))).astype(np.float32)
    columns = np.ascontiguousarray(values.T, np.float32)
    return lambda: columns @ counts.T


def _scipy(values: Floats) -> float:
    start = process_time()
    for cell in range(SCIPY_CELLS):
        stats.bootstrap(
            (values[:, cell],),
            np.mean,
            n_resamples=RESAMPLES,
            method="percentile",
            batch=500,
            rng=0,
        )
    return (process_time() - start) * int(values.shape[1]) / SCIPY_CELLS


def _run() -> Iterator[Row]:
    """All cells of one full TailOR run."""
    samples, random = tailor.SUITE.samples(), np.random.default_rng(0)
    metrics = [metric for metric in tailor.SUITE.metrics if not metric.name.endswith("_gap")]
    scores = [
        Score(sample.id, metric.name, Outcome.SCORED, float(random.random() * metric.best))
        for sample in samples
        for metric in metrics
    ]
    whole = _seconds(lambda: cells(metrics, samples, scores))
    bare = _seconds(lambda: cells(metrics, samples, scores, resamples=0))
    yield at_most("a TailOR run's cells with intervals: CPU seconds", whole, SECONDS_OF_A_RUN)
    yield at_most("a TailOR run's cells without: CPU seconds", bare, SECONDS_WITHOUT)


def _seconds(work: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        start = process_time()
        work()
        found.append(process_time() - start)
    return min(found)


if __name__ == "__main__":
    raise SystemExit(main())
