"""What the nights brought: the SELECTs over nightly runs, the figures they moved, and how judges drift."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sqlmodel import Session, col, select

from infra.tables import Submission
from infra.tables_operations import Change, Drift, Freeze, Lease, Night


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure that a night moved, with whose it is and why."""

    submission_id: str
    model: str
    suite: str
    metric: str
    where: str
    before: float | None
    after: float | None
    cause: str
    text: str


def nights(db: Session, most: int = 30) -> list[Night]:
    """The last nights, newest first."""
    return list(db.exec(select(Night).order_by(col(Night.night).desc()).limit(most)))


def moved(db: Session, night: date, most: int = 500) -> list[Moved]:
    """What one night moved, whole entries before parts of them."""
    query = (
        select(Change, Submission.model)
        .join(Submission, col(Submission.id) == col(Change.submission_id))
        .where(Change.night == night)
        .order_by(col(Change.scenario), col(Change.task), col(Change.setting), col(Change.modality), Change.run_id)
    )
    return [_moved(change, model) for change, model in db.exec(query.limit(most))]


def _moved(change: Change, model: str) -> Moved:
    facets = (change.scenario, change.task, change.setting, change.modality)
    where = " · ".join(value for value in facets if value != "*")
    facts = (change.submission_id, model, change.suite, change.metric, where)
    return Moved(*facts, change.before, change.after, change.cause, change.text)


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that went wrong on our side, when, and with what."""

    when: date
    what: str
    subject: str
    text: str


def incidents(db: Session, most: int = 50) -> list[Incident]:
    """Nights that failed or raised an alarm, and entries that failed by our fault; newest first."""
    bad = (col(Night.state) == "failed") | (col(Night.alarms) > 0)
    rows = db.exec(select(Night).where(bad).order_by(col(Night.night).desc()).limit(most))
    found = [Incident(one.night, "night", one.state, one.text) for one in rows]
    ours = (Submission.updated_at, Submission.id, Submission.reason)
    lost = select(*ours).where(Submission.state == "failed", Submission.fault == "ours")
    for at, entry, reason in db.execute(lost.order_by(col(Submission.updated_at).desc()).limit(most)):
        found.append(Incident(at.date(), "entry failed", entry, reason))
    return sorted(found, key=lambda one: one.when, reverse=True)[:most]


def drift(db: Session, judge: str) -> list[Drift]:
    """How a judge answered again, night after night, oldest first."""
    return list(db.exec(select(Drift).where(Drift.judge == judge).order_by(col(Drift.night), Drift.what)))


def frozen(db: Session) -> list[Freeze]:
    """Boards that take nothing new just now."""
    return list(db.exec(select(Freeze).where(col(Freeze.lifted_at).is_(None)).order_by(col(Freeze.since))))


def leases(db: Session) -> list[Lease]:
    """Who works on what just now, or died while at it."""
    return list(db.exec(select(Lease).where(Lease.state == "held").order_by(col(Lease.acquired_at))))
