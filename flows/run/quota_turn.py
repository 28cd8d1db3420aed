"""A team's quota: a submission is counted as its evaluation starts, or waits and its timeline says
until when; and which of its ends by our time limit count."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from flows.run.case import Stopped, Withdrawn
from infra.db import session
from infra.settings import Settings
from infra.tables import Event, Submission, now
from submissions.format.errors import IntakeError
from submissions.teams import quotas
from submissions.teams.lifecycle import State, record, state_of, timeline

WAITING = "waiting"
TOO_SLOW = "E_TOO_SLOW"
BEHIND = "Another submission of the team is being evaluated; this one waits its turn."


class Waits(Exception):
    """The submission is sound but cannot be scored now; it stays where it is, and the message says
    until when."""


def take_turn(settings: Settings, submission_id: str) -> None:
    """Count a submission, once; Waits if its team has another one running or has had its share."""
    with session(settings.database) as db:
        # What is on the board is only judged again, by our own wish.
        if state_of(db, submission_id) is State.PUBLISHED:
            return
        why = _why_not(db, settings, submission_id)
        if why and timeline(db, submission_id)[-1].text != why:
            record(db, submission_id, WAITING, why)
    if why:
        raise Waits(f"{why} `armillary operate publish` takes it up when it can.")


def stop_if_withdrawn(db: Session, submission_id: str) -> None:
    """Go no further with a submission that its team has cancelled on the way."""
    if state_of(db, submission_id) is State.WITHDRAWN:
        raise Withdrawn


def stopped_too_slow(settings: Settings, submission_id: str, text: str) -> Stopped:
    """The end of a submission whose model was slower than our time limit. The first of a team in
    the quota's days costs nothing, for our machine may be to blame; each further one counts, for a
    model that sleeps would hold a machine for ever."""
    with session(settings.database) as db:
        earlier = _earlier_too_slow(db, submission_id, now() - timedelta(days=settings.quota_days))
    if earlier is None:
        return Stopped(TOO_SLOW, "ours", text)
    counted = (
        f"{text} It counts against the quota: our time limit ended {earlier} within "
        f"{settings.quota_days:g} days too. Declare fewer steps or a smaller size, or make the "
        "outputs yourselves and hand them in."
    )
    return Stopped(TOO_SLOW, "submitter", counted)


def _earlier_too_slow(db: Session, submission_id: str, since: datetime) -> str | None:
    """Another submission of the same team that ended so. The timeline tells, for a row forgets its
    code when its team takes it back."""
    team = select(Submission.team).where(Submission.id == submission_id).scalar_subquery()
    ends = db.exec(
        select(Event)
        .join(Submission, col(Submission.id) == col(Event.subject))
        .where(
            Submission.team == team,
            Submission.id != submission_id,
            Event.kind == State.FAILED,
            col(Event.at) > since,
        )
        .order_by(col(Event.id))
    )
    return next((event.subject for event in ends if event.detail.get("code") == TOO_SLOW), None)


def _why_not(db: Session, settings: Settings, submission_id: str) -> str:
    try:
        return "" if quotas.start(db, settings, submission_id) else BEHIND
    except IntakeError as over:
        return f"{over.problems[0].message} {over.problems[0].hint}"
