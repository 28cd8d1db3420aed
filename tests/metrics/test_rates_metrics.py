"""What holds of L-IVA's means for any judgments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.rates import PlausibilityRating, SubgoalJudgment, afs, pps, tsr

JUDGMENTS = st.lists(
    st.builds(
        SubgoalJudgment,
        case=st.sampled_from("abc"),
        evaluator=st.sampled_from(["e1", "e2"]),
        completed=st.one_of(st.none(), st.integers(-1, 7)),
        total=st.integers(0, 6),
        unable_to_label=st.booleans(),
    ),
    max_size=15,
)
RATINGS = st.lists(
    st.builds(
        PlausibilityRating,
        video=st.sampled_from("abc"),
        evaluator=st.sampled_from(["e1", "e2"]),
        score=st.one_of(st.none(), st.integers(-1, 7)),
        unable_to_label=st.booleans(),
    ),
    max_size=15,
)
VERDICTS = st.lists(st.one_of(st.none(), st.integers(-1, 2)), max_size=15)


@given(JUDGMENTS)
def test_task_success_lies_between_0_and_1_and_is_none_only_without_cases(
    judgments: list[SubgoalJudgment],
) -> None:
    result = tsr(judgments)

    assert (result.value is None) == (result.n_cases == 0)
    assert result.value is None or 0 <= result.value <= 1


@given(JUDGMENTS)
def test_a_judgment_unable_to_label_changes_nothing_but_the_count(
    judgments: list[SubgoalJudgment],
) -> None:
    flagged = SubgoalJudgment("a", "e9", 0, 5, unable_to_label=True)

    before, after = tsr(judgments), tsr([*judgments, flagged])

    assert (after.value, after.n_cases, after.n_left_out) == (
        before.value,
        before.n_cases,
        before.n_left_out + 1,
    )


@pytest.mark.parametrize(("completed", "total"), [(0, 0), (6, 5), (-1, 5), (None, 5)])
def test_an_impossible_count_of_subgoals_is_left_out(completed: int | None, total: int) -> None:
    result = tsr([SubgoalJudgment("a", "e1", completed, total), SubgoalJudgment("b", "e1", 1, 2)])

    assert (result.value, result.n_cases, result.n_left_out) == (0.5, 1, 1)


@given(JUDGMENTS)
def test_the_order_of_judgments_does_not_change_task_success(
    judgments: list[SubgoalJudgment],
) -> None:
    assert tsr(judgments[::-1]) == tsr(judgments)


@given(VERDICTS)
def test_every_verdict_is_scored_or_counted_as_invalid(verdicts: list[int | None]) -> None:
    result = afs(verdicts)

    assert result.n_scored + result.n_invalid == len(verdicts)
    assert (result.value is None) == (result.n_scored == 0)


def test_only_unusable_verdicts_are_no_score_rather_than_zero() -> None:
    result = afs([None, 2, None])

    assert (result.value, result.n_scored, result.n_invalid) == (None, 0, 3)


@given(RATINGS)
def test_plausibility_lies_between_1_and_5_and_is_none_only_without_videos(
    ratings: list[PlausibilityRating],
) -> None:
    result = pps(ratings)

    assert (result.value is None) == (result.n_videos == 0)
    assert result.value is None or 1 <= result.value <= 5
    assert result.n_ratings + result.n_left_out == len(ratings)


def test_evaluators_are_averaged_within_a_video_first() -> None:
    ratings = [PlausibilityRating("a", f"e{i}", 5) for i in range(3)] + [
        PlausibilityRating("b", "e1", 1)
    ]

    result = pps(ratings)

    assert (result.value, result.n_videos, result.n_ratings) == (3.0, 2, 4)


def test_no_ratings_are_no_score_rather_than_zero() -> None:
    assert pps([]).value is None
    assert tsr([]).value is None
    assert afs([]).value is None
