"""A team's quota: a submission is counted as its evaluation starts, or waits and its timeline says
until when."""

from __future__ import annotations

from sqlmodel import Session

from flows.run.case import Withdrawn
from infra.db import session
from infra.settings import Settings
from submissions.format.errors import IntakeError
from submissions.teams import quotas
from submissions.teams.lifecycle import State, record, state_of, timeline

WAITING = "waiting"
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


def _why_not(db: Session, settings: Settings, submission_id: str) -> str:
    try:
        return "" if quotas.start(db, settings, submission_id) else BEHIND
    except IntakeError as over:
        return f"{over.problems[0].message} {over.problems[0].hint}"
