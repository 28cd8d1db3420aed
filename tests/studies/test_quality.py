"""Careless raters are found, careful ones are left in."""

from __future__ import annotations

import random

from leaderboard.studies.quality import Checked, Rule, quality

RULE = Rule()
ATTENTION, GOLD = 5, 3


def clicks(seed: int, items: int, right: float) -> list[Checked]:
    """What a rater does at the checks among so many items: every tenth attention, every twentieth gold."""
    dice = random.Random(seed)
    checks = []
    for number in range(1, items + 1):
        if number % 10 == 0:
            checks += [Checked("attention", dice.random() < right) for _ in range(ATTENTION)]
        if number % 20 == 0:
            checks += [Checked("gold", dice.random() < right) for _ in range(GOLD)]
    return checks


def test_a_random_clicker_is_caught_within_forty_items_in_at_least_95_of_100_runs() -> None:
    caught = [bool(quality("r", clicks(seed, 40, 1 / 3), [5.0], 5.0, None, RULE).left_out) for seed in range(100)]

    assert sum(caught) >= 95


def test_a_careful_rater_is_left_in() -> None:
    kept = [not quality("r", clicks(seed, 40, 0.99), [5.0], 5.0, 0.6, RULE).left_out for seed in range(100)]

    assert sum(kept) >= 95


def test_somebody_far_too_fast_or_against_everybody_is_left_out_with_the_reason() -> None:
    assert "median is 40 s" in quality("r", [], [4.0, 5.0], 40.0, None, RULE).left_out
    assert "-0.40" in quality("r", [], [30.0], 40.0, -0.4, RULE).left_out
    assert quality("r", [], [], None, None, RULE).left_out == ""
