"""A ranking that grows says the same as one made at once, in whatever order its entries came."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.statistics.growth import Field, build, empty, grow, on_steps, ranks
from evaluators.statistics.intervals import Floats, estimate
from evaluators.statistics.standings import separated, standings


def entries(models: int, clusters: int, seed: int, spread: float = 1.0) -> Floats:
    """Scores by cluster (rows) and model (columns), with twins among them."""
    random = np.random.default_rng(seed)
    skill = random.normal(0, spread, models)
    found = (
        50 + skill + random.normal(0, 1, (clusters, 1)) + random.normal(0, 1, (clusters, models))
    )
    if models > 2:
        found[:, 2] = found[:, 0]
    return found


def grown(scores: Floats, order: list[int], higher: bool = True) -> Field:
    """Let the entries come one after the other."""
    found = estimate(scores, np.arange(len(scores)))
    field = empty(len(scores))
    for model in order:
        row = on_steps(found.influence[:, model], 100.0).astype(float)
        field = grow(field, found.values[model], row, len(scores), scale=100.0, higher=higher)
    return field


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 14),
    st.sampled_from([5, 7, 80]),
    st.integers(0, 10_000),
    st.booleans(),
    st.randoms(),
)
def test_the_order_of_arrival_does_not_matter(  # type: ignore[no-untyped-def]
    models: int, clusters: int, seed: int, higher: bool, dice
) -> None:
    scores = entries(models, clusters, seed)
    order = list(range(models))
    dice.shuffle(order)

    came = grown(scores, order, higher)
    found = estimate(scores, np.arange(clusters))
    rows = on_steps(found.influence, 100.0).T.astype(float)
    at_once = build(found.values[order], rows[order], clusters, scale=100.0, higher=higher)

    for name in ("bar", "sizes", "better", "worse", "above"):
        assert np.array_equal(getattr(came, name), getattr(at_once, name)), name
    assert ranks(came, higher=higher) == ranks(at_once, higher=higher)


@pytest.mark.parametrize(("models", "clusters"), [(12, 80), (25, 30), (9, 7)])
def test_it_is_holm_but_for_a_step_of_two_percent(models: int, clusters: int) -> None:
    agreed = total = 0
    for seed in range(30):
        scores = entries(models, clusters, seed, spread=0.5)
        found = estimate(scores, np.arange(clusters))
        exact = separated(found)
        field = build(
            found.values, on_steps(found.influence, 100.0).T.astype(float), clusters, scale=100.0
        )
        pairs = field.better.sum()

        assert pairs <= exact.sum() / 2
        agreed, total = agreed + int(pairs), total + int(exact.sum() / 2)

    assert agreed >= 0.85 * total


def test_shared_ranks_are_those_of_a_whole_board() -> None:
    differing = 0
    for seed in range(40):
        scores = entries(10, 80, seed, spread=0.4)
        found = estimate(scores, np.arange(80))
        field = build(
            found.values, on_steps(found.influence, 100.0).T.astype(float), 80, scale=100.0
        )
        whole = standings([str(n) for n in range(10)], found)
        if [1 + n for n in field.better] == [place.low for place in whole]:
            assert ranks(field) == [place.rank for place in whole]
        else:
            differing += 1

    assert differing <= 12


def test_twins_share_rank_and_interval_whatever_came_between() -> None:
    scores = entries(9, 80, seed=3)

    field = grown(scores, [2, 5, 1, 7, 8, 0, 3, 4, 6])

    first, second = 0, 5  # where the twins, 2 and 0, came
    assert field.better[first] == field.better[second]
    assert field.worse[first] == field.worse[second]
    assert ranks(field)[first] == ranks(field)[second]


def test_few_clusters_tell_nobody_apart() -> None:
    scores = np.arange(5)[:, None] * 0.01 + np.array([10.0, 90.0])

    field = grown(scores, [0, 1])

    assert ranks(field) == [1, 1]
    assert field.better.tolist() == [0, 0]


def test_equal_entries_are_wrongly_parted_in_few_boards() -> None:
    random = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        found = estimate(random.normal(50, 1, (30, 8)), np.arange(30))
        field = build(
            found.values, on_steps(found.influence, 100.0).T.astype(float), 30, scale=100.0
        )
        wrong += bool(field.better.any())

    assert wrong / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
