"""What holds for every suite, whoever wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators import suites
from evaluators.contracts import FACETS, Outcome, Output, Suite
from evaluators.suites import all_suites, suite_named, suite_names

each_suite = pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite.name)
open_suites = [suite for suite in all_suites() if suite.accepts]
each_open_suite = pytest.mark.parametrize("suite", open_suites, ids=lambda suite: suite.name)


def test_every_folder_is_a_suite_and_those_with_a_place_on_the_board_come_first() -> None:
    home = Path(suites.__file__).parent
    folders = {file.parent.name for file in home.glob("*/__init__.py")}
    boards = {
        f"{file.parents[2].name}_{file.parent.name}" for file in home.glob("*/boards/*/__init__.py")
    }

    assert [suite.name for suite in all_suites()] == suite_names()
    assert set(suite_names()) == folders | boards
    assert tuple(suite_names()[: len(suites.ORDER)]) == suites.ORDER


def test_a_wrong_name_is_answered_with_the_right_ones() -> None:
    with pytest.raises(KeyError, match=", ".join(suite_names())):
        suite_named("tailr")


@each_suite
def test_a_suite_says_what_it_is(suite: Suite) -> None:
    assert suite.title and suite.sentence and suite.ranked
    assert suite.paper and suite.paper.link.startswith("https://")
    assert set(suite.facet_titles) == set(FACETS)


@each_suite
def test_metrics_have_one_name_each_a_range_and_a_formula(suite: Suite) -> None:
    names = [metric.name for metric in suite.metrics]

    assert len(names) == len(set(names))
    for metric in suite.metrics:
        better = (
            metric.best > metric.worst
            if metric.direction == "higher"
            else metric.best < metric.worst
        )
        assert better, metric.name
        assert len(metric.explain) > 40, metric.name


@each_suite
def test_a_suite_that_takes_nothing_has_nothing_to_answer_and_says_so(suite: Suite) -> None:
    if not suite.accepts:
        assert suite.samples() == ()
        assert suite.scoring is None


@each_open_suite
def test_samples_have_unique_ids_full_addresses_and_closed_menus(suite: Suite) -> None:
    samples = suite.samples()

    assert len({sample.id for sample in samples}) == len(samples) > 0
    for sample in samples:
        assert all(getattr(sample.facets, facet) not in ("", "*") for facet in FACETS), sample.id
        assert sample.cluster
        assert sample.prompt
        assert len({question.id for question in sample.questions}) == len(sample.questions)
        assert all(question.options for question in sample.questions if question.kind != "open"), (
            sample.id
        )


@each_open_suite
def test_the_full_subset_is_everything_and_every_subset_is_something(suite: Suite) -> None:
    samples = suite.samples()

    assert all(suite.subsets["full"](sample) for sample in samples)
    for name, wanted in suite.subsets.items():
        assert any(wanted(sample) for sample in samples), name


@each_open_suite
def test_a_failed_output_is_scored_as_failed_and_never_with_a_value(suite: Suite) -> None:
    assert suite.scoring is not None
    for sample in suite.samples()[:8]:
        for outcome in (
            Outcome.MODEL_FAILED,
            Outcome.OUTPUT_MISSING,
            Outcome.OUTPUT_INVALID,
            Outcome.BLOCKED,
        ):
            scores = suite.scoring.score(sample, Output(sample.id, outcome), {})

            assert {score.outcome for score in scores} <= {outcome, Outcome.NOT_APPLICABLE}
            assert all(score.value is None for score in scores)


@each_open_suite
def test_no_answers_is_no_score_rather_than_zero(suite: Suite) -> None:
    assert suite.scoring is not None
    for sample in suite.samples()[:8]:
        scores = suite.scoring.score(sample, Output(sample.id, Outcome.SCORED), {})

        assert all(score.value is None for score in scores)
        assert all(score.outcome is not Outcome.SCORED for score in scores)
