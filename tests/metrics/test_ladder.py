"""What holds of the Ladder: patience gains little in public and nothing in private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats  # type: ignore[import-untyped, unused-ignore]

from evaluators.statistics.comparison import Difference
from evaluators.statistics.ladder import climb

TASKS, PER_TASK, ATTEMPTS = 80, 20, 500
SAMPLES = TASKS * PER_TASK
CHANCE_ERROR = 0.5 / SAMPLES**0.5
Bits = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Attack:
    """What 500 further submissions gained in public and in private, and the step at the end."""

    public: float
    private: float
    step: float


def _attack(seed: int, changed: int | None, grows: bool = True) -> Attack:
    """Submit random bits, or the best so far with a few bits changed, and keep what the Ladder lets
    climb."""
    random = np.random.default_rng(seed)
    truth, hidden = random.integers(0, 2, (2, SAMPLES))
    best = first = random.integers(0, 2, SAMPLES)
    step = 0.0
    for attempt in range(2, ATTEMPTS + 2):
        new = random.integers(0, 2, SAMPLES) if changed is None else _change(random, best, changed)
        rung = climb(
            _difference(_right(new, truth), _right(best, truth)), attempt=attempt if grows else 2
        )
        best, step = (new if rung.moves else best), rung.step or step
    public, private = (
        float(_right(best, key).mean() - _right(first, key).mean()) for key in (truth, hidden)
    )
    return Attack(public, private, step)


def _difference(new: npt.NDArray[np.float64], best: npt.NDArray[np.float64]) -> Difference:
    """The paired difference with its standard error between tasks, all of one size."""
    by_task = (new - best).reshape(TASKS, PER_TASK).mean(axis=1)
    return Difference(float(by_task.mean()), float(stats.sem(by_task)), TASKS, len(new))


def _change(random: np.random.Generator, bits: Bits, changed: int) -> Bits:
    new = bits.copy()
    new[random.choice(len(bits), changed, replace=False)] ^= 1
    return new


def _right(bits: Bits, truth: Bits) -> npt.NDArray[np.float64]:
    return np.where(bits == truth, 1.0, 0.0)


def test_500_random_submissions_gain_no_more_than_the_step() -> None:
    attacks = [_attack(seed, changed=None) for seed in range(8)]

    assert all(attack.public <= attack.step for attack in attacks)
    # In private the gain is that of drawing again: nothing, within the error of two draws.
    assert (
        abs(np.mean([attack.private for attack in attacks]))
        < 2 * CHANCE_ERROR * (2 / len(attacks)) ** 0.5
    )


@pytest.mark.parametrize("changed", [2, 10, 50])
def test_changing_a_few_items_500_times_gains_less_than_two_errors_of_the_score(
    changed: int,
) -> None:
    attacks = [_attack(seed, changed) for seed in range(3)]

    assert np.mean([attack.public for attack in attacks]) <= 2 * CHANCE_ERROR


def test_a_step_that_stays_at_one_error_would_be_climbed_by_patience() -> None:
    attack = _attack(0, changed=2, grows=False)

    assert attack.public > 6 * CHANCE_ERROR
    assert abs(attack.private) < 3 * CHANCE_ERROR


def test_a_real_gain_moves_the_score_even_late() -> None:
    random = np.random.default_rng(0)
    old, new = ((random.random(SAMPLES) < rate).astype(float) for rate in (0.5, 0.6))

    assert climb(_difference(new, old), attempt=20).moves


def test_the_second_attempt_must_be_better_by_one_standard_error() -> None:
    below, above = (Difference(value, 1.0, TASKS, 1_600) for value in (0.99, 1.0))

    assert (climb(below).moves, climb(above).moves) == (False, True)


def test_the_same_again_does_not_move_nor_does_worse() -> None:
    scores = np.random.default_rng(0).random(SAMPLES)

    assert not climb(_difference(scores, scores)).moves
    assert not climb(_difference(scores - 1, scores)).moves


def test_where_lower_is_better_less_moves() -> None:
    less = Difference(-2.0, 1.0, TASKS, 1_600)

    assert climb(less, higher=False).moves
    assert not climb(less).moves


def test_without_an_error_nothing_moves() -> None:
    assert not climb(Difference(5.0, None, 1, 20)).moves


def test_a_first_submission_is_refused() -> None:
    with pytest.raises(ValueError, match="The attempt is 1"):
        climb(Difference(1.0, 1.0, TASKS, 1_600), attempt=1)
