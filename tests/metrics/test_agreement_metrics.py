"""What holds of the agreement of raters, and that it is what scikit-learn, krippendorff and scipy
give."""

from __future__ import annotations

from typing import get_args

import krippendorff  # type: ignore[import-untyped, unused-ignore]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped, unused-ignore]
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped, unused-ignore]

from evaluators.metrics.ranking import spearman
from evaluators.statistics.agreement import (
    Level,
    cohen_kappa,
    krippendorff_alpha,
    pairwise_spearman,
)

ORDER = ("incorrect", "partially_correct", "correct")
Grid = list[list[float | None]]

PAIRS = st.lists(st.tuples(st.sampled_from(ORDER), st.sampled_from(ORDER)), min_size=1, max_size=20)
UNITS = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, 4).map(float)), min_size=3, max_size=3),
    max_size=12,
)
LEVELS: st.SearchStrategy[Level] = st.sampled_from(("nominal", "ordinal", "interval"))


def random_grid(seed: int) -> Grid:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, size=15)
    noisy = np.clip(truth + random.integers(-1, 2, size=(4, 15)), 0, 5)
    return [[None if random.random() < 0.25 else float(value) for value in row] for row in noisy]


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = [ORDER[i] for i in random.integers(0, 3, size=25)]
    second = [
        value if random.random() < 0.6 else ORDER[int(random.integers(0, 3))] for value in first
    ]

    kappa = cohen_kappa(first, second, ORDER)

    assert kappa.value == pytest.approx(cohen_kappa_score(first, second, labels=ORDER), abs=1e-12)
    reference = cohen_kappa_score(first, second, labels=ORDER, weights="quadratic")
    assert kappa.quadratic == pytest.approx(reference, abs=1e-12)


@given(PAIRS)
def test_kappa_is_symmetric_at_most_1_and_undefined_for_a_single_category(
    pairs: list[tuple[str, str]],
) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]

    kappa = cohen_kappa(first, second, ORDER)

    assert (kappa.value is None) == (kappa.quadratic is None) == (len({*first, *second}) == 1)
    assert kappa.value is None or kappa.value <= 1
    assert kappa == cohen_kappa(second, first, ORDER)


@given(PAIRS)
def test_a_pair_with_a_missing_side_leaves_the_kappa(pairs: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]

    kappa = cohen_kappa([*first, None, "correct"], [*second, "correct", None], ORDER)

    assert kappa == cohen_kappa(first, second, ORDER)


def test_no_pairs_have_neither_kappa_nor_agreement() -> None:
    kappa = cohen_kappa([], [], ORDER)

    assert (kappa.value, kappa.quadratic, kappa.raw_agreement, kappa.n_valid) == (
        None,
        None,
        None,
        0,
    )


def test_a_rating_outside_the_categories_is_refused() -> None:
    with pytest.raises(ValueError, match="'unclear'"):
        cohen_kappa(["unclear"], ["correct"], ORDER)


def test_raters_with_different_numbers_of_ratings_are_refused() -> None:
    with pytest.raises(ValueError, match="1 and 0 ratings"):
        cohen_kappa(["correct"], [], ORDER)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(15))
def test_alpha_is_that_of_krippendorff(seed: int, level: Level) -> None:
    grid = random_grid(seed)

    alpha = krippendorff_alpha(grid, level)

    data = np.array([[np.nan if value is None else value for value in row] for row in grid])
    assert alpha.value == pytest.approx(
        krippendorff.alpha(data, level_of_measurement=level), abs=1e-12
    )


@given(UNITS, LEVELS)
def test_alpha_is_at_most_1_and_undefined_without_two_pairable_values(
    units: Grid, level: Level
) -> None:
    ratings = [list(row) for row in zip(*units, strict=True)]
    pairable = [unit for unit in units if sum(value is not None for value in unit) > 1]
    values = {value for unit in pairable for value in unit if value is not None}

    alpha = krippendorff_alpha(ratings, level)

    assert alpha.n_pairable_units == len(pairable)
    assert (alpha.value is None) == (len(values) < 2)
    assert alpha.value is None or alpha.value <= 1


