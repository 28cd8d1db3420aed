"""What may go: attempts, expired uploads, leases of ended runs, and notes of shards that are
finished."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete
from sqlmodel import col, select

from flows.durable.lease import RUN
from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import RateCount, now
from infra.tables.operations import Lease
from submissions.intake.uploads import expire


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows and objects were removed."""

    attempts: int
    uploads: int
    leases: int
    notes: int


def prune(settings: Settings) -> Pruned:
    """Remove what nobody asks for any more. The timeline stays: it is part of the audit's chain."""
    before = now() - timedelta(days=settings.keep_days)
    store = open_store(settings.objects, settings.s3_endpoint)
    with session(settings.database) as db:
        attempts = [
            row
            for row in db.exec(select(RateCount))
            if row.window * _length(row.what) < before.timestamp()
        ]
        for row in attempts:
            db.delete(row)
        old = delete(Lease).where(
            col(Lease.kind) == RUN, col(Lease.state) == "free", col(Lease.expires_at) < before
        )
        leases = db.connection().execute(old)
        uploads = expire(db, store)
    stored = (*store.list("begun/"), *store.list("died/"))
    notes = [note.key for note in stored if _at(note.key) < before.timestamp()]
    for key in notes:
        store.delete(key)
    return Pruned(len(attempts), uploads, leases.rowcount, len(notes))


def _length(counter: str) -> float:
    """How many seconds one window of this counter lasts: its name ends with it."""
    end = counter.rpartition("/")[2]
    return float(end) if end.isdigit() else 1.0


def _at(key: str) -> float:
    """When a note was made: its name says so.

    >>> _at("begun/abc/01500000000000000000")
    1500000000.0
    """
    return int(key.rpartition("/")[2]) / 1e9
