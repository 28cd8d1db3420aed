"""The watchdog: frees what died, starts it again where it stopped, and sees every submission to an
end.

Our rows decide; Prefect is told. Two at once do no harm: each step is one update that only one of
them can make.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from flows.operate import prefect_runs
from flows.run.errors import RETRIED
from flows.run.quota_turn import WAITING
from flows.workers.executor import served
from infra import leases
from infra.db import add_new, session
from infra.settings import Settings
from infra.tables import Submission, now
from infra.tables.operations import LEASE_EXPIRED, Lease
from submissions.teams.lifecycle import PATH, State, advance, record, timeline
from submissions.teams.quotas import gpu_seconds

log = logging.getLogger("armillary")
IN_WORK = PATH[1:-1]
NOTHING = "all is well"


@dataclass
class Round:
    """What one round of the watchdog did."""

    freed: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        named = {"freed": self.freed, "started again": self.started, "given up": self.given_up}
        parts = [
            f"{len(which)} {action} ({', '.join(which)})"
            for action, which in named.items()
            if which
        ]
        if self.crashed:
            parts.append(f"{len(self.crashed)} of Prefect's runs marked crashed")
        return "; ".join(parts) or NOTHING


def look(settings: Settings, start: Callable[[Settings, Lease], None] | None = None) -> Round:
    """Free expired leases, mark their runs in Prefect, fail what is past its deadline or attempts,
    and start again what may go on."""
    report = Round()
    freed = _free_the_dead(settings, report)
    if served():
        _tell_prefect(settings, freed, report)
    _give_up(settings, report)
    for lease in _not_asked_for(_to_start(settings)):
        if _attempt(
            report.started,
            lease.subject,
            lambda lease=lease: (start or start_again)(settings, lease),  # type: ignore[misc]
        ):
            log.info("started %s again, attempt %d", lease.subject, lease.attempts + 1)
    return report


def _free_the_dead(settings: Settings, report: Round) -> list[Lease]:
    """Free every expired lease and record it in the timeline."""
    freed = []
    with session(settings.database) as db:
        dead = leases.expired(db)
    for lease in dead:
        with session(settings.database) as db:
            text = f"gave no sign since {lease.heartbeat_at:%H:%M:%S} UTC."
            if leases.free(db, lease, f"{lease.owner.partition(':')[0]} {text}"):
                record(
                    db,
                    lease.subject,
                    LEASE_EXPIRED,
                    f"Its worker {text} It is taken up again.",
                    actor="watchdog",
                    detail={"owner": lease.owner},
                )
                freed.append(lease)
                report.freed.append(lease.subject)
    return freed


def _tell_prefect(settings: Settings, freed: list[Lease], report: Round) -> None:
    """Mark the runs of dead owners crashed, and runs that hold a slot with no owner at all."""
    why = "Its worker gave no sign of life: marked by Armillary's watchdog."
    try:
        for lease in freed:
            if lease.flow_run_id and prefect_runs.crash(lease.flow_run_id, why):
                report.crashed.append(lease.flow_run_id)
        for run in prefect_runs.open_runs():
            if _is_unattended(settings, run) and prefect_runs.crash(run.id, why):
                report.crashed.append(run.id)
                if subject := str(run.parameters.get("submission_id", "")):
                    _count_attempt(
                        settings, Lease(subject=subject, kind="evaluate", state=leases.FREE)
                    )
    except Exception:
        # Prefect may be away; our rows stand, and the next look tells it again.
        log.exception("Prefect could not be told")


def _is_unattended(settings: Settings, run: prefect_runs.OpenRun) -> bool:
    """No lease names it, and it had the time of one to take one."""
    if run.since > now() - timedelta(seconds=settings.pending_seconds):
        return False
    with session(settings.database) as db:
        return not leases.held_by_run(db, run.id)


def _count_attempt(settings: Settings, lease: Lease) -> None:
    """A run that died before it could take a lease was an attempt too, and its key is used up."""
    with session(settings.database) as db:
        add_new(db, Lease, [lease.model_dump()])
        leases.count(db, lease.subject)


def _give_up(settings: Settings, report: Round) -> None:
    """Fail submissions past their deadline or attempts, by our fault and with a reason."""
    with session(settings.database) as db:
        unfinished = col(Submission.state).in_(PATH[:-1])
        open_ = dict(db.exec(select(Submission.id, Submission.created_at).where(unfinished)).all())
        late = [name for name, came in open_.items() if _is_late(db, settings, name, came)]
        tired = _tired(db, settings, set(open_))
    for submission_id in late:
        text = (
            f"It was not through within {settings.deadline_hours:g} hours. Nothing is lost: we "
            "can take it up again."
        )
        _fail(settings, submission_id, "E_DEADLINE", text, report)
    for submission_id in tired:
        text = (
            f"It ended {settings.attempts} workers. Nothing is lost: an operator has to look at "
            "this."
        )
        _fail(settings, submission_id, "E_ATTEMPTS", text, report)


def _is_late(db: Session, settings: Settings, submission_id: str, came: datetime) -> bool:
    """The clock starts when it was received or taken up again; who waits for the team's own quota
    is not late, nor is a model at work."""
    limit = leases.clock(db) - timedelta(hours=settings.deadline_hours)
    if came > limit:
        return False
    past = timeline(db, submission_id)
    if past and past[-1].kind == WAITING:
        return False
    if any(event.kind == State.RECEIVED and event.at > limit for event in past):
        return False
    return not _is_model_at_work(db, settings, submission_id, limit)


def _is_model_at_work(db: Session, settings: Settings, submission_id: str, limit: datetime) -> bool:
    """Whether a worker has a model in hands whose own GPU time is to end it, by its submitter's
    fault, and not the hours for which it waited behind others. It has that time and then the
    deadline, so that a judge or a cluster that never answers ends it by ours."""
    at_work = (
        select(Lease.acquired_at, Submission.subset)
        .join(Submission, col(Submission.id) == col(Lease.subject))
        .where(Lease.subject == submission_id, Lease.state == leases.HELD)
        .where(Submission.kind == "model")
    )
    for taken_up, subset in db.exec(at_work):
        return taken_up + timedelta(seconds=gpu_seconds(settings, subset)) > limit
    return False


def _tired(db: Session, settings: Settings, subjects: set[str]) -> list[str]:
    """Subjects without an owner that have used up their attempts."""
    query = select(Lease.subject).where(
        Lease.state == leases.FREE, Lease.attempts >= settings.attempts
    )
    return [subject for subject in db.exec(query) if subject in subjects]


def _fail(settings: Settings, submission_id: str, code: str, text: str, report: Round) -> None:
    with session(settings.database) as db:
        if not advance(
            db, submission_id, State.FAILED, text, fault="ours", code=code, actor="watchdog"
        ):
            return
        lease = db.get(Lease, submission_id)
        if lease and lease.state == leases.HELD:
            leases.free(db, lease, text)
    report.given_up.append(submission_id)
    if lease and lease.flow_run_id and served():
        _attempt(
            report.crashed, lease.flow_run_id, lambda: prefect_runs.crash(lease.flow_run_id, text)
        )


def _to_start(settings: Settings) -> list[Lease]:
    """What was begun and has no owner, and what failed by a fault of ours that may have passed; a
    night too."""
    begun = col(Submission.state).in_(IN_WORK)
    passing = (col(Submission.state) == State.FAILED) & col(Submission.code).in_(RETRIED)
    again = (col(Submission.state) == State.RECEIVED) & (col(Lease.attempts) > 0)
    with session(settings.database) as db:
        query = (
            select(Submission.id, Lease)
            .join(Lease, col(Lease.subject) == col(Submission.id), isouter=True)
            .where(begun | passing | again)
            .order_by(col(Submission.created_at), col(Submission.id))
        )
        candidates = [(submission, lease) for submission, lease in db.exec(query)]
        night = select(Lease).where(Lease.kind == "nightly", Lease.attempts > 0)
        candidates += [(lease.subject, lease) for lease in db.exec(night)]
        moment = leases.clock(db)
    rows = [
        lease or Lease(subject=submission, kind="evaluate", state=leases.FREE)
        for submission, lease in candidates
    ]
    return [row for row in rows if row.state == leases.FREE and _is_due(settings, row, moment)]


def _not_asked_for(due: list[Lease]) -> list[Lease]:
    """Without those for which a run waits in Prefect's queue already."""
    if not due or not served():
        return due
    try:
        requested = prefect_runs.evaluations(prefect_runs.WAITING)
    except Exception:
        log.exception("Prefect could not be asked")
        return []
    return [lease for lease in due if lease.subject not in requested]


