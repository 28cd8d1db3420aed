"""The last published board as one SQLite file beside the page: what is served while the database is
gone."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Table, func
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlmodel import Session, SQLModel, col, create_engine, select

from infra import tables
from infra.db import add_many, session
from infra.settings import Settings
from infra.tables import board, operations, standing

LOOK_SECONDS = 30.0
FEWEST_SECONDS_BETWEEN = 600.0
PRIVATE = ("contact", "files")
PUBLIC: tuple[type[SQLModel], ...] = (
    tables.Suite,
    tables.Metric,
    tables.Sample,
    tables.Judge,
    tables.Submission,
    tables.Run,
    tables.Cell,
    board.FigurePlace,
    board.Declared,
    board.Passage,
    tables.Event,
    standing.Roster,
    standing.Standing,
    standing.AttemptRow,
    standing.RankChange,
    standing.Hidden,
    standing.Noise,
    standing.BoardSight,
    standing.JudgeExam,
    operations.Night,
    operations.Change,
    operations.Drift,
)
"""In the order of their references. Outputs, answers and scores stay behind: they are many."""
OF_RUNS = (
    tables.Cell,
    operations.Change,
    standing.AttemptRow,
    standing.RankChange,
    standing.Hidden,
    standing.Noise,
)
log = logging.getLogger(__name__)


def path(settings: Settings) -> Path:
    """Where the file lies."""
    return settings.home.resolve() / "snapshot" / "board.db"


def taken_at(file: Path) -> datetime | None:
    """When the file was written; None if there is none."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC) if file.is_file() else None


@contextmanager
def opened(file: Path) -> Iterator[Session]:
    """The file for reading only: a newer one may take its place at any moment."""
    engine = create_engine(
        f"sqlite:///file:{file}?mode=ro&immutable=1&uri=true", poolclass=NullPool
    )
    with Session(engine) as db:
        yield db


def write(url: str, file: Path) -> None:
    """Copy everything public of a board into the file, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(f".{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{fresh}")
    try:
        SQLModel.metadata.create_all(engine)
        with session(url) as source, Session(engine) as target:
            for table in PUBLIC:
                add_many(target, table, _rows(source, table))
            target.commit()
        engine.dispose()
        fresh.replace(file)
    finally:
        engine.dispose()
        fresh.unlink(missing_ok=True)


def _rows(db: Session, table: type[SQLModel]) -> Iterator[Mapping[str, Any]]:
    columns: Table = table.__table__  # type: ignore[attr-defined]
    query = columns.select()
    if table is tables.Run:
        query = query.where(col(tables.Run.state) == "published")
    if table is tables.Event:
        query = query.where(col(tables.Event.kind) == "published")
    if table in OF_RUNS:
        published = select(tables.Run.id).where(tables.Run.state == "published")
        query = query.where(columns.c.run_id.in_(published))
    for row in db.connection().execute(query.execution_options(yield_per=5000)):
        values = dict(row._mapping)
        if table is tables.Submission:
            values["manifest"] = {
                key: value for key, value in values["manifest"].items() if key not in PRIVATE
            }
        yield values


def version(db: Session) -> str:
    """A token that changes whenever the published board does."""
    newest = db.execute(
        select(func.count(), func.max(tables.Run.published_at)).where(
            tables.Run.state == "published"
        )
    )
    events = db.execute(select(func.max(tables.Event.id))).scalar_one()
    return f"{tuple(newest.one())} {events}"


@cache
def keep(url: str, file: Path) -> threading.Thread:
    """Keep the file in step with the board from now on, in a thread of its own, one a process."""
    thread = threading.Thread(target=_keep, args=(url, file), daemon=True, name="snapshot")
    thread.start()
    return thread


def _keep(url: str, file: Path) -> None:
    written, last = "", -FEWEST_SECONDS_BETWEEN
    while True:
        time.sleep(LOOK_SECONDS)
        try:
            if not is_there(url):
                continue
            with session(url) as db:
                current = version(db)
            if current != written and time.monotonic() - last >= FEWEST_SECONDS_BETWEEN:
                write(url, file)
                written, last = current, time.monotonic()
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            log.info("No snapshot of the board now: %s", type(error).__name__)


def is_there(url: str) -> bool:
    """Whether there can be a database: opening a SQLite file that is missing would make an empty
    one."""
    parsed = make_url(url)
    return parsed.get_backend_name() != "sqlite" or Path(parsed.database or "").is_file()
