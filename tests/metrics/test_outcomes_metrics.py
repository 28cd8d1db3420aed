"""What holds of outcome categories and their reproduction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.outcomes import (
    Category,
    MatchedOutcome,
    ObjectOutcome,
    categorise,
    reproduction,
)

OBJECTS = st.lists(
    st.builds(ObjectOutcome, st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=3
)
PAIRS = st.lists(
    st.builds(MatchedOutcome, OBJECTS.map(tuple), st.one_of(st.just(()), OBJECTS.map(tuple))),
    max_size=15,
)

DONE = ObjectOutcome(True, True, True)


@given(OBJECTS)
def test_a_failure_names_the_first_criterion_that_some_object_violates(
    objects: list[ObjectOutcome],
) -> None:
    held = [
        all(thing.language_following for thing in objects),
        all(thing.object_lifting for thing in objects),
        all(thing.object_placing for thing in objects),
    ]

    category = categorise(objects)

    assert category == list(Category)[[*held, False].index(False)]


@given(PAIRS)
def test_a_rate_is_none_exactly_for_a_category_that_does_not_occur(
    pairs: list[MatchedOutcome],
) -> None:
    result = reproduction(pairs)

    assert all((rate.value is None) == (rate.n_real == 0) for rate in result.rates)
    assert sum(rate.n_real for rate in result.rates) == len(pairs)


@given(PAIRS)
def test_the_average_lies_among_the_rates(pairs: list[MatchedOutcome]) -> None:
    result = reproduction(pairs)

    known = [rate.value for rate in result.rates if rate.value is not None]
    assert (
        result.average is None if not known else min(known) <= (result.average or 0.0) <= max(known)
    )


@given(PAIRS)
def test_losing_a_rollout_never_raises_the_average(pairs: list[MatchedOutcome]) -> None:
    lost = [MatchedOutcome(pairs[0].real), *pairs[1:]] if pairs else []

    before, after = reproduction(pairs).average, reproduction(lost).average

    assert (before is None and after is None) or (after or 0.0) <= (before or 0.0)


@given(st.lists(OBJECTS.map(tuple), min_size=1, max_size=10))
def test_rollouts_that_end_like_reality_are_fully_reproduced(
    reals: list[tuple[ObjectOutcome, ...]],
) -> None:
    result = reproduction([MatchedOutcome(real, real) for real in reals])

    assert (result.average, result.n_missing) == (1.0, 0)


def test_a_missing_rollout_reproduces_nothing_and_is_counted() -> None:
    result = reproduction([MatchedOutcome((DONE,), (DONE,)), MatchedOutcome((DONE,))])

    assert (result.average, result.n_missing, result.pairs[1].rollout) == (0.5, 1, None)


def test_no_pairs_are_no_average_rather_than_zero() -> None:
    assert reproduction([]).average is None


def test_a_real_trajectory_without_objects_is_refused() -> None:
    with pytest.raises(ValueError, match="0 annotated objects"):
        reproduction([MatchedOutcome(())])
