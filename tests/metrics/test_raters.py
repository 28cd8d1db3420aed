"""What raters or a judge's repeats share is found, added to the interval, and makes it honest."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm  # type: ignore[import-untyped, unused-ignore]
from statsmodels.formula.api import ols  # type: ignore[import-untyped, unused-ignore]

from evaluators.statistics.intervals import estimate, intervals
from evaluators.statistics.raters import shared, widened


@pytest.mark.parametrize("seed", range(5))
def test_the_parts_are_those_of_statsmodels_two_way_layout(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.normal(3, 1, (12, 1)) + random.normal(0, 0.7, 4) + random.normal(0, 0.5, (12, 4))
    rows, columns = np.indices(table.shape)
    data = {"value": table.ravel(), "row": rows.ravel(), "rater": columns.ravel()}
    squares = sm.stats.anova_lm(ols("value ~ C(row) + C(rater)", data).fit())

    found = shared(table, used=4)

    mean = squares["sum_sq"] / squares["df"]
    expected = max(mean["C(rater)"] - mean["Residual"], 0.0) / 12 / 4
    assert found is not None
    assert found.error == pytest.approx(np.sqrt(expected))


def test_nothing_measured_is_no_error_rather_than_zero() -> None:
    assert shared(np.ones((5, 1))) is None
    assert shared(np.array([[1.0, np.nan], [np.nan, 2.0]])) is None


def test_raters_who_see_some_of_the_outputs_each_are_found_as_strict_as_those_who_see_all() -> None:
    random = np.random.default_rng(3)
    whole, parts = [], []
    for _ in range(200):
        table = (
            random.normal(3, 1, (60, 1)) + random.normal(0, 0.6, 6) + random.normal(0, 0.5, (60, 6))
        )
        seats = np.argsort(random.random(table.shape), axis=1) < 3
        whole.append(shared(table, used=None))
        parts.append(shared(np.where(seats, table, np.nan), used=None))

    for found in (whole, parts):
        mean = np.mean([one.error**2 for one in found if one])
        assert np.sqrt(mean) == pytest.approx(0.6 / 6**0.5, rel=0.1)
    assert parts[0] is not None and (parts[0].outputs, parts[0].times) == (60, 6)


def test_noise_of_single_outputs_adds_next_to_nothing() -> None:
    random = np.random.default_rng(0)
    errors = [shared(random.normal(0, 1, (200, 3))) for _ in range(50)]

    assert np.mean([found.error for found in errors if found]) < 0.05


def test_with_few_raters_the_interval_covers_only_when_their_share_is_added() -> None:
    random, draws = np.random.default_rng(2), 400
    tables = random.normal(50, 5, (draws, 80, 1)) + random.normal(0, 2, (draws, 1, 6))
    tables += random.normal(0, 3, tables.shape)
    ends = intervals(estimate(tables.mean(axis=2).T, np.arange(80)), resamples=1_000)
    bare = added = 0
    for table, low, high in zip(tables, ends.low, ends.high, strict=True):
        found = shared(table, used=None)
        assert found is not None
        bare += low <= 50 <= high
        low, high = widened(float(table.mean()), low, high, found.error, 0.0, 100.0)
        added += low <= 50 <= high

    assert bare / draws < 0.9
    assert added / draws >= 0.91
