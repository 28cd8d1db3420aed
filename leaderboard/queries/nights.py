"""What the nights brought: the SELECTs over nightly runs, the figures they moved, and how judges
drift."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from sqlmodel import Session, col, select

from infra.tables import Event, Submission
from infra.tables.operations import LEASE_EXPIRED, Change, Drift, Freeze, Lease, Night


@dataclass(frozen=True, slots=True)
class MovedFigure:
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


def nights(db: Session, limit: int = 30) -> list[Night]:
    """The last nights, newest first."""
    return list(db.exec(select(Night).order_by(col(Night.night).desc()).limit(limit)))


def moved_figures(db: Session, night: date, limit: int = 500) -> list[MovedFigure]:
    """What one night moved, whole entries before parts of them."""
    query = (
        select(Change, Submission.model)
        .join(Submission, col(Submission.id) == col(Change.submission_id))
        .where(Change.night == night)
        .order_by(
            col(Change.scenario),
            col(Change.task),
            col(Change.setting),
            col(Change.modality),
            Change.run_id,
        )
    )
    return [_moved_figure(change, model) for change, model in db.exec(query.limit(limit))]


def _moved_figure(change: Change, model: str) -> MovedFigure:
    facets = (change.scenario, change.task, change.setting, change.modality)
    where = " · ".join(value for value in facets if value != "*")
    facts = (change.submission_id, model, change.suite, change.metric, where)
    return MovedFigure(*facts, change.before, change.after, change.cause, change.text)


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that went wrong on our side, when, and with what."""

    when: date
    what: str
    subject: str
    text: str


def incidents(db: Session, limit: int = 50) -> list[Incident]:
    """Nights that failed or raised an alarm, workers that died, and entries that failed by our
    fault; newest first."""
    bad = (col(Night.state) == "failed") | (col(Night.alarms) > 0)
    rows = db.exec(select(Night).where(bad).order_by(col(Night.night).desc()).limit(limit))
    incidents_found = [Incident(night.night, "night", night.state, night.text) for night in rows]
    ours = (Submission.updated_at, Submission.id, Submission.reason)
    lost = select(*ours).where(Submission.state == "failed", Submission.fault == "ours")
    for at, entry, reason in db.execute(
        lost.order_by(col(Submission.updated_at).desc()).limit(limit)
    ):
        incidents_found.append(Incident(at.date(), "entry failed", entry, reason))
    died = select(Event.at, Event.subject, Event.text).where(Event.kind == LEASE_EXPIRED)
    for at, entry, text in db.execute(died.order_by(col(Event.id).desc()).limit(limit)):
        incidents_found.append(Incident(at.date(), "worker died", entry, text))
    return sorted(incidents_found, key=lambda incident: incident.when, reverse=True)[:limit]


def drift(db: Session, judge: str) -> list[Drift]:
    """How a judge answered again, night after night, oldest first."""
    return list(
        db.exec(select(Drift).where(Drift.judge == judge).order_by(col(Drift.night), Drift.what))
    )


def frozen(db: Session) -> list[Freeze]:
    """Boards that are frozen: they accept no new runs."""
    return list(
        db.exec(select(Freeze).where(col(Freeze.lifted_at).is_(None)).order_by(col(Freeze.since)))
    )


def leases(db: Session) -> list[Lease]:
    """Leases that are held, including those of workers that died."""
    return list(
        db.exec(select(Lease).where(Lease.state == "held").order_by(col(Lease.acquired_at)))
    )
