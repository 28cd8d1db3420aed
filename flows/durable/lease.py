"""Holding a lease while work goes on: a heartbeat in a thread of its own, and a word when it was
lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from infra import leases
from infra.db import session
from infra.logs import about, log_to
from infra.settings import Settings
from infra.tables.operations import Lease

log = logging.getLogger("armillary")
RUN = "run"
"""The kind of a lease that only says that a run of Prefect's is alive; nobody starts it again."""
BEATS = 4
"""Heartbeats in the time of one lease, at least: three may be missed."""
BEAT_SECONDS = 5.0
"""A heart beats at least so often, for it also tells that the lease was lost."""


class Busy(Exception):
    """Somebody else works on this just now; the message says who and since when."""


class LeaseLost(Exception):
    """The lease was taken from us while we worked: somebody else goes on, so we stop."""


@dataclass(frozen=True)
class HeldLease:
    """A lease in our hands, until `lost` says otherwise."""

    subject: str
    owner: str
    lost: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


_current: ContextVar[HeldLease | None] = ContextVar("hold", default=None)


def check_lease() -> None:
    """Stop here if the lease under which this runs was lost; what runs under none goes on."""
    hold = _current.get()
    if hold and hold.lost.is_set():
        raise LeaseLost(
            f"{hold.subject} was taken over by another worker, which goes on where this one "
            "stopped."
        )


def abandon_work() -> None:
    """Nobody wants the work under this lease any more: whoever works for it stops, here and in
    threads."""
    if hold := _current.get():
        hold.lost.set()


@contextmanager
def under(hold: HeldLease) -> Iterator[None]:
    """Run the block under a lease that somebody else keeps."""
    token = _current.set(hold)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def hold_lease(
    settings: Settings,
    subject: str,
    kind: str,
    parameters: Mapping[str, Any] | None = None,
    patient: type[Exception] | tuple[()] = (),
) -> Iterator[HeldLease]:
    """Take the lease, keep it alive, give it back; an end by an error counts as an attempt, unless
    it is `patient`."""
    hold = HeldLease(subject, leases.new_owner())
    with session(settings.database) as db:
        run = flow_run_id()
        if not leases.acquire(
            db,
            subject,
            kind,
            hold.owner,
            settings.lease_seconds,
            flow_run_id=run,
            parameters=parameters,
        ):
            raise Busy(_held_by(db.get(Lease, subject), subject))
    log_to(settings.home, settings.log)
    heart = threading.Thread(
        target=_heartbeat, args=(settings, hold), daemon=True, name=f"heartbeat {subject}"
    )
    heart.start()
    token = _current.set(hold)
    try:
        with about(**{"submission" if kind == "evaluate" else "subject": subject}):
            log.info("%s begins", kind)
            yield hold
            log.info("%s ends", kind)
    except BaseException as error:
        _release(
            settings, hold, "" if isinstance(error, patient) else f"{type(error).__name__}: {error}"
        )
        raise
    else:
        _release(settings, hold, "")
    finally:
        hold.ended.set()
        _current.reset(token)


@contextmanager
def flow_run_lease(name: str) -> Iterator[None]:
    """A run of Prefect's that is not about one submission holds a lease of its own; outside of
    Prefect, none."""
    run = flow_run_id()
    if not run:
        yield
        return
    settings = Settings()
    with hold_lease(settings, f"{name} {run}", RUN):
        yield
    with session(settings.database) as db:
        db.connection().execute(delete(Lease).where(col(Lease.subject) == f"{name} {run}"))


def flow_run_id() -> str:
    """The id of Prefect's run that we are in; empty outside of one."""
    import sys

    if "prefect" not in sys.modules:
        return ""
    from prefect.runtime import flow_run

    return str(flow_run.id or "")


def _heartbeat(settings: Settings, hold: HeldLease) -> None:
    while not hold.ended.wait(min(settings.lease_seconds / BEATS, BEAT_SECONDS)):
        try:
            with session(settings.database) as db:
                alive = leases.renew(db, hold.subject, hold.owner, settings.lease_seconds)
        except SQLAlchemyError:
            # The database is away: whether the lease still holds will be seen when it is back.
            log.warning("no heartbeat for %s: the database does not answer", hold.subject)
            continue
        if not alive and not hold.ended.is_set():
            hold.lost.set()
            return


def _release(settings: Settings, hold: HeldLease, reason: str) -> None:
    hold.ended.set()
    try:
        with session(settings.database) as db:
            lease = db.get(Lease, hold.subject)
            wait = retry_delay(settings, lease.attempts) if reason and lease else 0
            leases.release(
                db, hold.subject, hold.owner, well=not reason, reason=reason[:500], wait=wait
            )
    except SQLAlchemyError:
        log.warning("the lease of %s could not be given back; it will run out", hold.subject)


def retry_delay(settings: Settings, attempts: int) -> float:
    """Seconds before something that failed is tried again: twice as long each time, an hour at
    most."""
    return float(min(settings.retry_seconds * 2 ** (max(attempts, 1) - 1), 3600))


def _held_by(lease: Lease | None, subject: str) -> str:
    if lease is None:
        return f"{subject} was just finished by somebody else. Look at it with `armillary status`."
    where = lease.owner.partition(":")[0]
    return (
        f"{subject} is in work on {where} since {lease.acquired_at:%Y-%m-%d %H:%M:%S} UTC, last "
        f"sign of life {lease.heartbeat_at:%H:%M:%S}. It goes on there; `armillary operate "
        "watchdog --once` frees it if it died."
    )
