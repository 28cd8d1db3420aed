"""What holds of a paired comparison and its p, against scipy and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.statistics.comparison import compare, difference


@pytest.mark.parametrize("seed", range(5))
def test_the_error_is_that_of_the_paired_t_test(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, 30))

    found = difference(a, b, np.arange(30))

    assert found.value == pytest.approx((a - b).mean())
    assert found.error == pytest.approx(stats.sem(a - b))


@pytest.mark.parametrize("seed", range(5))
def test_p_for_few_clusters_is_scipys_exact_permutation_test(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(size=8) + 0.5, random.normal(size=8)
    reference = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
    )

    found = compare(a, b, np.arange(8))

    assert found.p == pytest.approx(reference.pvalue)


def test_p_flips_whole_clusters() -> None:
    a, clusters = np.array([1.0, 3.0, 2.0, 2.0, 5.0]), np.array([0, 0, 1, 1, 2])
    sums = np.array([4.0, 4.0, 5.0])
    ways = [
        abs(sum(sign * value for sign, value in zip(signs, sums, strict=True)))
        for signs in product((1, -1), repeat=3)
    ]

    found = compare(a, np.zeros(5), clusters)

    assert found.p == sum(way >= sums.sum() for way in ways) / 8


def test_p_for_many_clusters_is_near_the_t_test_and_never_zero() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=80) + 0.25, random.normal(size=80)

    found, sure = compare(a, b, np.arange(80)), compare(a + 100, b, np.arange(80))

    assert found.p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.02)
    assert sure.p == pytest.approx(1 / 10_001)


def test_between_equals_p_is_below_5_percent_in_5_of_100() -> None:
    random = np.random.default_rng(2)
    pairs = random.normal(size=(400, 2, 12))

    found = [compare(pair[0], pair[1], np.arange(12)).p for pair in pairs]

    assert np.mean([p is not None and p <= 0.05 for p in found]) == pytest.approx(0.05, abs=0.03)


@given(st.integers(0, 10_000), st.booleans())
def test_the_other_way_round_everything_is_mirrored(seed: int, higher: bool) -> None:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 4, (2, 24)).astype(float)
    a[random.random(24) < 0.1] = np.nan
    clusters, parts = np.repeat(np.arange(8), 3), np.tile([0, 1, 2], 8)

    one, other = (
        compare(x, y, clusters, parts, higher=higher, resamples=500) for x, y in ((a, b), (b, a))
    )

    assert (one.wins, one.ties, one.losses, one.p) == (
        other.losses,
        other.ties,
        other.wins,
        other.p,
    )
    if one.difference.value is not None and one.low is not None:
        assert other.difference.value == pytest.approx(-one.difference.value)
        assert other.high == pytest.approx(-one.low)
    assert one.wins + one.ties + one.losses == one.difference.n


def test_twins_do_not_differ() -> None:
    a = np.random.default_rng(0).random(40)

    found = compare(a, a, np.arange(40))

    assert (found.difference.value, found.low, found.high, found.p, found.ties) == (
        0.0,
        0.0,
        0.0,
        1.0,
        40,
    )


def test_lower_is_better_turns_wins_and_not_the_difference() -> None:
    a, b = np.array([1.0, 1.0, 5.0]), np.array([2.0, 1.0, 9.0])

    found = compare(a, b, np.arange(3), higher=False)

    assert (found.wins, found.ties, found.losses) == (2, 1, 0)
    assert found.difference.value == pytest.approx(-5 / 3)


def test_only_samples_that_both_have_count() -> None:
    a, b = np.array([1.0, np.nan, 3.0]), np.array([0.0, 9.0, np.nan])

    found = compare(a, b, np.arange(3))

    assert (found.difference.value, found.difference.n, found.wins) == (1.0, 1, 1)
    assert (found.difference.error, found.low, found.p) == (None, None, None)


def test_nothing_shared_is_no_difference_rather_than_zero() -> None:
    found = compare(np.array([1.0, np.nan]), np.array([np.nan, 1.0]), np.arange(2))

    assert (found.difference.value, found.difference.n, found.low, found.p) == (None, 0, None, None)


def test_entries_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2 values"):
        difference(np.zeros(3), np.zeros(2), np.arange(3))
