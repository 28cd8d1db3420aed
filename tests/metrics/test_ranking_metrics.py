"""What holds of best-worst scaling, Pearson and MMRV, and that Pearson is scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.metrics.ranking import (
    Ballot,
    bws,
    competition_ranks,
    mmrv,
    pearson,
    pearson_p,
    spearman,
)

METHODS = ("a", "b", "c", "d")
BALLOTS = st.lists(
    st.builds(
        Ballot,
        methods=st.lists(st.sampled_from(METHODS), min_size=2, unique=True).map(tuple),
        best=st.one_of(st.none(), st.sampled_from(METHODS)),
        worst=st.one_of(st.none(), st.sampled_from(METHODS)),
        unable_to_label=st.booleans(),
    ),
    max_size=15,
)
RATE = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
POINTS = st.lists(st.tuples(RATE, RATE), min_size=1, max_size=12)


@given(BALLOTS)
def test_scores_lie_within_100_of_zero_and_are_none_only_for_methods_never_shown(
    ballots: list[Ballot],
) -> None:
    result = bws(METHODS, ballots)

    assert result.n_valid + result.n_invalid == len(ballots)
    for standing in result.standings:
        assert (standing.score is None) == (standing.rank is None) == (standing.n_shown == 0)
        assert standing.score is None or -100 <= standing.score <= 100


@given(st.lists(st.permutations(METHODS), min_size=1, max_size=10))
def test_scores_of_methods_always_shown_add_up_to_zero(orders: list[list[str]]) -> None:
    result = bws(METHODS, [Ballot(METHODS, order[0], order[-1]) for order in orders])

    assert sum(standing.score or 0.0 for standing in result.standings) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "ballot",
    [
        Ballot(METHODS, "a", "a"),
        Ballot(METHODS, "a", None),
        Ballot(METHODS, None, None),
        Ballot(("b", "c"), "a", "b"),
        Ballot(METHODS, "a", "b", unable_to_label=True),
    ],
)
def test_a_ballot_that_cannot_count_is_counted_as_invalid(ballot: Ballot) -> None:
    result = bws(METHODS, [ballot])

    assert (result.n_valid, result.n_invalid) == (0, 1)
    assert all(standing.score is None for standing in result.standings)


@given(st.lists(st.integers(-3, 3).map(float), max_size=10))
def test_competition_ranks_are_those_of_scipy(scores: list[float]) -> None:
    reference = stats.rankdata([-score for score in scores], method="min")

    assert list(competition_ranks(scores)) == [int(rank) for rank in reference]


@pytest.mark.parametrize("seed", range(20))
def test_pearson_is_that_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=random.integers(2, 30))
    y = random.normal(size=x.size) + random.normal() * x

    r = pearson(x.tolist(), y.tolist())

    assert r == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@given(POINTS)
def test_pearson_is_symmetric_bounded_and_undefined_without_variation(
    points: list[tuple[float, float]],
) -> None:
    x, y = [p[0] for p in points], [p[1] for p in points]

    r = pearson(x, y)

    assert (r is None) == (len(set(x)) == 1 or len(set(y)) == 1)
    assert r is None or (-1 <= r <= 1 and r == pytest.approx(pearson(y, x)))


def test_a_constant_side_is_undefined_although_its_mean_is_rounded() -> None:
    assert pearson([0.1, 0.1, 0.1], [0.2, 0.5, 0.9]) is None


def test_differences_too_small_to_square_still_correlate() -> None:
    assert pearson([0.0, 1e-200, 2e-200], [1.0, 2.0, 3.0]) == pytest.approx(1.0)


@given(POINTS)
def test_mmrv_is_what_two_loops_give(points: list[tuple[float, float]]) -> None:
    worst = [max(abs(r - q) * ((s > t) != (r > q)) for t, q in points) for s, r in points]

    value = mmrv(sim=[s for s, _ in points], real=[r for _, r in points])

    assert value == pytest.approx(sum(worst) / len(worst), abs=1e-12)


@given(st.lists(RATE, min_size=1, max_size=12))
def test_the_right_order_violates_nothing(rates: list[float]) -> None:
    assert mmrv(sim=[rate / 2 for rate in rates], real=rates) == 0


def test_a_tie_in_the_simulation_costs_only_the_point_that_is_really_greater() -> None:
    assert mmrv(sim=[0.5, 0.5, 0.5], real=[0.0, 0.5, 1.0]) == pytest.approx((0.0 + 0.5 + 1.0) / 3)


def test_mmrv_is_not_symmetric() -> None:
    a, b = [0.55, 0.2, 0.8], [0.1, 0.4, 0.9]

    assert mmrv(sim=a, real=b) != mmrv(sim=b, real=a)


@given(POINTS, POINTS)
def test_pooled_mmrv_is_at_least_the_weighted_mean_of_its_splits(
    first: list[tuple[float, float]], second: list[tuple[float, float]]
) -> None:
    total = 0.0
    for split in (first, second):
        total += len(split) * (mmrv(sim=[s for s, _ in split], real=[r for _, r in split]) or 0.0)
    both = first + second

    pooled = mmrv(sim=[s for s, _ in both], real=[r for _, r in both])

    assert pooled is not None
    assert pooled >= total / len(both) - 1e-12


@pytest.mark.parametrize("n", [3, 5, 30])
def test_the_p_of_a_correlation_is_students(n: int) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n)).tolist()
    r = pearson(x, y)
    assert r is not None

    t = r * np.sqrt((n - 2) / (1 - r * r))

    assert pearson_p(x, y) == pytest.approx(2 * stats.t.sf(abs(t), n - 2))


@pytest.mark.parametrize(
    "sides", [([], []), ([1.0], [2.0]), ([1.0, 2.0], [1.0, 2.0]), ([1.0] * 3, [1.0, 2.0, 3.0])]
)
def test_there_is_no_p_of_two_points_or_without_variation(
    sides: tuple[list[float], list[float]],
) -> None:
    assert pearson_p(*sides) is None


def test_no_points_are_no_value_rather_than_zero() -> None:
    assert mmrv(sim=[], real=[]) is None
    assert pearson([], []) is None
    assert pearson([0.3], [0.7]) is None
    assert spearman([], []) is None
    assert spearman([0.1, 0.1, 0.1], [0.2, 0.5, 0.9]) is None


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 1 points"):
        pearson([0.1, 0.2], [0.1])


def test_a_point_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="Point 1"):
        mmrv(sim=[0.1, float("nan")], real=[0.1, 0.2])
