"""Quotas: how many submissions of a team are scored; counted when scoring starts, returned when the
fault is ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import update
from sqlmodel import Session, col, select

from infra.db import claim
from infra.settings import Settings
from infra.tables import QuotaUse, Submission, Team, now
from submissions.format.errors import IntakeError, refusal


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a team may still have scored in a suite; `renews_at` is when the next place is free, if
    none is now."""

    used: int
    limit: int
    running: int
    renews_at: datetime | None
    limited: bool = True

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def allowance(db: Session, settings: Settings, team: str, suite: str) -> Allowance:
    """What is left of a team's quota; teams that are not entered (this machine's own) have no
    limit."""
    since = now() - timedelta(days=settings.quota_days)
    ours = (QuotaUse.team == team, QuotaUse.suite == suite, col(QuotaUse.returned_at).is_(None))
    counted = db.exec(select(QuotaUse.started_at).where(*ours, QuotaUse.started_at > since)).all()
    running = db.exec(
        select(QuotaUse.submission_id).where(*ours, col(QuotaUse.ended_at).is_(None))
    ).all()
    limited = db.get(Team, team) is not None
    limit = settings.quota_scored if limited else len(counted) + 1
    full = len(counted) >= limit
    oldest = sorted(counted)[len(counted) - limit] if full and limit else None
    renews = oldest + timedelta(days=settings.quota_days) if oldest else None
    return Allowance(len(counted), limit, len(running), renews, limited)


def is_free(settings: Settings, subset: str) -> bool:
    """Whether submissions of a subset are counted at all: trying the path costs nothing."""
    return bool(settings.quota_free) and subset == settings.quota_free


def gpu_seconds(settings: Settings, subset: str) -> float:
    """How long the model of one submission may work here: where trying costs no quota, less."""
    free = is_free(settings, subset)
    return 3600 * (settings.gpu_hours_free if free else settings.gpu_hours)


def check_quota(
    db: Session, settings: Settings, team: str, suite: str, subset: str = "full"
) -> None:
    """Refuse a submission that could not be scored now; the message says when it could."""
    if is_free(settings, subset):
        return
    quota = allowance(db, settings, team, suite)
    if not quota.left:
        raise over_quota(quota, settings)


def over_quota(quota: Allowance, settings: Settings) -> IntakeError:
    """The refusal, with the moment at which the next place is free."""
    when = (
        f"The next place is free at {quota.renews_at:%Y-%m-%d %H:%M} UTC."
        if quota.renews_at
        else "Ask us."
    )
    message = f"{quota.used} scored submissions in {settings.quota_days:g} days."
    return refusal("E_QUOTA", "team", message, when, quota.limit)


def start(db: Session, settings: Settings, submission_id: str) -> bool:
    """Count a submission, once, as its scoring starts. False: another of the team runs, so this one
    waits its turn.

    IntakeError E_QUOTA: the team has had its share. Counting the same submission again changes
    nothing.
    """
    row = db.get(Submission, submission_id)
    if row is None:
        raise refusal("E_NOT_FOUND", "submission", "There is no such submission.", "Check the id.")
    earlier_use = db.get(QuotaUse, submission_id)
    if earlier_use is not None and earlier_use.returned_at is None:
        return True
    # Two workers that start at once must count one after the other.
    db.connection().execute(update(Team).where(col(Team.name) == row.team).values(name=row.team))
    quota = allowance(db, settings, row.team, row.suite)
    if is_free(settings, row.subset):
        return True
    if not quota.left:
        raise over_quota(quota, settings)
    if quota.running >= settings.quota_running and quota.limited:
        return False
    use = QuotaUse(submission_id=submission_id, team=row.team, suite=row.suite).model_dump()
    if not claim(db, QuotaUse, use):
        fresh = {"started_at": use["started_at"], "ended_at": None, "returned_at": None}
        _set(db, submission_id, **fresh)
    return True


def settle(db: Session, submission_id: str, ours: bool) -> None:
    """A submission has come to its end: the next of the team may run, and it counts unless the
    fault was ours."""
    if ours:
        give_back(db, submission_id)
    else:
        end(db, submission_id)


def end(db: Session, submission_id: str) -> None:
    """A submission has come to its end: it counts, and the next of the team may run."""
    use = db.get(QuotaUse, submission_id)
    if use is not None and use.ended_at is None:
        _set(db, submission_id, ended_at=now())


def give_back(db: Session, submission_id: str) -> None:
    """The fault was ours: the submission counts no more."""
    _set(db, submission_id, ended_at=now(), returned_at=now())


def _set(db: Session, submission_id: str, **values: datetime | None) -> None:
    db.connection().execute(
        update(QuotaUse).where(col(QuotaUse.submission_id) == submission_id).values(**values)
    )
    db.expire_all()
