"""How often the interval holds the truth, over 2,000 draws: 95 % ± 1.5 at the suites' sizes, and
what for fewer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evaluators.statistics.intervals import Floats, estimate, intervals

DRAWS = 2_000
PER_TASK = 20
Draw = Callable[[np.random.Generator, int], Floats]


def _middling(random: np.random.Generator, tasks: int) -> Floats:
    """Pass rates of 20 prompts a task, on a task that is as often hard as easy."""
    return random.binomial(PER_TASK, random.beta(2, 2, (tasks, DRAWS))) / PER_TASK


def _high(random: np.random.Generator, tasks: int) -> Floats:
    """Pass rates near the top, skewed: the truth is 0.9."""
    return random.binomial(PER_TASK, random.beta(9, 1, (tasks, DRAWS))) / PER_TASK


def _passed(random: np.random.Generator, tasks: int) -> Floats:
    """One pass or fail a task."""
    return (random.random((tasks, DRAWS)) < 0.8).astype(float)


def _coverage(draw: Draw, truth: float, tasks: int) -> float:
    values = draw(np.random.default_rng(7), tasks)
    ends = intervals(estimate(values, np.arange(tasks)), 0.0, 1.0, resamples=4_000)
    return float(((ends.low <= truth) & (truth <= ends.high)).mean())


def _higher(random: np.random.Generator, tasks: int) -> Floats:
    """Pass rates so near the top that most tasks hardly differ: the truth is 0.95."""
    return random.binomial(PER_TASK, random.beta(19, 1, (tasks, DRAWS))) / PER_TASK


def _even(random: np.random.Generator, tasks: int) -> Floats:
    """Values that spread evenly around the middle."""
    return random.normal(0.5, 0.1, (tasks, DRAWS))


SKEWED = [(_high, 0.9), (_higher, 0.95)]
EVEN = [(_middling, 0.5), (_even, 0.5)]


@pytest.mark.parametrize("tasks", [80, 35])
@pytest.mark.parametrize(("draw", "truth"), [*EVEN, *SKEWED])
def test_at_the_suites_sizes_95_of_100_intervals_hold_the_truth(
    draw: Draw, truth: float, tasks: int
) -> None:
    assert _coverage(draw, truth, tasks) == pytest.approx(0.95, abs=0.015)


def test_at_80_tasks_passes_and_failures_are_covered_too() -> None:
    assert _coverage(_passed, 0.8, 80) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("tasks", [7, 5, 4])
@pytest.mark.parametrize(("draw", "truth"), EVEN)
def test_seven_and_fewer_are_as_honest_where_rates_are_even(
    draw: Draw, truth: float, tasks: int
) -> None:
    assert _coverage(draw, truth, tasks) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("tasks", "least"), [(16, 0.93), (10, 0.93), (7, 0.90), (5, 0.92), (4, 0.91)]
)
@pytest.mark.parametrize(("draw", "truth"), SKEWED)
def test_few_tasks_with_skewed_rates_cover_less_and_this_is_how_much(
    draw: Draw, truth: float, tasks: int, least: float
) -> None:
    assert _coverage(draw, truth, tasks) >= least


@pytest.mark.parametrize("tasks", [30, 7, 4])
def test_few_passes_and_failures_are_covered_with_room(tasks: int) -> None:
    assert _coverage(_passed, 0.8, tasks) >= 0.935


def test_prompts_of_one_task_taken_as_independent_would_be_far_too_sure() -> None:
    random = np.random.default_rng(0)
    rates = random.beta(2, 2, (80, 200))
    values = (random.random((80, PER_TASK, 200)) < rates[:, None]).astype(float).reshape(-1, 200)
    tasks, prompts = np.repeat(np.arange(80), PER_TASK), np.arange(80 * PER_TASK)

    held = [
        ((ends.low <= 0.5) & (ends.high >= 0.5)).mean()
        for ends in (intervals(estimate(values, by), resamples=1_000) for by in (tasks, prompts))
    ]

    assert held[0] > 0.9
    assert held[1] < 0.75


def test_a_macro_mean_over_scenarios_of_different_size_is_covered_too() -> None:
    random = np.random.default_rng(1)
    tasks, parts = np.repeat(np.arange(80), 20), np.tile(np.repeat([0, 1, 2], [4, 8, 8]), 80)
    shift = np.array([0.7, 0.5, 0.3])
    easy = random.uniform(-0.2, 0.2, (80, DRAWS))
    values = (random.random((1600, DRAWS)) < shift[parts][:, None] + easy[tasks]).astype(float)

    ends = intervals(estimate(values, tasks, parts), 0.0, 1.0, resamples=2_000)

    assert ((ends.low <= 0.5) & (ends.high >= 0.5)).mean() == pytest.approx(0.95, abs=0.015)
