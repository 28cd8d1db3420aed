"""The audit finds every row that was edited, added or removed behind the chain's back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlmodel import Session

from flows.audit.audit import audit
from flows.publish import receipts
from flows.publish.seal_chain import head, seal_catalogue, seal_run
from flows.run.answers import load_answers
from flows.run.board_keys import scoring_version
from infra import tables
from submissions.teams.lifecycle import State, record
from tests.standing.tiny import SUITE, Dice, asked, enter

WHOLE = "scenario = '*' AND task = '*' AND setting = '*' AND modality = '*'"
EDITS = (
    "UPDATE cell SET value = value + 1 WHERE run_id = '{run}' AND metric = 'index' AND {whole}",
    "UPDATE cell SET low = 0 WHERE run_id = '{run}' AND metric = 'harm' AND {whole}",
    "DELETE FROM cell WHERE run_id = '{run}' AND metric = 'gap' AND {whole}",
    "INSERT INTO cell (run_id, metric, scenario, task, setting, modality, value, why_empty, "
    "source, note)"
    " VALUES ('{run}', 'index', 'easy', '*', '*', '*', 99, '', '', '')",
    "UPDATE score SET value = 100 WHERE run_id = '{run}' AND metric = 'index' AND sample_id = "
    "'task0.common.image'",
    "UPDATE score SET outcome = 'x' WHERE run_id = '{run}' AND metric = 'harm' AND sample_id = "
    "'task0.rare.image'",
    "DELETE FROM score WHERE run_id = '{run}' AND metric = 'index' AND sample_id = "
    "'task1.common.image'",
    "UPDATE run SET eligible = 0 WHERE id = '{run}'",
    "UPDATE submission SET trust = 'A' WHERE id = 'sub-b'",
    "UPDATE submission SET team = 'somebody else' WHERE id = 'sub-c'",
    "UPDATE submission SET state = 'withdrawn' WHERE id = 'sub-a'",
    "UPDATE rung SET attempt = 9 WHERE run_id = '{run}'",
    "UPDATE standing SET rank = '[1, 1, 1]' WHERE metric = 'index' AND {whole}",
    "UPDATE roster SET runs = '[]' WHERE modality = 'image'",
    "UPDATE summary SET figures = x'00' WHERE run_id = '{run}' AND modality = '*'",
    "UPDATE receipt SET text = '{{}}' WHERE run_id = '{run}'",
    "UPDATE judge SET name = 'Another judge'",
    "UPDATE event SET text = 'nothing happened' WHERE subject = 'sub-b'",
    "UPDATE metric SET direction = 'lower' WHERE suite = 'tiny' AND name = 'index'",
    "INSERT INTO output (submission_id, sample_id, outcome, reason, media_sha256, media_type, "
    "size, record)"
    " VALUES ('sub-a', 'task0.rare.image', 'scored', '', '', '', 0, '{{}}')",
)


@pytest.fixture
def board(db: Session) -> tuple[Session, str]:
    """Three published entries; the run of the first."""
    runs = []
    for dice in (Dice("a", 50), Dice("b", 60), Dice("c", 70)):
        run = enter(db, dice)
        answered = load_answers(db, SUITE, run, asked(dice))
        submission = db.get_one(tables.Submission, run.submission_id)
        receipts.keep(db, SUITE, submission, run, answered, {}, scoring_version(SUITE))
        record(db, run.submission_id, State.PUBLISHED, "On the board.")
        db.flush()
        seal_run(db, run)
        runs.append(run.id)
    seal_catalogue(db)
    return db, runs[0]


def test_an_untouched_board_has_no_findings(board: tuple[Session, str]) -> None:
    found = audit(board[0])

    assert found.findings == ()
    assert found.links > 20
    assert found.unsealed_events == 0


def test_twenty_direct_edits_are_twenty_findings(board: tuple[Session, str]) -> None:
    db, run = board
    for edit in EDITS:
        db.execute(text(edit.format(run=run, whole=WHOLE)))
    db.expire_all()

    found = audit(db)

    assert len(EDITS) == 20
    assert len(found.findings) == 20, found.findings


def test_each_edit_alone_is_one_finding(board: tuple[Session, str]) -> None:
    db, run = board
    for edit in EDITS:
        with db.begin_nested() as savepoint:
            db.execute(text(edit.format(run=run, whole=WHOLE)))
            db.expire_all()

            found = audit(db).findings

            savepoint.rollback()
        assert len(found) == 1, (edit, found)


def test_a_run_that_was_put_on_the_board_by_hand_is_found(board: tuple[Session, str]) -> None:
    db, run = board
    own = db.get_one(tables.Run, run)
    db.add(tables.Run(**{**own.model_dump(), "id": "run-by-hand"}))
    db.flush()

    assert audit(db).findings == (
        "run run-by-hand of sub-a is on the board and was never published",
    )


def _alter(db: Session) -> None:
    db.execute(text("UPDATE seal SET rows = rows + 1 WHERE seq = 3"))


def _remove(db: Session) -> None:
    db.execute(text("DELETE FROM seal WHERE seq = 4"))


@pytest.mark.parametrize("tamper", [_alter, _remove])
def test_the_chain_itself_cannot_be_touched(
    board: tuple[Session, str], tamper: Callable[[Session], None]
) -> None:
    tamper(board[0])
    board[0].expire_all()

    assert any("chain" in finding for finding in audit(board[0]).findings)


def test_a_chain_that_was_written_anew_lacks_the_head_of_an_earlier_export(
    board: tuple[Session, str],
) -> None:
    db, run = board
    last = head(db)
    assert last is not None
    known = last.sha256
    db.execute(text("UPDATE score SET value = 0 WHERE sample_id = 'task0.common.image'"))
    db.execute(text("DELETE FROM seal"))
    db.expire_all()
    for name in ("a", "b", "c"):
        seal_run(db, db.get_one(tables.Run, run.replace("-a-", f"-{name}-")))
    seal_catalogue(db)

    assert audit(db).findings == ()
    assert "is not in the chain" in audit(db, known).findings[0]
