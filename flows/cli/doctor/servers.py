"""What the board stands on: its database and object store, and whether their clocks agree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from flows.cli.doctor.finding import DoctorFinding, State, graded
from infra.settings import Settings

SECONDS = 5.0
"""How long a server may take to answer the doctor."""
CLOCK_NOTE, CLOCK_WRONG = 5.0, 30.0
"""Seconds between two clocks; an HTTP date is a second coarse, and a lease lasts 45."""


def database(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether the database answers, and has the tables of this release."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    from infra.db import revisions

    where = make_url(settings.database).render_as_string(hide_password=True)
    try:
        has, wanted = revisions(settings.database)
    except SQLAlchemyError:
        remedy = "It does not answer: start it or change ARMILLARY_DATABASE_URL."
        yield DoctorFinding("database", "wrong", where, remedy)
        return
    if has is None:
        yield DoctorFinding("database", "note", where, "Run `armillary init`.")
        return
    tables = where if has == wanted else f"{where}: tables of {has}, this release has {wanted}"
    yield graded("database", has == wanted, tables, "Run `armillary init`, which upgrades it.")


def object_store(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether the object store answers."""
    from infra.store import StoreError, open_store

    try:
        open_store(settings.objects, settings.s3_endpoint).exists("doctor/probe")
        yield DoctorFinding("object store", "good", settings.objects)
    except StoreError as error:
        remedy = "Check ARMILLARY_STORE, ARMILLARY_S3_ENDPOINT and the credentials."
        yield DoctorFinding("object store", "wrong", str(error), remedy)


def clock(settings: Settings) -> Iterator[DoctorFinding]:
    """Whether this machine's clock is that of the servers; leases, links and tokens go by it."""
    apart = {name: seconds for name, seconds in _clocks(settings) if seconds is not None}
    if not apart:
        yield DoctorFinding("clock", "good", "this machine's alone: no server has another")
        return
    name, seconds = max(apart.items(), key=lambda clock: abs(clock[1]))
    state: State = "good" if abs(seconds) <= CLOCK_NOTE else "note"
    state = "wrong" if abs(seconds) > CLOCK_WRONG else state
    remedy = "" if state == "good" else "Set the clocks by NTP on all machines."
    detail = f"{seconds:+.1f} s against {name}, the furthest of {', '.join(apart)}"
    yield DoctorFinding("clock", state, detail, remedy)


def _clocks(settings: Settings) -> Iterator[tuple[str, float | None]]:
    yield "the database", _of_database(settings)
    if settings.s3_endpoint:
        yield "the store", _of_http(settings.s3_endpoint)
    if prefect := os.environ.get("PREFECT_API_URL"):
        yield "Prefect", _of_http(f"{prefect}/health")


def _of_database(settings: Settings) -> float | None:
    from sqlalchemy.exc import SQLAlchemyError

    from infra import leases
    from infra.db import session

    if not settings.database.startswith("postgresql"):
        return None
    with suppress(SQLAlchemyError), session(settings.database) as db:
        return (datetime.now(UTC) - leases.clock(db)).total_seconds()
    return None


def _of_http(url: str) -> float | None:
    """How far this clock is ahead of the date that a server's answer has; None if it has none."""
    import httpx

    with suppress(httpx.HTTPError, ValueError, KeyError):
        date = httpx.get(url, timeout=SECONDS).headers["Date"]
        return (datetime.now(UTC) - parsedate_to_datetime(date)).total_seconds()
    return None
