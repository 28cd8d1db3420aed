"""What holds of cells: what is missing counts, what we failed at does not, and how sure each number
is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from evaluators.aggregate.cells import bounds, cells, share_of_our_failures
from evaluators.contracts import ALL, Cell, Facets, Metric, Outcome, Sample, Score
from evaluators.statistics.intervals import estimate, intervals
from evaluators.suites import tailor

EVERYWHERE = Facets(ALL, ALL, ALL, ALL)
SUITE = tailor.SUITE
PER_SAMPLE = [metric for metric in SUITE.metrics if not metric.name.endswith("_gap")]


def _metric(
    name: str = "m", worst: float = 0, best: float = 100, macro: tuple[str, ...] = ()
) -> Metric:
    direction = "higher" if best > worst else "lower"
    return Metric(name, name, "", direction, worst, best, "", macro=macro)  # type: ignore[arg-type]


def _sample(name: str, scenario: str = "regular", cluster: str = "") -> Sample:
    return Sample(name, Facets(scenario, "cut", "predictive", "video"), cluster or name, "")


def _whole(made: Sequence[Cell], metric: str = "m") -> Cell:
    return next(cell for cell in made if cell.metric == metric and cell.facets == EVERYWHERE)


def _scores(given: Mapping[str, float | Outcome], metric: str = "m") -> list[Score]:
    return [
        Score(name, metric, what)
        if isinstance(what, Outcome)
        else Score(name, metric, Outcome.SCORED, what)
        for name, what in given.items()
    ]


def _full_run() -> tuple[tuple[Sample, ...], list[Score]]:
    samples, random = SUITE.samples(), np.random.default_rng(0)
    values = random.random((len(samples), len(PER_SAMPLE))).tolist()
    return samples, [
        Score(sample.id, metric.name, Outcome.SCORED, value * metric.best)
        for sample, row in zip(samples, values, strict=True)
        for metric, value in zip(PER_SAMPLE, row, strict=True)
    ]


@pytest.mark.parametrize(
    "outcome",
    [Outcome.MODEL_FAILED, Outcome.OUTPUT_MISSING, Outcome.OUTPUT_INVALID, Outcome.BLOCKED],
)
def test_what_the_submitter_failed_at_is_worst_and_expected(outcome: Outcome) -> None:
    samples = [_sample("a"), _sample("b")]

    cell = _whole(cells([_metric()], samples, _scores({"a": 80.0, "b": outcome})))

    assert (cell.value, cell.n_scored, cell.n_expected) == (40.0, 1, 2)


@pytest.mark.parametrize(("worst", "best", "mean"), [(0, 100, 40.0), (100, 0, 90.0), (1, 5, 40.5)])
def test_a_score_that_is_not_there_is_worst(worst: float, best: float, mean: float) -> None:
    cell = _whole(
        cells([_metric("m", worst, best)], [_sample("a"), _sample("b")], _scores({"a": 80.0}))
    )

    assert (cell.value, cell.n_scored, cell.n_expected) == (mean, 1, 2)


@pytest.mark.parametrize("outcome", [Outcome.JUDGE_ERROR, Outcome.JUDGE_UNPARSABLE])
def test_what_the_judge_failed_at_leaves_the_mean_and_stays_expected(outcome: Outcome) -> None:
    scores = _scores({"a": 80.0, "b": outcome})

    cell = _whole(cells([_metric()], [_sample("a"), _sample("b")], scores))

    assert (cell.value, cell.n_scored, cell.n_expected) == (80.0, 1, 2)
    assert share_of_our_failures(scores) == 0.5


@pytest.mark.parametrize("outcome", [Outcome.NOT_APPLICABLE, Outcome.EXCLUDED])
def test_what_does_not_apply_is_not_expected(outcome: Outcome) -> None:
    samples = [_sample("a"), _sample("b", scenario="impossible")]

    made = cells([_metric()], samples, _scores({"a": 80.0, "b": outcome}))

    assert (_whole(made).value, _whole(made).n_expected) == (80.0, 1)
    assert not [cell for cell in made if cell.facets.scenario == "impossible"]


def test_a_cell_without_usable_scores_has_no_mean_and_says_why() -> None:
    cell = _whole(cells([_metric()], [_sample("a")], _scores({"a": Outcome.JUDGE_ERROR})))

    assert (cell.value, cell.low, cell.high, cell.n_scored, cell.n_expected) == (
        None,
        None,
        None,
        0,
        1,
    )
    assert cell.why_empty


def test_no_samples_or_no_metrics_are_no_cells() -> None:
    assert cells([_metric()], [], []) == ()
    assert cells([], [_sample("a")], []) == ()


def test_a_macro_metric_weighs_scenarios_alike_where_they_are_together() -> None:
    samples = [_sample("a"), _sample("b"), _sample("c"), _sample("d", scenario="impossible")]
    given = {"a": 0.0, "b": 30.0, "c": 60.0, "d": 100.0}
    both = [_metric("plain"), _metric("macro", macro=("scenario",))]

    made = cells(both, samples, _scores(given, "plain") + _scores(given, "macro"))

    assert _whole(made, "plain").value == 47.5
    assert _whole(made, "macro").value == 65.0
    alone = [cell for cell in made if cell.facets == replace(EVERYWHERE, scenario="regular")]
    assert [cell.value for cell in alone] == [30.0, 30.0]


def test_a_macro_metric_with_a_scenario_that_has_nothing_has_no_value() -> None:
    samples = [_sample("a"), _sample("b", scenario="impossible")]
    scores = _scores({"a": 80.0, "b": Outcome.JUDGE_ERROR})

    assert _whole(cells([_metric(macro=("scenario",))], samples, scores)).value is None


def test_a_pooled_metric_gets_the_scores_of_its_cell_and_no_interval() -> None:
    pool: Callable[[Sequence[Score]], float | None] = lambda scores: float(len(scores))  # noqa: E731
    samples = [_sample("a"), _sample("b", scenario="impossible")]

    made = cells([replace(_metric(), pool=pool)], samples, _scores({"a": 1.0, "b": 2.0}))

    assert {cell.facets.scenario: cell.value for cell in made} == {
        ALL: 2.0,
        "regular": 1.0,
        "impossible": 1.0,
    }
    assert all(cell.low is None and cell.high is None for cell in made)


def test_removing_outputs_never_raises_a_score() -> None:
    masks, random = 10_000, np.random.default_rng(0)
    samples = [_sample(str(n), scenario=("regular", "impossible")[n % 2]) for n in range(8)]
    given: tuple[float | Outcome, ...] = (
        50.0,
        Outcome.JUDGE_ERROR,
        0.0,
        100.0,
        Outcome.BLOCKED,
        70.0,
        Outcome.NOT_APPLICABLE,
        5.0,
    )
    whole: dict[str, float | Outcome] = {str(n): what for n, what in enumerate(given)}
    gone = random.random((masks, 8)) < random.random((masks, 1))
    # One metric a mask, so that all masks are one call; the first mask removes nothing.
    gone[0] = False
    metrics = [_metric(str(n), macro=("scenario",) if n % 2 else ()) for n in range(masks)]
    scores = [
        score
        for n in range(masks)
        for score, lost in zip(_scores(whole, str(n)), gone[n], strict=True)
        if not lost
    ]

    made = cells(metrics, samples, scores, resamples=0)

    full = {
        (kind, cell.facets): cell.value
        for kind, macro in (("0", ()), ("1", ("scenario",)))
        for cell in cells(
            [_metric("m", macro=macro)],
            samples,
            [replace(s, metric="m") for s in scores if s.metric == "0"],
        )
    }
    assert len({cell.metric for cell in made}) == masks
    for cell in made:
        before = full.get((str(int(cell.metric) % 2), cell.facets))
        assert before is None or (cell.value is not None and cell.value <= before + 1e-9)


def test_cells_come_address_by_address_in_the_order_of_the_samples() -> None:
    samples = [_sample("a", scenario="z"), _sample("b", scenario="a")]

    made = cells([_metric("m"), _metric("n")], samples, [])

    assert [cell.metric for cell in made[:2]] == ["m", "n"]
    assert made[0].facets == EVERYWHERE
    assert [
        cell.facets.scenario for cell in made if cell.facets.task == ALL and cell.metric == "m"
    ][1:3] == ["z", "a"]


def test_a_cells_interval_is_that_of_its_clusters_within_the_range_of_its_metric() -> None:
    random = np.random.default_rng(0)
    values = random.integers(0, 101, 90).astype(float)
    samples = [_sample(str(n), cluster=str(n // 3)) for n in range(90)]
    alone = intervals(estimate(values[:, None], np.arange(90) // 3), 0.0, 100.0)

    cell = _whole(
        cells([_metric()], samples, _scores({str(n): float(v) for n, v in enumerate(values)}))
    )

    assert (cell.low, cell.high) == (alone.low[0], alone.high[0])


def test_one_cluster_has_no_interval_and_two_have_a_wide_one() -> None:
    one = cells(
        [_metric()],
        [_sample("a", cluster="c"), _sample("b", cluster="c")],
        _scores({"a": 10.0, "b": 90.0}),
    )
    two = cells([_metric()], [_sample("a"), _sample("b")], _scores({"a": 10.0, "b": 90.0}))

    assert (_whole(one).low, _whole(one).high) == (None, None)
    assert (_whole(two).low, _whole(two).high) == (0.0, 100.0)


def test_the_same_seed_gives_the_same_cells_and_no_resamples_the_same_means_without_intervals() -> (
    None
):
    samples, scores = _full_run()

    first, again, bare = (cells(PER_SAMPLE, samples, scores, resamples=n) for n in (500, 500, 0))

    assert first == again
    assert [replace(cell, low=None, high=None) for cell in first] == list(bare)
    assert all(
        cell.low is not None
        and cell.value is not None
        and cell.high is not None
        and cell.low <= cell.value <= cell.high
        for cell in first
    )


def test_a_twin_metric_has_the_same_intervals() -> None:
    samples, scores = _full_run()
    index = [score for score in scores if score.metric == "index"]
    metric = next(metric for metric in PER_SAMPLE if metric.name == "index")
    twins = index + [replace(score, metric="twin") for score in index]

    made = cells([metric, replace(metric, name="twin")], samples, twins, resamples=1_000)

    ends: dict[str, list[tuple[float | None, float | None]]] = {"index": [], "twin": []}
    for cell in made:
        ends[cell.metric].append((cell.low, cell.high))
    assert ends["index"] == ends["twin"]


def test_a_full_tailor_run_takes_seconds_with_intervals_and_a_moment_without() -> None:
    samples, scores = _full_run()
    cells(PER_SAMPLE, samples[:40], [], resamples=10)

    start = process_time()
    cells(PER_SAMPLE, samples, scores, resamples=0)
    middle = process_time()
    made = cells(PER_SAMPLE, samples, scores)
    end = process_time()

    assert len(made) > 5_000
    # Three times what is promised: a shared machine is no stopwatch.
    assert middle - start < 0.9
    assert end - middle < 9


def test_bounds_say_what_everything_unknown_would_be_worth() -> None:
    samples = [_sample(name) for name in "abcd"]
    scores = _scores({"a": 80.0, "b": Outcome.OUTPUT_MISSING, "c": Outcome.JUDGE_ERROR})

    found = next(each for each in bounds([_metric()], samples, scores) if each.facets == EVERYWHERE)

    assert (found.if_worst, found.if_best, found.n_unknown) == (20.0, 95.0, 3)


def test_bounds_hold_the_value_turn_with_the_direction_and_are_absent_where_all_is_known() -> None:
    samples = [_sample(name) for name in "ab"]
    lower = _metric("m", worst=100, best=0)

    found = bounds([lower], samples, _scores({"a": 80.0}))
    known = bounds([lower], samples, _scores({"a": 80.0, "b": Outcome.MODEL_FAILED}))

    assert {(each.if_worst, each.if_best) for each in found} == {(90.0, 40.0)}
    assert known == ()
