"""What holds of TailOR's cells and of how they are printed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.aggregation import Address, Rating, aggregate, round_half_up, show_percent, show_rating

CELL = Address("predictive", "video", "m1", "regular", "human", "physical_realism")
OTHER = Address("predictive", "video", "m2", "regular", "human", "physical_realism")
VALUES = st.one_of(st.none(), st.integers(0, 10).map(lambda halves: halves / 2))
RATINGS = st.lists(
    st.builds(Rating, st.sampled_from([CELL, OTHER]), st.sampled_from("stu"), st.sampled_from("abc"), VALUES),
    max_size=20,
)


@given(RATINGS)
def test_there_is_one_cell_for_every_address_that_occurs(ratings: list[Rating]) -> None:
    cells = aggregate(ratings)

    assert {cell.address for cell in cells} == {rating.address for rating in ratings}
    assert len(cells) == len({cell.address for cell in cells})


@given(RATINGS)
def test_a_cell_has_a_value_exactly_when_it_has_samples(ratings: list[Rating]) -> None:
    cells = aggregate(ratings)

    assert all((cell.value is None) == (cell.n_samples == 0) for cell in cells)


@given(RATINGS)
def test_the_order_of_ratings_does_not_matter(ratings: list[Rating]) -> None:
    backwards = ratings[::-1]

    assert aggregate(backwards) == aggregate(ratings)


@given(RATINGS)
def test_ratings_without_a_value_change_no_cell_that_has_one(ratings: list[Rating]) -> None:
    silent = [Rating(CELL, "never", "a", None)]

    before = {cell.address: cell for cell in aggregate(ratings)}
    after = {cell.address: cell for cell in aggregate(ratings + silent)}

    assert all(after[address] == cell for address, cell in before.items())


def test_a_sample_with_many_annotators_weighs_as_much_as_one_with_few() -> None:
    ratings = [Rating(CELL, "s", name, 4) for name in "abc"] + [Rating(CELL, "t", "a", 0)]

    (cell,) = aggregate(ratings)

    assert (cell.value, cell.n_samples) == (2.0, 2)


def test_a_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="'s' is nan"):
        aggregate([Rating(CELL, "s", "a", float("nan"))])


@given(st.integers(-1000, 1000), st.integers(0, 3))
def test_a_half_is_rounded_away_from_zero(whole: int, places: int) -> None:
    away = whole + (1 if whole >= 0 else -1)
    half = (whole + (0.5 if whole >= 0 else -0.5)) / 10**places

    assert round_half_up(half, places) == Decimal(away).scaleb(-places)


@given(st.floats(-1000, 1000), st.integers(0, 3))
def test_rounding_moves_a_value_by_at_most_half_a_step(value: float, places: int) -> None:
    rounded = round_half_up(value, places)

    assert abs(float(rounded) - value) <= 0.5 * 10**-places + 1e-9


def test_float_noise_below_a_half_does_not_round_down() -> None:
    assert show_rating(2.4499999999999997) == "2.5"
    assert show_percent(0.5 - 1e-13) == "1%"


def test_nothing_below_zero_is_printed_as_minus_zero() -> None:
    assert show_percent(-0.2) == "0%"
