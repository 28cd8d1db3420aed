"""Boards that stand still: while a judge's answers have drifted, nothing new is published under
it."""

from __future__ import annotations

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.db import add_new
from infra.tables import Run, Submission, now
from infra.tables.operations import Freeze
from submissions.teams.lifecycle import State, advance, record


def freeze(db: Session, suite: str, judge: str, reason: str) -> bool:
    """Stop publication under this judge; False when it stood still already."""
    frozen = db.get(Freeze, (suite, judge))
    if frozen and frozen.lifted_at is None:
        return False
    add_new(db, Freeze, [Freeze(suite=suite, judge=judge, reason=reason).model_dump()])
    values = {"since": now(), "reason": reason, "lifted_at": None, "lifted_by": ""}
    db.connection().execute(
        update(Freeze)
        .where(col(Freeze.suite) == suite, col(Freeze.judge) == judge)
        .values(**values)
    )
    record(db, suite, "frozen", reason, actor="nightly")
    return True


def why_frozen(db: Session, run: Run) -> str:
    """Why this run may not be published just now; empty when it may."""
    frozen = db.get(Freeze, (run.suite, run.judge))
    if frozen is None or frozen.lifted_at is not None:
        return ""
    return (
        f"The board is frozen since {frozen.since:%Y-%m-%d %H:%M} UTC: {frozen.reason} It is "
        "published when that is over."
    )


def thaw(db: Session, suite: str, by: str) -> int:
    """Open a suite's frozen boards again and let what waited for them go on; how many boards that
    were."""
    frozen = (col(Freeze.suite) == suite, col(Freeze.lifted_at).is_(None))
    lifted = (
        db.connection()
        .execute(update(Freeze).where(*frozen).values(lifted_at=now(), lifted_by=by))
        .rowcount
    )
    waiting = select(Submission.id).where(Submission.suite == suite, Submission.code == "E_FROZEN")
    for submission_id in db.exec(waiting).all():
        advance(db, submission_id, State.RECEIVED, "The board is open again.", actor=by)
    if lifted:
        record(db, suite, "thawed", f"{by} opened the board again.", actor=by)
    return int(lifted)
