"""The same entries give the same rows to the last bit on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from flows.audit import receipt_files
from flows.run import catalogue
from infra.db import migrate, session
from infra.tables import Cell
from infra.tables.standing import Roster, Standing, Summary
from tests.servers.postgres import PostgresServer
from tests.standing import judged
from tests.standing.tiny import Dice, enter, load


def rows(url: str) -> list[list[dict[str, Any]]]:
    """Everything that publication writes about numbers."""
    migrate(url)
    with session(url) as db:
        load(db)
        for number in range(4):
            enter(db, Dice(f"e{number}", 40 + 3.3 * number))
    with session(url) as db:
        return [
            sorted((row.model_dump() for row in db.exec(select(table))), key=repr)
            for table in (Cell, Summary, Roster, Standing)
        ]


def exported(url: str, folder: Path) -> dict[str, bytes]:
    """The files of an export that anybody verifies from: receipts, records, and cells with their
    intervals."""
    migrate(url)
    with session(url) as db:
        catalogue.load(db)
        for name, skill in (("one", 0.9), ("two", 0.4)):
            judged.enter(db, name, skill)
        receipt_files.write(db, folder)
    return {path.name: path.read_bytes() for path in sorted((folder / "receipts").iterdir())}


@pytest.mark.xdist_group("servers")
def test_the_same_seed_gives_the_same_bytes_on_both(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    one = exported(f"sqlite:///{tmp_path / 'test.db'}", tmp_path / "one")
    other = exported(postgres_server.fresh_database(), tmp_path / "other")

    assert len(one) == 6
    assert one == other


@pytest.mark.xdist_group("servers")
def test_sqlite_and_postgres_hold_the_same_numbers(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    assert rows(f"sqlite:///{tmp_path / 'test.db'}") == rows(postgres_server.fresh_database())
