"""The states of a submission, the moves between them, and the timeline that records each move."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.tables import Event, Submission, now
from submissions.teams import quotas

Fault = Literal["", "submitter", "ours"]


class State(StrEnum):
    """Where a submission stands."""

    RECEIVED = "received"
    GENERATING = "generating"
    VALIDATING = "validating"
    JUDGING = "judging"
    SCORING = "scoring"
    PUBLISHED = "published"
    REJECTED = "rejected"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


PATH = (
    State.RECEIVED,
    State.GENERATING,
    State.VALIDATING,
    State.JUDGING,
    State.SCORING,
    State.PUBLISHED,
)
TERMINAL = frozenset({State.PUBLISHED, State.REJECTED, State.FAILED, State.WITHDRAWN})


def steps_from(state: State) -> frozenset[State]:
    """Where a submission may go next: forward, to an end, or from a failure back to the start."""
    if state is State.FAILED:
        return frozenset({State.RECEIVED, State.WITHDRAWN})
    if state is State.PUBLISHED:
        return frozenset({State.WITHDRAWN})
    if state in TERMINAL:
        return frozenset()
    return frozenset(PATH[PATH.index(state) + 1 :]) | {
        State.REJECTED,
        State.FAILED,
        State.WITHDRAWN,
    }


def advance(
    db: Session,
    submission_id: str,
    to: State,
    text: str,
    *,
    fault: Fault = "",
    code: str = "",
    actor: str = "armillary",
) -> bool:
    """Move a submission on and say so in its timeline; False when it is there or past it
    already."""
    before = state_of(db, submission_id)
    if to not in steps_from(before):
        return False
    moved = db.connection().execute(
        update(Submission)
        .where(col(Submission.id) == submission_id, col(Submission.state) == before)
        .values(
            state=to,
            fault=fault,
            code=code,
            reason=text if to in TERMINAL else "",
            updated_at=now(),
        )
    )
    if moved.rowcount != 1:
        return False
    if to in TERMINAL:
        quotas.settle(db, submission_id, ours=fault == "ours")
    record(
        db,
        submission_id,
        to,
        text,
        actor=actor,
        detail={"code": code, "fault": fault} if fault else {},
    )
    return True


def state_of(db: Session, submission_id: str) -> State:
    """The present state of a submission."""
    return State(db.exec(select(Submission.state).where(Submission.id == submission_id)).one())


def record(
    db: Session,
    subject: str,
    kind: str,
    text: str,
    *,
    actor: str = "armillary",
    detail: dict[str, Any] | None = None,
) -> None:
    """Add a line to the timeline."""
    db.add(Event(subject=subject, actor=actor, kind=kind, text=text, detail=detail or {}))


def timeline(db: Session, subject: str) -> list[Event]:
    """What happened to a submission, oldest first."""
    return list(db.exec(select(Event).where(Event.subject == subject).order_by(col(Event.id))))
