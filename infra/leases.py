"""Leases: a worker acquires one for a subject, renews it by a heartbeat and releases it; an expired
one is a dead worker's."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import func, or_, update
from sqlmodel import Session, col, select

from infra.db import claim
from infra.tables import now
from infra.tables.operations import Lease

HELD, FREE = "held", "free"


def clock(db: Session) -> datetime:
    """The database's time: workers' clocks may differ, and only one clock may say that a lease has
    run out."""
    if db.get_bind().dialect.name != "postgresql":
        return now()
    moment: datetime = db.connection().execute(select(func.clock_timestamp())).scalar_one()
    return moment


def new_owner() -> str:
    """A name for one holder in this process: where it runs, since when, and which."""
    return f"{socket.gethostname()}:{os.getpid()}:{_born(os.getpid())}:{uuid.uuid4().hex[:8]}"


def acquire(
    db: Session,
    subject: str,
    kind: str,
    owner: str,
    seconds: float,
    *,
    flow_run_id: str = "",
    parameters: Mapping[str, Any] | None = None,
) -> bool:
    """Take the lease if nobody alive has it; each taking counts as an attempt until one ends
    well."""
    moment = clock(db)
    held = {
        "kind": kind,
        "state": HELD,
        "owner": owner,
        "flow_run_id": flow_run_id,
        "parameters": dict(parameters or {}),
        "reason": "",
        "acquired_at": moment,
        "heartbeat_at": moment,
        "expires_at": moment + timedelta(seconds=seconds),
        "not_before": None,
    }
    if claim(db, Lease, {"subject": subject, "attempts": 1, **held}):
        return True
    holder = db.exec(
        select(Lease.owner).where(Lease.subject == subject, Lease.state == HELD)
    ).first()
    dead = holder if holder and is_dead_here(holder) else ""
    to_have = or_(
        col(Lease.state) == FREE, col(Lease.expires_at) < moment, col(Lease.owner) == dead
    )
    takeover = update(Lease).where(col(Lease.subject) == subject, to_have)
    return _count(db, takeover.values(attempts=col(Lease.attempts) + 1, **held)) == 1


def renew(db: Session, subject: str, owner: str, seconds: float) -> bool:
    """Say that the owner lives; False: the lease was taken from it, and it has to stop."""
    moment = clock(db)
    ours = update(Lease).where(
        col(Lease.subject) == subject, col(Lease.owner) == owner, col(Lease.state) == HELD
    )
    return (
        _count(db, ours.values(heartbeat_at=moment, expires_at=moment + timedelta(seconds=seconds)))
        == 1
    )


def release(
    db: Session, subject: str, owner: str, *, well: bool, reason: str = "", wait: float = 0
) -> None:
    """Give the lease back; a good end forgets the attempts, after a bad one nobody starts it for
    `wait` seconds."""
    moment = clock(db)
    ours = update(Lease).where(col(Lease.subject) == subject, col(Lease.owner) == owner)
    until = moment + timedelta(seconds=wait) if wait else None
    ended = {
        "state": FREE,
        "owner": "",
        "reason": reason,
        "not_before": until,
        "expires_at": moment,
    }
    _count(db, ours.values(**ended, **({"attempts": 0} if well else {})))


def expired(db: Session) -> list[Lease]:
    """Leases whose owner is dead: no heartbeat in time, or a process of this machine that is no
    more."""
    moment = clock(db)
    held = db.exec(select(Lease).where(Lease.state == HELD).order_by(Lease.subject)).all()
    return [lease for lease in held if lease.expires_at < moment or is_dead_here(lease.owner)]


def free(db: Session, lease: Lease, reason: str) -> bool:
    """Take the lease from its owner; of two who try, one is told that it did."""
    theirs = update(Lease).where(
        col(Lease.subject) == lease.subject,
        col(Lease.owner) == lease.owner,
        col(Lease.state) == HELD,
        col(Lease.heartbeat_at) == lease.heartbeat_at,
    )
    return _count(db, theirs.values(state=FREE, owner="", reason=reason, expires_at=clock(db))) == 1


def count(db: Session, subject: str) -> None:
    """One more attempt on something that nobody holds."""
    loose = update(Lease).where(col(Lease.subject) == subject, col(Lease.state) == FREE)
    _count(db, loose.values(attempts=col(Lease.attempts) + 1))


def held_by_run(db: Session, flow_run_id: str) -> bool:
    """Say whether a run of Prefect's holds a lease that has not run out."""
    query = select(Lease).where(Lease.flow_run_id == flow_run_id, Lease.state == HELD)
    return any(lease.expires_at >= clock(db) for lease in db.exec(query))


def is_dead_here(owner: str) -> bool:
    """Say that the owner ran on this machine and its process is gone; of other machines nothing is
    known."""
    host, pid, born, _ = owner.rsplit(":", 3) if owner.count(":") >= 3 else ("", "0", "", "")
    return host == socket.gethostname() and _born(int(pid)) != born


def _born(pid: int) -> str:
    """When a process started, in the kernel's ticks, so that a number that is used again is told
    apart."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "" if _has_proc() else str(_signals(pid))


@cache
def _has_proc() -> bool:
    return Path("/proc/self/stat").exists()


def _signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _count(db: Session, statement: Any) -> int:
    return int(db.connection().execute(statement).rowcount)
