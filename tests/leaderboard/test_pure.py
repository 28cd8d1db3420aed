"""The pure parts: choices, ranks with their intervals, paired differences, agreement, grids of
papers."""

from __future__ import annotations

import random
import statistics
from typing import Any

import krippendorff
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]
from sqlmodel import select
from statsmodels.stats.power import TTestPower  # type: ignore[import-untyped, unused-ignore]

from evaluators.judges.card import request_key
from infra import tables
from infra.db import session
from infra.settings import Settings
from infra.tables.results import question_key
from leaderboard.queries import agreement, comparison, paired, ranks
from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.paired import SampleValue
from leaderboard.queries.ranking import BoardAddress, RankingRow, ranked
from leaderboard.queries.samples import question_keys
from leaderboard.selection import choice
from leaderboard.selection.choice import Choice
from tests.leaderboard.made_board import samples


def test_a_choice_survives_its_address() -> None:
    said = Choice("sc3", "psnr", "in_distribution", "*", "offline", "video", by="auto", q="a b&c=%")

    assert choice.read(said.params()) == said


def test_an_address_with_unknown_parameters_is_read_as_far_as_it_is_known() -> None:
    assert choice.read({"suite": "sc3", "utm_source": "x"}) == Choice(suite="sc3")


def test_the_nearest_place_shares_most_with_what_was_asked() -> None:
    places = [
        FiguresAt(BoardAddress("a", "*", "x", "image"), 0, 4),
        FiguresAt(BoardAddress("b", "*", "y", "image"), 0, 9),
    ]

    assert choice.nearest(places, BoardAddress("a", "*", "y", "video")) in [
        place.at for place in places
    ]
    assert choice.nearest(places, BoardAddress("a", "*", "x", "*")) == places[0].at
    assert choice.nearest(places, BoardAddress()) == places[1].at
    assert choice.nearest([], BoardAddress("a")) == BoardAddress("a")


def test_without_stored_ranks_equal_values_share_one_and_no_rank_interval_is_claimed() -> None:
    rows = [_found("a", 9), _found("b", 7), _found("c", 7), _found("d", 1), _found("e", None)]

    found = ranked(rows, best_is_high=True)

    assert [(row.model, rank) for row, rank in found] == [
        ("a", 1),
        ("b", 2),
        ("c", 2),
        ("d", 4),
        ("e", None),
    ]
    assert [row.model for row, _ in ranked(rows, best_is_high=False)] == ["d", "b", "c", "a", "e"]
    assert ranks.place("a", False, 1, "", None, None)[:4] == (1, None, None, ranks.BY_VALUE)


def test_boards_are_ranked_apart_and_papers_not_at_all() -> None:
    found = ranked(
        [_found("a", 9), _found("b", 7, board="other"), _found("c", 99, trust="C")],
        best_is_high=True,
    )

    assert {row.model: rank for row, rank in found} == {"a": 1, "b": 1, "c": None}


def _found(model: str, value: float | None, board: str = "board", trust: str = "B") -> RankingRow:
    known: dict[str, Any] = dict.fromkeys(RankingRow._fields, "")
    said = {"model": model, "submission_id": model, "value": value, "board": board, "trust": trust}
    return RankingRow(**{**known, **said, "takes_part": trust != "C"})


def test_the_chance_of_a_difference_between_equals_is_that_of_a_paired_t_test() -> None:
    dice = random.Random(1)
    gaps = [dice.gauss(0.3, 1.0) for _ in range(20)]
    mean, error = statistics.mean(gaps), statistics.stdev(gaps) / len(gaps) ** 0.5

    p, arm = comparison.p_value(mean, error, 20), comparison.quantile(19, 0.975) * error

    reference = stats.ttest_1samp(gaps, 0.0)
    interval = reference.confidence_interval()
    assert p == pytest.approx(float(reference.pvalue))
    assert (mean - arm, mean + arm) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(
    ("mean", "error", "tasks"), [(2.0, 1.0, 80), (0.5, 0.22, 20), (3.0, 2.0, 12), (9.0, 1.0, 80)]
)
def test_the_tasks_needed_are_those_of_statsmodels(mean: float, error: float, tasks: int) -> None:
    exact = TTestPower().solve_power(mean / (error * tasks**0.5), alpha=0.05, power=0.8)

    assert comparison.tasks_needed(mean, error, tasks) == pytest.approx(exact, abs=1.5)


def test_a_difference_of_nothing_or_next_to_nothing_needs_more_tasks_than_there_ever_are() -> None:
    assert comparison.tasks_needed(0.0, 1.0, 80) is None
    assert comparison.tasks_needed(0.0, 0.0, 7) is None
    assert comparison.tasks_needed(1e-9, 1.0, 80) is None
    assert comparison.how_sure(0.0, 1.0, 80) == "No number of tasks would separate these two."


def test_a_difference_says_how_many_tasks_would_find_it() -> None:
    unsure, enough = (comparison.how_sure(mean, 1.0, 80) for mean in (2.0, 5.0))

    assert unsure == "About 159 tasks would find it four times in five; there are 80."
    assert enough.startswith("Found four times in five with ") and enough.endswith(
        "; there are 80."
    )


def test_wins_are_counted_in_the_metrics_direction() -> None:
    low, high = [SampleValue("a", "t", "s", 1.0)], [SampleValue("a", "t", "s", 2.0)]

    assert paired.tallies(low, high, best_is_high=False) == [paired.WinTally("s", 1, 0, 0)]
    assert paired.tallies(low, high, best_is_high=True) == [paired.WinTally("s", 0, 0, 1)]


def test_agreement_treats_ratings_and_closed_answers_apart() -> None:
    found = agreement.agreement([("yes", "yes"), ("no", "yes"), ("1", "2"), ("3", "4"), ("5", "5")])

    assert (found.closed, found.equal.value, found.ratings) == (2, 0.5, 3)
    assert found.spearman.value == pytest.approx(1.0)


def test_agreement_over_nothing_is_nothing_rather_than_zero() -> None:
    found = agreement.agreement([])

    assert (found.equal.value, found.kappa.value, found.alpha.value, found.spearman.value) == (
        None,
        None,
        None,
        None,
    )


def test_alpha_and_rho_are_those_of_the_reference_programs() -> None:
    dice = random.Random(3)
    said = [
        (one := dice.randint(0, 5), min(5, max(0, one + dice.choice((-1, 0, 0, 1)))))
        for _ in range(80)
    ]

    found = agreement.agreement([(str(one), str(two)) for one, two in said])
    words = agreement.agreement([(f"option {one}", f"option {two}") for one, two in said])

    ours, people = [one for one, _ in said], [two for _, two in said]
    assert found.spearman.value == pytest.approx(float(stats.spearmanr(ours, people).statistic))
    assert found.rating_alpha.value == pytest.approx(
        krippendorff.alpha([ours, people], level_of_measurement="ordinal")
    )
    assert words.alpha.value == pytest.approx(
        krippendorff.alpha([ours, people], level_of_measurement="nominal")
    )
    assert words.alpha.low < words.alpha.value < words.alpha.high  # type: ignore[operator]


def test_the_page_finds_verdicts_under_the_keys_that_the_flow_writes(board: Settings) -> None:
    sample = samples()[0]
    with session(board.database) as db:
        row = db.exec(select(tables.Sample).where(tables.Sample.id == sample.id)).one()

    keys = list(question_keys(row))

    request = request_key(sample.prompt, sample.facets.modality, sample.questions)
    assert keys == [question_key(request, question.id) for question in sample.questions]
