"""What holds of the bootstrap intervals, and that they are scipy's before they are widened."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.metrics.student import student, students
from evaluators.statistics.intervals import (
    Estimates,
    Floats,
    deviations,
    estimate,
    intervals,
    join,
    macro_mean,
    on_grid,
    tail_arms,
    widening,
)


def _random(seed: int, rows: int, columns: int = 1) -> Floats:
    return np.random.default_rng(seed).gamma(2.0, size=(rows, columns))


def _unwidened(found: Estimates) -> tuple[float, float]:
    ends, stretch = intervals(found), widening(int(found.clusters[0]))
    value, (left, right) = found.values[0], tail_arms(found)
    return value + (ends.low[0] + left[0] - value) / stretch, value + (
        ends.high[0] - right[0] - value
    ) / stretch


@pytest.mark.parametrize("seed", range(5))
def test_before_widening_the_interval_is_scipys_percentile_bootstrap(seed: int) -> None:
    values = _random(seed, 60)
    reference = stats.bootstrap(
        (values[:, 0],), np.mean, method="percentile", rng=seed
    ).confidence_interval

    low, high = _unwidened(estimate(values, np.arange(60)))

    width = reference.high - reference.low
    assert low == pytest.approx(reference.low, abs=0.03 * width)
    assert high == pytest.approx(reference.high, abs=0.03 * width)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_of_any_size_give_nearly_the_interval_of_resampling_whole_clusters(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(80), random.integers(10, 30, 80))
    values = (random.normal(size=80)[clusters] + random.normal(size=len(clusters)))[:, None]
    total, size = np.bincount(clusters, values[:, 0]), np.bincount(clusters)
    means = [total[at].sum() / size[at].sum() for at in random.integers(0, 80, (10_000, 80))]
    reference = np.quantile(means, [0.025, 0.975])

    low, high = _unwidened(estimate(values, clusters))

    assert [low, high] == pytest.approx(reference, abs=0.04 * float(np.ptp(reference)))


@pytest.mark.parametrize("seed", range(5))
def test_a_macro_mean_has_the_interval_of_resampling_clusters_and_averaging_parts(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    clusters, parts = np.repeat(np.arange(50), 9), np.tile([0, 0, 0, 0, 0, 0, 1, 1, 2], 50)
    values = (random.normal(size=50)[clusters] + parts * random.normal(size=450))[:, None]
    of_part = np.stack(
        [
            np.bincount(clusters, values[:, 0] * (parts == part)) / n
            for part, n in enumerate((6, 2, 1))
        ]
    )
    means = [of_part[:, at].mean() for at in random.integers(0, 50, (10_000, 50))]
    reference = np.quantile(means, [0.025, 0.975])

    low, high = _unwidened(estimate(values, clusters, parts))

    assert [low, high] == pytest.approx(reference, abs=0.04 * float(np.ptp(reference)))


def test_the_longer_tail_has_the_longer_arm_and_even_values_have_none() -> None:
    skewed, even = _random(6, 40), np.tile([-1.0, 1.0], 20)[:, None]

    left, right = tail_arms(estimate(np.hstack([skewed, -skewed, even]), np.arange(40)))

    gamma = stats.skew(skewed[:, 0])
    factor = (student(39, 0.95) ** 2 + 2) / (6 * 40**0.5)
    assert right[0] == left[1] == pytest.approx(gamma * factor * stats.sem(skewed[:, 0]))
    assert (left[0], right[1]) == (0.0, 0.0)
    assert (left[2], right[2]) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_cluster_is_one_observation_however_often_it_was_asked() -> None:
    values, clusters = _random(0, 40), np.arange(40)

    once = intervals(estimate(values, clusters))
    often = intervals(estimate(np.repeat(values, 20, axis=0), np.repeat(clusters, 20)))

    assert often.low == pytest.approx(once.low, rel=1e-5)
    assert often.high == pytest.approx(once.high, rel=1e-5)


def test_what_clusters_add_sums_to_zero_and_squares_to_the_standard_error() -> None:
    values = _random(1, 30, 4)

    found = estimate(values, np.arange(30))

    assert found.influence.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    error = np.sqrt((found.influence**2).sum(axis=0) * 30 / 29)
    assert error == pytest.approx(stats.sem(values, axis=0))


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    found = estimate(_random(2, 80, 5), np.arange(80))

    first, again, other = intervals(found), intervals(found), intervals(found, seed=1)

    assert first.low.tobytes() == again.low.tobytes()
    assert first.low.tobytes() != other.low.tobytes()


@pytest.mark.parametrize("clusters", [4, 7, 80, 1600])
def test_twins_have_the_same_interval_wherever_their_columns_are(clusters: int) -> None:
    values = _random(3, clusters, 37)
    values[:, [5, 20, 36]] = values[:, [0]]

    ends = intervals(estimate(values, np.arange(clusters)))
    alone = intervals(estimate(values[:, :1], np.arange(clusters)))

    assert len({ends.low[at] for at in (0, 5, 20, 36)} | {alone.low[0]}) == 1
    assert len({ends.high[at] for at in (0, 5, 20, 36)} | {alone.high[0]}) == 1


@pytest.mark.parametrize("clusters", [7, 80, 1600])
def test_single_precision_loses_nothing(clusters: int) -> None:
    influence = estimate(_random(4, clusters, 3), np.arange(clusters)).influence
    rounded = on_grid(influence)
    random = np.random.default_rng(0)
    counts = random.multinomial(clusters, np.full(clusters, 1 / clusters), 100)

    single = rounded.astype(np.float32).T @ counts.astype(np.float32).T

    assert (single == rounded.T @ counts.T).all()
    # Next to the spread, the grid is finer than 10,000 resamples can see.
    assert np.abs(rounded - influence).max() < 1e-3 * influence.std()


def test_deviations_have_the_spread_that_theory_gives() -> None:
    influence = estimate(_random(5, 80, 3), np.arange(80)).influence

    moved = deviations(influence)

    assert moved.std(axis=1) == pytest.approx(np.sqrt((influence**2).sum(axis=0)), rel=0.03)
    assert np.abs(moved.mean(axis=1)) == pytest.approx(np.zeros(3), abs=0.03 * float(moved.std()))


def test_an_interval_holds_its_mean_and_keeps_to_the_range() -> None:
    values = (np.random.default_rng(6).random((9, 200)) < 0.9).astype(float)

    ends = intervals(estimate(values, np.arange(9)), 0.0, 1.0)

    assert (ends.low <= values.mean(axis=0)).all() and (values.mean(axis=0) <= ends.high).all()
    assert ends.low.min() >= 0 and ends.high.max() <= 1


def test_clusters_that_agree_are_not_certainty_where_the_range_is_known() -> None:
    all_pass = estimate(np.ones((20, 1)), np.arange(20))
    reference = stats.binomtest(20, 20).proportion_ci(0.95, method="exact")

    known, unknown = intervals(all_pass, 0.0, 1.0), intervals(all_pass)

    assert [known.low[0], known.high[0]] == pytest.approx([reference.low, reference.high])
    assert [unknown.low[0], unknown.high[0]] == [1.0, 1.0]


def test_a_mirrored_metric_has_the_mirrored_interval() -> None:
    values = _random(7, 30)

    up, down = (
        intervals(estimate(values, np.arange(30))),
        intervals(estimate(-values, np.arange(30))),
    )

    assert down.low == pytest.approx(-up.high)
    assert down.high == pytest.approx(-up.low)


def test_nothing_has_no_mean_and_one_cluster_has_no_interval() -> None:
    empty = estimate(np.full((4, 1), np.nan), np.arange(4))
    alone = estimate(np.array([[1.0], [2.0]]), np.array([0, 0]))

    assert np.isnan(empty.values[0]) and np.isnan(intervals(empty).low[0])
    assert alone.values[0] == 1.5 and np.isnan(intervals(alone).high[0])
    assert np.isnan(macro_mean(np.zeros((0, 1)))[0])


def test_a_part_without_values_leaves_no_mean() -> None:
    values = np.array([[1.0], [np.nan]])

    assert np.isnan(macro_mean(values, np.array([0, 1]))[0])
    assert macro_mean(values)[0] == 1.0


def test_one_large_cluster_among_small_ones_counts_as_few() -> None:
    clusters = np.concatenate([np.zeros(100, np.int64), np.arange(1, 11)])

    found = estimate(_random(8, 110), clusters)

    assert found.clusters[0] == 1


def test_missing_values_leave_the_mean_and_not_the_others() -> None:
    values = _random(9, 40, 2)
    values[:10, 0] = np.nan

    found = estimate(values, np.arange(40))

    assert found.values == pytest.approx([values[10:, 0].mean(), values[:, 1].mean()])
    assert found.clusters.tolist() == [30, 40]


def test_joined_estimates_have_the_intervals_they_had_apart() -> None:
    values = _random(10, 12, 2)
    both = [estimate(values[:, [at]], np.arange(12)) for at in (0, 1)]

    ends = intervals(join(both))

    assert ends.low.tolist() == [intervals(each).low[0] for each in both]


def test_estimates_over_different_clusters_are_not_mixed() -> None:
    some, more = (estimate(_random(0, n), np.arange(n)) for n in (5, 6))

    with pytest.raises(ValueError, match=r"\[5, 6\] clusters"):
        join([some, more])


@pytest.mark.parametrize("freedom", [1, 2, 3, 6, 29, 79, 1599])
def test_students_t_is_scipys(freedom: int) -> None:
    levels = np.array([0.5, 0.9, 0.95, 0.999, 0.99999])

    assert students(freedom, levels) == pytest.approx(
        stats.t.ppf((1 + levels) / 2, freedom), abs=5.1e-7
    )
    assert student(freedom, 0.95) == pytest.approx(stats.t.ppf(0.975, freedom), abs=5.1e-7)
