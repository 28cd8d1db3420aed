"""Another judge or scorer is another board; what it changed is listed with its reason and told in
one line."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session, select

from flows.publish import board_changes
from infra import tables
from infra.tables.standing import RankChange
from tests.standing.tiny import JUDGE, SUITE, Dice, enter

OTHER = replace(JUDGE, name="Other dice", revision="2")


def both(db: Session) -> tuple[tables.Run, tables.Run]:
    """Three entries under one judge, then under another that likes the third best."""
    for name, skill in (("a", 50), ("b", 60), ("c", 70)):
        before = enter(db, Dice(name, skill))
    for name, skill in (("a", 80), ("b", 60), ("c", 40)):
        after = enter(db, Dice(name, skill, judge=OTHER))
        board_changes.note(db, SUITE, after)
    return before, after


def test_a_new_judge_is_a_new_board_and_both_stand(db: Session) -> None:
    before, after = both(db)

    rows = {
        row.submission_id: row
        for row in db.exec(select(RankChange).where(RankChange.metric == "index"))
    }

    assert before.board != after.board
    assert {name: (row.rank_before, row.rank) for name, row in rows.items()} == {
        "sub-a": (3, 1), "sub-b": (2, 2), "sub-c": (1, 3),
    }  # fmt: skip
    assert "another judge: Dice judge" in rows["sub-a"].reason


def test_a_new_scorer_is_named_as_the_reason(db: Session) -> None:
    newer = replace(SUITE, scorer_version="2")
    before = enter(db, Dice("a", 50))
    after = enter(db, Dice("a", 51), newer)

    assert board_changes.why(db, before, after) == "scorer 1 before, 2 now"


def test_the_changelogs_line_is_made_from_the_difference(db: Session) -> None:
    before, after = both(db)

    line = board_changes.scores_line(db, SUITE, before.board, after.board)

    assert line.startswith("Scores: Tiny, another judge: Dice judge")
    assert "2 ranks changed: sub-a 3 → 1, sub-c 1 → 3." in line
    assert "Index of 3 entries moved by" in line
