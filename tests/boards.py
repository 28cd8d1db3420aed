"""A board with its tables and suites, made once a process and copied for each test."""

from __future__ import annotations

import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from flows.run import catalogue
from infra.db import add_new, migrate, session
from infra.settings import Settings
from infra.tables.standing import BoardSight


def stock(settings: Settings) -> Settings:
    """Give a fresh home its embedded database with tables and suites."""
    settings.home.mkdir(parents=True, exist_ok=True)
    with (
        sqlite3.connect(_stocked()) as made,
        sqlite3.connect(settings.home / "armillary.db") as copy,
    ):
        made.backup(copy)
    return settings


@cache
def _stocked() -> Path:
    settings = Settings(home=Path(tempfile.mkdtemp(prefix="armillary-stocked-")), database_url="")
    migrate(settings.database)
    with session(settings.database) as db:
        catalogue.load(db)
    return settings.home / "armillary.db"


def seen_by(db: Any, board: str, judge: str, suite: str = "tailor") -> None:
    """Let the judge of a board that was written by hand be one that sees."""
    row = BoardSight(board=board, suite=suite, judge=judge, verdict="sees", ranked=True)
    add_new(db, BoardSight, [row.model_dump()])