@given(UNITS, LEVELS)
def test_a_unit_with_one_rating_changes_no_alpha(units: Grid, level: Level) -> None:
    ratings = [list(row) for row in zip(*units, strict=True)] or [[], [], []]
    more = [[*ratings[0], 9.0], [*ratings[1], None], [*ratings[2], None]]

    assert krippendorff_alpha(more, level) == krippendorff_alpha(ratings, level)


@given(UNITS)
def test_ordinal_alpha_knows_the_order_of_values_and_not_their_distances(units: Grid) -> None:
    stretched: Grid = [[None if value is None else value**3 for value in unit] for unit in units]
    ratings, other = (
        [list(row) for row in zip(*table, strict=True)] for table in (units, stretched)
    )

    assert krippendorff_alpha(other, "ordinal") == krippendorff_alpha(ratings, "ordinal")


def test_all_levels_agree_where_there_are_but_two_values() -> None:
    ratings: Grid = [[0, 1, 1, 0, None], [0, 1, 0, 0, 1]]

    found = {level: krippendorff_alpha(ratings, level).value for level in get_args(Level)}

    assert set(found) == {"nominal", "ordinal", "interval"}
    assert list(found.values()) == pytest.approx([8 / 15] * 3)


@pytest.mark.parametrize(
    ("ratings", "pairable"),
    [
        ([], 0),
        ([[], []], 0),
        ([[1.0, 2.0, 3.0]], 0),
        ([[1.0, None], [None, 2.0]], 0),
        ([[None, None], [None, None]], 0),
        ([[0.1, 0.1, 0.1], [0.1, 0.1, 0.1]], 3),
        ([[0.1, 0.1, 5.0], [0.1, 0.1, None]], 2),
    ],
)
@pytest.mark.parametrize("level", get_args(Level))
def test_without_two_values_that_can_be_paired_there_is_no_alpha(
    ratings: Grid, pairable: int, level: Level
) -> None:
    alpha = krippendorff_alpha(ratings, level)

    assert (alpha.value, alpha.n_pairable_units) == (None, pairable)


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[1, 2\] units"):
        krippendorff_alpha([[1.0], [1.0, 2.0]], "nominal")


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="'ratio'"):
        krippendorff_alpha([[1.0], [1.0]], "ratio")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(20))
def test_spearman_with_ties_is_that_of_scipy(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (
        random.integers(0, 6, size=20).astype(float),
        random.integers(0, 6, size=20).astype(float),
    )

    rho = spearman(x.tolist(), y.tolist())

    assert rho == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@given(st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=20, unique=True))
def test_a_rising_function_has_rank_correlation_1(values: list[float]) -> None:
    assert spearman(values, [value**3 for value in values]) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(10))
def test_pairs_are_correlated_on_their_common_units_and_averaged(seed: int) -> None:
    grid = random_grid(seed)

    result = pairwise_spearman(grid)

    for pair in result.pairs:
        both = zip(grid[pair.first], grid[pair.second], strict=True)
        common = [(a, b) for a, b in both if a is not None and b is not None]
        assert pair.rho == pytest.approx(stats.spearmanr(common).statistic, abs=1e-12)
        assert pair.n_common == len(common)
    assert result.mean == pytest.approx(
        np.mean([pair.rho for pair in result.pairs if pair.rho is not None])
    )


def test_a_rater_who_never_varies_has_no_correlation() -> None:
    result = pairwise_spearman([[1, 2, 3, 4], [2, 2, 2, 2], [4, 3, 2, 1]])

    assert [pair.rho for pair in result.pairs] == [None, pytest.approx(-1.0), None]
    assert result.mean == pytest.approx(-1.0)


@pytest.mark.parametrize("ratings", [[], [[1.0, 2.0, 3.0]], [[1.0, 2.0], [1.0, 2.0]]])
def test_without_a_pair_that_counts_there_is_no_mean(ratings: Grid) -> None:
    assert pairwise_spearman(ratings).mean is None
