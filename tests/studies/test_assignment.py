"""Who rates what: everybody gets as much, nobody twice, nobody their own."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.studies.assignment import (
    AssignedItem,
    CannotAssign,
    ItemToAssign,
    Person,
    deal,
    heir,
)

NINE = [Person(f"r{n}", team="ours" if n < 2 else "") for n in range(9)]
SAMPLES = [
    ItemToAssign(f"i{n}", frozenset({"ours"}) if n % 8 == 0 else frozenset(), "ABCD")
    for n in range(1080)
]


def check(
    places: list[AssignedItem], things: list[ItemToAssign], people: list[Person], each: int
) -> None:
    loads = Counter(place.rater for place in places)
    teams = {person.id: person.team for person in people}
    shown = {thing.id: thing.teams for thing in things}
    assert len(places) == len(things) * each
    assert len({(place.item, place.rater) for place in places}) == len(places)
    assert len({(place.item, place.slot) for place in places}) == len(places)
    assert Counter(place.item for place in places) == {thing.id: each for thing in things}
    assert max(loads.values()) - min(loads.get(person.id, 0) for person in people) <= 1
    assert not any(
        teams[place.rater] in shown[place.item] for place in places if teams[place.rater]
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31))
def test_nine_raters_and_1080_samples_are_dealt_fairly_from_any_seed(seed: int) -> None:
    check(deal(SAMPLES, NINE, 3, seed), SAMPLES, NINE, 3)


@pytest.mark.long
def test_nine_raters_and_1080_samples_are_dealt_fairly_from_a_thousand_seeds() -> None:
    for seed in range(1000):
        check(deal(SAMPLES, NINE, 3, seed), SAMPLES, NINE, 3)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(3, 12), st.integers(1, 3), st.integers(0, 10**6))
def test_any_number_of_items_and_raters_is_dealt_fairly(
    items: int, raters: int, each: int, seed: int
) -> None:
    things, people = (
        [ItemToAssign(str(n)) for n in range(items)],
        [Person(str(n)) for n in range(raters)],
    )

    check(deal(things, people, each, seed), things, people, each)


def test_the_same_seed_deals_the_same_and_letters_differ_between_raters() -> None:
    places = deal(SAMPLES, NINE, 3, 5)

    assert places == deal(SAMPLES, NINE, 3, 5)
    assert all(sorted(place.order) == list("ABCD") for place in places)
    assert len({place.order for place in places}) == 24


def test_too_few_raters_and_a_team_alone_are_said() -> None:
    with pytest.raises(CannotAssign, match="2 raters cannot give every item 3"):
        deal(SAMPLES, NINE[:2], 3, 0)
    with pytest.raises(CannotAssign, match="Invite raters of other teams"):
        deal([ItemToAssign("i", frozenset({"ours"}))], NINE[:2], 1, 0)


def test_a_place_that_was_left_goes_to_who_has_least_and_may_see_it() -> None:
    item = ItemToAssign("i", frozenset({"ours"}))

    taker = heir(item, ["r2"], NINE, {"r3": 9, "r4": 1, "r5": 5, "r6": 7, "r7": 8, "r8": 3}, seed=0)

    assert taker == "r4"
    assert heir(item, ["r2"], NINE[:3], {}, seed=0) is None
