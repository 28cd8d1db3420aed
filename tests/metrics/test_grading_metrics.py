"""What holds of graded accuracy and of the vote among samples."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.text import normalise
from evaluators.metrics.voting import Ticket, majority_vote
from evaluators.statistics.grading import (
    Grade,
    GradedItem,
    accuracy,
    final_label,
    primary_agreement,
)

LABELS = st.one_of(st.none(), st.sampled_from([str(grade) for grade in Grade]))
ITEMS = st.lists(st.builds(GradedItem, LABELS, LABELS, LABELS), max_size=20)
ANSWERS = st.lists(
    st.sampled_from(["Yes", "yes.", "no", "No!", "", "  ", "...", "Gizmo", None]), max_size=7
)
TICKETS = st.builds(Ticket, st.integers(0, 99), st.text(max_size=5), st.text(max_size=5))


@given(ITEMS)
def test_every_item_is_answerable_unclear_or_pending(items: list[GradedItem]) -> None:
    result = accuracy(items)

    assert (
        result.n_answerable + result.n_unclear + result.n_pending
        == len(items)
        == len(result.final_labels)
    )


@given(ITEMS)
def test_strict_is_at_most_graded_and_both_are_percentages(items: list[GradedItem]) -> None:
    result = accuracy(items)

    if result.graded is None or result.strict is None:
        assert result.n_answerable == 0
    else:
        assert 0 <= result.strict <= result.graded <= 100


@given(ITEMS)
def test_unclear_and_pending_items_do_not_move_the_accuracy(items: list[GradedItem]) -> None:
    more = [*items, GradedItem("unclear", "correct", "unclear"), GradedItem("correct", None)]

    before, after = accuracy(items), accuracy(more)

    assert (after.graded, after.strict) == (before.graded, before.strict)


def test_agreement_of_the_primaries_outweighs_a_needless_adjudication() -> None:
    assert final_label(GradedItem("correct", "correct", "incorrect")) is Grade.CORRECT


def test_two_unclear_primaries_wait_for_the_adjudicator() -> None:
    assert final_label(GradedItem("unclear", "unclear")) is None
    assert final_label(GradedItem("unclear", "unclear", "correct")) is Grade.CORRECT


def test_two_missing_primaries_do_not_agree_on_nothing() -> None:
    result = accuracy([GradedItem(None, None)])

    assert (result.graded, result.n_pending) == (None, 1)


@given(ITEMS)
def test_the_adjudicator_never_enters_the_kappa(items: list[GradedItem]) -> None:
    without = [GradedItem(item.first, item.second) for item in items]

    assert primary_agreement(items) == primary_agreement(without)


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(ValueError, match="'good'"):
        accuracy([GradedItem("good", "correct")])


@given(ANSWERS, TICKETS)
def test_the_winner_is_a_most_frequent_answer_and_always_the_same_for_a_ticket(
    answers: list[str | None], ticket: Ticket
) -> None:
    votes = Counter(vote for answer in answers if (vote := normalise(answer or "")))

    result = majority_vote(answers, ticket)

    assert result == majority_vote(answers, ticket)
    assert result.count == max(votes.values(), default=0)
    assert list(result.candidates) == sorted(
        vote for vote, count in votes.items() if count == result.count
    )
    assert result.answer in result.candidates if votes else result.answer is None


@given(ANSWERS, TICKETS)
def test_the_order_of_samples_does_not_change_the_vote(
    answers: list[str | None], ticket: Ticket
) -> None:
    assert majority_vote(answers[::-1], ticket) == majority_vote(answers, ticket)


def test_tickets_spread_their_choice_over_all_that_tie() -> None:
    drawn = {majority_vote(["a", "b", "c"], Ticket(seed, "r", "q")).answer for seed in range(50)}

    assert drawn == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("answers", "decided_by"),
    [
        (["a", "a", "b"], "mode"),
        (["a"], "mode"),
        (["a", "a", "b", "b", "c"], "tie"),
        (["a", "b"], "all_unique"),
        ([], "none"),
        (["", " ", None], "none"),
    ],
)
def test_a_vote_says_what_decided_it(answers: list[str | None], decided_by: str) -> None:
    assert majority_vote(answers, Ticket(0, "r", "q")).decided_by == decided_by


def test_only_blank_answers_are_no_answer() -> None:
    result = majority_vote(["", " ", None], Ticket(0, "r", "q"))

    assert (result.answer, result.candidates, result.decided_by, result.count) == (
        None,
        (),
        "none",
        0,
    )
