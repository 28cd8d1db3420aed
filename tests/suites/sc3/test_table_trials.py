"""The trials of the seven policies in the robot simulator: shipped, read, and what they show."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evaluators.suites.sc3.table.controls import rows, show
from evaluators.suites.sc3.table.recordings import keep
from evaluators.suites.sc3.table.studio import Studio, share_that_differs
from evaluators.suites.sc3.table.trials import BLIND, read_trials, table_starts
from evaluators.worlds.tabletop.cards import CARDS
from tests.worlds.stages import open_stage

TRIALS = read_trials()


def test_every_policy_was_tried_from_as_many_starts() -> None:
    counts = Counter(trial.policy for trial in TRIALS)

    assert sorted(counts) == [card.id for card in CARDS] and len(set(counts.values())) == 1


@pytest.mark.parametrize("world", BLIND)
def test_where_a_world_shows_nothing_most_chunks_are_others(world: str) -> None:
    assert np.mean([trial.differ[world] for trial in TRIALS]) >= 0.8


def test_trial_noise_keeps_the_ceiling_below_one() -> None:
    other = [trial.outcomes["again online"] != trial.outcomes["real"] for trial in TRIALS]

    assert 0 < np.mean(other) < 0.5


def test_the_annotator_is_measured_against_the_truth() -> None:
    wrong = [
        getattr(trial.outcomes["real"], name) != getattr(trial.outcomes["real as annotated"], name)
        for trial in TRIALS
        for name in ("language_following", "object_lifting", "object_placing")
    ]

    assert np.mean(wrong) < 0.1


def test_nothing_is_lifted_where_nothing_can_be_grasped_or_nothing_moves() -> None:
    assert not any(trial.outcomes["never grasps"].object_lifting for trial in TRIALS)
    assert not any(trial.outcomes["frozen"].object_placing for trial in TRIALS)


def test_policies_are_graded_and_fail_in_different_ways() -> None:
    placed = {
        card.id: np.mean([t.outcomes["real"].object_placing for t in TRIALS if t.policy == card.id])
        for card in CARDS
    }

    assert max(placed.values()) >= 0.9 and min(placed.values()) <= 0.3


def test_the_tables_have_every_control_row() -> None:
    names = [entry.name for entry in rows(TRIALS)]

    assert names[0] == "again online" and names[-2:] == ["criterion mean", "shuffled policies"]
    assert "annotator against the truth" in show(TRIALS)


def test_a_line_is_the_trial_again(tmp_path: Path) -> None:
    lines = "".join(trial.line() + "\n" for trial in TRIALS)
    (tmp_path / "trials.jsonl").write_text(lines)

    assert read_trials(tmp_path) == TRIALS


def test_private_starts_have_the_same_names_and_lie_otherwise() -> None:
    public, private = list(table_starts(1)), list(table_starts(1, "an operator's seed"))

    assert [start.id for _, start in public] == [start.id for _, start in private]
    assert all(a[1].placements != b[1].placements for a, b in zip(public, private, strict=True))


def test_chunks_are_compared_after_the_first() -> None:
    there = np.zeros((48, 7), np.float32)
    here = there.copy()
    here[:16] = 1.0
    here[20] = 0.3

    assert share_that_differs(there, here) == 0.5


@pytest.mark.long
def test_a_shipped_trial_comes_out_again() -> None:
    open_stage()
    card, start = next(iter(table_starts(1)))
    studio = Studio.open()
    real = studio.run_real(card, start)
    kept = keep(start, card.id, real.frames, real.actions)
    again = studio.try_out(card, kept, real.truth)

    assert again == next(trial for trial in TRIALS if trial.start == start.id)