def _is_due(settings: Settings, lease: Lease, moment: datetime) -> bool:
    return lease.attempts < settings.attempts and (
        lease.not_before is None or lease.not_before <= moment
    )


def start_again(settings: Settings, lease: Lease) -> None:
    """By Prefect on some worker, once for each attempt; without a server, here and now."""
    judge = str(lease.parameters.get("judge", ""))
    parameters = (
        {"submission_id": lease.subject, "judge": judge} if lease.kind == "evaluate" else {}
    )
    if served():
        if prefect_runs.start(f"{lease.kind}/{lease.kind}", parameters, key=_key(lease)).over:
            # It ended before it could take the lease. One more attempt is another key, and so
            # another run.
            _count_attempt(settings, lease)
    elif lease.kind == "nightly":
        from flows.nightly.flow import run

        run(settings)
    else:
        from flows.evaluate.flow import run_here

        run_here(lease.subject, settings, judge)


def _key(lease: Lease) -> str:
    """One name for one more start: two watchdogs ask for the same run, and a later failure for
    another."""
    return f"{lease.subject}:{lease.attempts}:{lease.acquired_at if lease.attempts else ''}"


def _attempt(into: list[str], subject: str, act: Callable[[], object]) -> bool:
    """Do it and note it; one that fails does not keep the others from their turn."""
    try:
        act()
    except Exception:
        log.exception("watchdog: %s", subject)
        return False
    into.append(subject)
    return True
