"""What a submission waits for, in words that are true: its place in the queue, and whether anybody
works on the queue at all."""

from __future__ import annotations

from datetime import timedelta

from sqlmodel import Session, col, select

from infra.tables import Submission, now
from infra.tables.operations import Lease
from leaderboard.queries.entries import ahead_of, usual_seconds

PATIENCE = timedelta(minutes=2)
"""How long a queue that is worked on may leave a submission alone."""


def waiting_sentence(db: Session, submission_id: str) -> str:
    """How many wait before it and how long that takes, or that no worker is running; empty if it
    does not wait."""
    ahead, row = ahead_of(db, submission_id), db.get(Submission, submission_id)
    if ahead is None or row is None:
        return ""
    place = f"Waiting: {ahead} before it in the queue."
    if not _somebody_works(db) and now() - row.created_at > PATIENCE:
        return f"{place} No worker is running: it goes on when an operator starts one."
    usual = usual_seconds(db, row.suite)
    return f"{place} Expected in about {_minutes(usual * (ahead + 1))}." if usual else place


def _somebody_works(db: Session) -> bool:
    query = select(Lease.subject).where(Lease.state == "held", col(Lease.expires_at) > now())
    return db.exec(query.limit(1)).first() is not None


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
