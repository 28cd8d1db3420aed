"""Publication: who is ranked with whom, what a rank interval says, and that one new entry touches
little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import Session, select

from infra import tables
from infra.db import migrate, session
from infra.tables.standing import AttemptRow, Roster, Standing
from tests.standing.tiny import Dice, enter, load


def standing(
    db: Session, board: str, modality: str = "*", metric: str = "index"
) -> dict[str, tuple[int, int, int]]:
    """Rank, best and worst rank of each entry over everything, in the largest roster."""
    rosters = db.exec(
        select(Roster).where(Roster.board == board, Roster.modality == modality)
    ).all()
    roster = max(rosters, key=lambda roster: roster.n_samples)
    row = db.exec(
        select(Standing).where(
            Standing.board == board,
            Standing.samples_sha256 == roster.samples_sha256,
            Standing.modality == modality,
            Standing.metric == metric,
            Standing.scenario == "*",
            Standing.task == "*",
            Standing.setting == "*",
        )
    ).one()
    count = len(roster.runs)
    return {
        run.split("-")[1]: (row.rank[n], 1 + row.better[n], count - row.worse[n])
        for n, run in enumerate(roster.runs)
    }


def test_entries_that_differ_are_told_apart_and_twins_share_a_rank(db: Session) -> None:
    for dice in (
        Dice("low", 40),
        Dice("twin1", 60, seed=5),
        Dice("high", 80),
        Dice("twin2", 60, seed=5),
    ):
        run = enter(db, dice)

    assert standing(db, run.board) == {
        "low": (4, 4, 4),
        "twin1": (2, 2, 3),
        "high": (1, 1, 1),
        "twin2": (2, 2, 3),
    }
    assert standing(db, run.board, metric="harm")["high"] == (1, 1, 1)


def test_the_order_of_publication_changes_no_standing(db: Session, tmp_path: Path) -> None:
    field = [Dice(f"e{n}", 40 + 1.7 * n) for n in range(9)]
    other = f"sqlite:///{tmp_path / 'other.db'}"
    migrate(other)

    boards = [enter(db, dice).board for dice in field]
    with session(other) as again:
        load(again)
        for dice in reversed(field):
            enter(again, dice)
        there = standing(again, boards[0])

    assert standing(db, boards[0]) == there


def test_partial_entries_and_yardsticks_are_listed_and_never_ranked(db: Session) -> None:
    for dice in (
        Dice("whole", 50),
        Dice("part", 70, partial=True),
        Dice("ceiling", 99, role="ceiling"),
    ):
        run = enter(db, dice)

    assert standing(db, run.board) == {"whole": (1, 1, 1)}
    assert {row.run_id.split("-")[1]: row.moves for row in db.exec(select(AttemptRow))} == {
        "whole": True, "part": False, "ceiling": False,
    }  # fmt: skip


def test_entries_of_one_modality_meet_those_of_both_only_there(db: Session) -> None:
    for dice in (
        Dice("both", 50),
        Dice("still", 90, modalities=("image",)),
        Dice("film", 20, modalities=("video",)),
    ):
        run = enter(db, dice)

    assert standing(db, run.board) == {"both": (1, 1, 1)}
    assert standing(db, run.board, "image") == {"both": (2, 2, 2), "still": (1, 1, 1)}
    assert standing(db, run.board, "video") == {"both": (1, 1, 1), "film": (2, 2, 2)}


def test_an_attempt_that_is_not_surely_better_is_listed_and_the_one_before_stands(
    db: Session,
) -> None:
    first = enter(db, Dice("first", 50, team="t", model="m"))
    enter(db, Dice("same", 50.001, team="t", model="m"))
    enter(db, Dice("other", 50, team="t", model="another model"))
    enter(db, Dice("better", 60, team="t", model="m"))

    rungs = {row.run_id.split("-")[1]: row for row in db.exec(select(AttemptRow))}
    assert [rungs[name].attempt for name in ("first", "same", "other", "better")] == [1, 2, 3, 4]
    assert "no significant change" in rungs["same"].text
    assert rungs["same"].stands == first.id
    assert set(standing(db, first.board)) == {"other", "better"}


def test_mixing_keys_is_an_error_and_no_number(db: Session) -> None:
    from evaluators.aggregate.summaries import summaries
    from flows.publish.ranking import enter as rank_with
    from flows.publish.ranking import store_summary
    from tests.standing.tiny import SUITE, asked, scored

    run = enter(db, Dice("first", 50))
    found = summaries(SUITE, asked(Dice("x", 1)), scored(Dice("x", 1), asked(Dice("x", 1))))[0]
    alien = replace(found, slots=found.slots[:-1], columns=found.columns[:-1])
    store_summary(db, SUITE, run, alien)

    with pytest.raises(ValueError, match="Only equal keys are compared"):
        rank_with(db, SUITE, run, alien)


def test_who_is_withdrawn_leaves_the_ranks_and_stays_listed(db: Session) -> None:
    from flows.publish.publish import withdrawn
    from flows.publish.ranking import leave
    from tests.standing.tiny import SUITE

    runs = {
        name: enter(db, Dice(name, skill))
        for name, skill in (("low", 40), ("mid", 60), ("high", 80))
    }
    db.get_one(tables.Submission, "sub-high").state = "withdrawn"
    db.flush()

    assert withdrawn(db, runs["mid"].board) == (runs["high"].id,)
    leave(db, SUITE, runs["high"])

    assert standing(db, runs["mid"].board) == {"low": (2, 2, 2), "mid": (1, 1, 1)}
    assert {row.run_id for row in db.exec(select(AttemptRow))} == {run.id for run in runs.values()}
