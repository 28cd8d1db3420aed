"""What holds of rank intervals and tie groups: twins share everything, and equals are rarely told
apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.statistics.intervals import Estimates, Floats, estimate
from evaluators.statistics.standings import RankInterval, separated, standings

TASKS = 80


def _board(values: Floats) -> Estimates:
    return estimate(values, np.arange(len(values)))


def _places(values: Floats, higher: bool = True) -> tuple[RankInterval, ...]:
    return standings(
        [str(number) for number in range(values.shape[1])], _board(values), higher=higher
    )


def _entries(seed: int, skills: Floats, tasks: int = TASKS) -> Floats:
    """Pass rates of 20 prompts a task, easy and hard tasks shared by all entries."""
    random = np.random.default_rng(seed)
    logit = random.normal(size=(tasks, 1)) + 0.5 * random.normal(size=(tasks, len(skills))) + skills
    return random.binomial(20, 1 / (1 + np.exp(-logit))) / 20


def _holm(values: Floats) -> list[tuple[int, int]]:
    """Holm's procedure over scipy's paired t tests, as a textbook has it."""
    pairs = [(a, b) for a in range(values.shape[1]) for b in range(a)]
    found = sorted(
        (float(stats.ttest_rel(values[:, a], values[:, b]).pvalue), a, b) for a, b in pairs
    )
    kept: list[tuple[int, int]] = []
    for number, (p, a, b) in enumerate(found):
        if p > 0.05 / (len(pairs) - number):
            break
        kept.append((a, b))
    return kept


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_told_apart_as_by_holm_over_scipys_paired_t(seed: int) -> None:
    values = _entries(seed, np.linspace(0, 1, 8))

    sure = separated(_board(values))

    assert {(a, b) for a in range(8) for b in range(a) if sure[a, b]} == set(_holm(values))


@pytest.mark.parametrize("tasks", [80, 30, 7])
def test_of_boards_of_equals_at_most_one_in_twenty_tells_any_apart(tasks: int) -> None:
    boards = 600

    wrong = sum(
        bool(separated(_board(_entries(seed, np.zeros(10), tasks))).any()) for seed in range(boards)
    )

    # Three standard errors of 600 draws at 5 %.
    assert wrong / boards <= 0.05 + 3 * (0.05 * 0.95 / boards) ** 0.5


def test_true_ranks_lie_in_their_intervals_on_95_of_100_boards() -> None:
    skills, boards = np.linspace(1, 0, 10), 200

    held = sum(
        all(
            place.low <= true <= place.high
            for true, place in enumerate(_places(_entries(seed, skills)), 1)
        )
        for seed in range(boards)
    )

    assert held / boards >= 0.95


@given(st.integers(0, 10_000), st.integers(2, 12), st.sampled_from([4, 7, 20, 80]))
def test_ranks_lie_in_their_intervals_follow_the_values_and_group_no_pair_told_apart(
    seed: int, entries: int, tasks: int
) -> None:
    random = np.random.default_rng(seed)
    noise = random.uniform(0.01, 2, entries)
    values = random.normal(size=entries) + noise * random.normal(size=(tasks, entries))

    places, sure = _places(values), separated(_board(values))

    by_value = sorted(places, key=lambda place: -place.value)
    assert [place.rank for place in by_value] == sorted(place.rank for place in places)
    for a, one in enumerate(places):
        assert 1 <= one.low <= one.rank <= one.high <= entries
        assert not any(sure[a, b] for b, other in enumerate(places) if other.rank == one.rank)


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_identical_twins_share_rank_and_interval_wherever_they_stand(
    seed: int, entries: int
) -> None:
    random = np.random.default_rng(seed)
    values = random.integers(0, 3, (20, entries)).astype(float) * random.integers(1, 3, entries)
    twins = np.concatenate([values, values], axis=1)[:, random.permutation(2 * entries)]

    places = _places(twins)

    for a, one in enumerate(places):
        for b, other in enumerate(places):
            if (twins[:, a] == twins[:, b]).all():
                assert (one.rank, one.low, one.high) == (other.rank, other.low, other.high)


def test_twins_that_differ_by_rounding_are_not_told_apart() -> None:
    first = np.random.default_rng(0).random(TASKS)

    places = _places(np.stack([first, first * (1 + 1e-13), first + 1e-13], axis=1))

    assert {place.rank for place in places} == {1}


def test_a_noisy_entry_between_two_quiet_ones_is_grouped_with_those_it_cannot_be_told_from() -> (
    None
):
    task = np.arange(TASKS)
    best, noisy, worst = 10 + task % 2 * 0.01, 9.9 + (task % 2 - 0.5) * 40, 9.5 + task % 3 * 0.01

    places = _places(np.stack([best, noisy, worst], axis=1))

    assert [(place.rank, place.low, place.high) for place in places] == [
        (1, 1, 2),
        (1, 1, 3),
        (3, 2, 3),
    ]


def test_where_lower_is_better_the_order_turns() -> None:
    values = _entries(0, np.array([0.0, 3.0]))

    assert [place.rank for place in _places(values)] == [2, 1]
    assert [place.rank for place in _places(values, higher=False)] == [1, 2]


def test_five_clusters_tell_nobody_apart_and_six_may() -> None:
    values = np.stack([np.arange(6.0), np.arange(6.0) + 100], axis=1)

    assert [place.rank for place in _places(values[:5])] == [1, 1]
    assert [place.rank for place in _places(values)] == [2, 1]


def test_an_entry_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="1 entries have no value, first '1'"):
        _places(np.array([[1.0, np.nan], [2.0, np.nan]]))


def test_an_empty_board_and_a_board_of_one_have_nothing_to_tell_apart() -> None:
    assert _places(np.zeros((9, 0))) == ()
    assert _places(np.arange(9.0)[:, None]) == (RankInterval("0", 4.0, 1, 1, 1),)
