"""A board with its tables and suites, made once a process and copied for each test."""

from __future__ import annotations

import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from flows.run import catalogue
from infra.db import migrate, session
from infra.settings import Settings


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
