"""Where submissions stand, for the command line."""

from __future__ import annotations

from typing import Any

from sqlmodel import col, select

from flows.run.case import NoSuchSubmission
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from submissions.format.errors import shown
from submissions.teams.lifecycle import PATH, State
from submissions.teams.lifecycle import timeline as events


def overview(settings: Settings) -> list[dict[str, Any]]:
    """All submissions that somebody handed in, newest first."""
    with session(settings.database) as db:
        query = (
            select(Submission)
            .where(Submission.trust != "C")
            .order_by(col(Submission.created_at).desc(), Submission.id)
        )
        return [_line(row) for row in db.exec(query)]


def _line(row: Submission) -> dict[str, Any]:
    return {
        "id": row.id,
        "suite": row.suite,
        "model": row.model,
        "team": row.team,
        "trust": row.trust,
        "state": row.state,
        "since": f"{row.updated_at:%Y-%m-%d %H:%M}",
        "reason": row.reason,
    }


def timeline(settings: Settings, submission_id: str) -> list[dict[str, Any]]:
    """What happened to one submission, oldest first."""
    with session(settings.database) as db:
        if db.get(Submission, submission_id) is None:
            raise NoSuchSubmission(
                f"There is no submission {shown(submission_id)}. `armillary status` lists them all."
            )
        return [
            {"when": f"{e.at:%Y-%m-%d %H:%M:%S}", "what": e.kind, "text": e.text}
            for e in events(db, submission_id)
        ]


def unfinished(settings: Settings) -> list[str]:
    """Submissions that wait, that stopped on the way, or that failed by our fault; oldest first."""
    waiting = [state for state in PATH if state is not State.PUBLISHED]
    with session(settings.database) as db:
        failed = (col(Submission.state) == State.FAILED) & (col(Submission.fault) == "ours")
        query = select(Submission.id).where(col(Submission.state).in_(waiting) | failed)
        return list(db.exec(query.order_by(col(Submission.created_at), Submission.id)))
