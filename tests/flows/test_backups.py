"""Backups: what comes back is what was there, on either database, and the drill notices when it is
not."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select as rows_of
from sqlmodel import SQLModel, select

from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.operate.backups import CannotRestore, copy_objects, drill, dump, restore
from flows.operate.prune import prune
from flows.run import catalogue
from infra.db import engine, migrate, session
from infra.settings import Settings
from infra.store import open_store
from infra.tables import Cell, Event, RateCount, now
from infra.tables.operations import Lease
from tests.bundles import drawn_outputs
from tests.servers.postgres import PostgresServer


@pytest.fixture
def board(ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A published entry."""
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    run_here(
        receive(ready, str(drawn_outputs(tmp_path / "bundle.zip")), None, None).submission_id,
        Settings(),
    )
    return ready


def rows(settings: Settings) -> dict[str, list[str]]:
    with engine(settings.database).connect() as db:
        names = SQLModel.metadata.sorted_tables
        return {
            table.name: sorted(_words(row) for row in db.execute(rows_of(table))) for table in names
        }


def _words(row: Iterable[object]) -> str:
    """A row to compare; the same moment has other names for its zone on other databases."""
    return str(
        [
            value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for value in row
        ]
    )


def test_a_backup_restores_every_row_on_postgres_and_new_rows_follow_on(
    board: Settings, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    dump(board, tmp_path / "backup.zip")
    other = board.model_copy(update={"database_url": postgres_server.fresh_database()})

    done = restore(other, tmp_path / "backup.zip")

    assert rows(other) == rows(board)
    assert done.rows == sum(map(len, rows(board).values()))
    with session(other.database) as db:
        db.add(Event(subject="x", actor="y", kind="z"))
    with pytest.raises(CannotRestore, match="has rows already"):
        restore(other, tmp_path / "backup.zip")


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"backup.json": "[]"},
        {"backup.json": '{"revision": "1", "rows": {"run": 3}}'},
        {"backup.json": "{"},
    ],
)
def test_a_zip_that_is_no_backup_is_refused_before_the_database_is_touched(
    home: Settings, members: dict[str, str], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "backup.zip", "w") as file:
        for name, text in members.items():
            file.writestr(name, text)

    with pytest.raises(CannotRestore, match="is no backup"):
        restore(home, tmp_path / "backup.zip")

    assert not (home.home / "armillary.db").exists()


def test_a_drill_finds_the_export_of_the_backups_moment_whatever_happened_since(
    board: Settings, tmp_path: Path
) -> None:
    dump(board, tmp_path / "backup.zip")

    same = drill(board, tmp_path / "backup.zip")
    with session(board.database) as db:
        for cell in db.exec(select(Cell)):
            cell.value = 0.5
    receive(board, str(drawn_outputs(tmp_path / "later.zip", shift=1)), None, None)
    later = drill(board, tmp_path / "backup.zip")

    assert (same.different, same.files > 10) == ((), True)
    assert later == same


def test_a_drill_of_a_backup_from_postgres_finds_the_same_export(
    home: Settings, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    served = home.model_copy(update={"database_url": postgres_server.fresh_database()})
    migrate(served.database)
    with session(served.database) as db:
        catalogue.load(db)

    dump(served, tmp_path / "backup.zip")

    assert drill(served, tmp_path / "backup.zip").different == ()


def test_a_drill_notices_a_number_that_is_not_what_it_was(board: Settings, tmp_path: Path) -> None:
    dump(board, tmp_path / "backup.zip")
    with (
        zipfile.ZipFile(tmp_path / "backup.zip") as sound,
        zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed,
    ):
        for name in sound.namelist():
            lines = sound.read(name).splitlines()
            if name == "tables/cell.jsonl":
                lines = [json.dumps({**json.loads(line), "value": 0.5}).encode() for line in lines]
            changed.writestr(name, b"\n".join(lines))

    found = drill(board, tmp_path / "changed.zip")

    assert any("cells.csv" in path for path in found.different)


def test_objects_are_copied_once(board: Settings, tmp_path: Path) -> None:
    there = {one.key for one in open_store(board.objects).list("")}

    first, second = (
        copy_objects(board, str(tmp_path / "copy")),
        copy_objects(board, str(tmp_path / "copy")),
    )

    assert (first, second) == (len(there), 0)
    assert {one.key for one in open_store(str(tmp_path / "copy")).list("")} == there


def test_pruning_removes_the_old_and_leaves_the_young(ready: Settings) -> None:
    young, old = int(now().timestamp() // 60), int((now() - timedelta(days=60)).timestamp() // 60)
    with session(ready.database) as db:
        db.add(RateCount(what="a/60", window=young, count=1))
        db.add(RateCount(what="b/60", window=old, count=1))
        db.add(
            Lease(
                subject="publish x", kind="run", state="free", expires_at=now() - timedelta(days=60)
            )
        )
    store = open_store(ready.objects)
    store.put("begun/abc/01500000000000000000", b"s")

    done = prune(ready)

    assert (done.attempts, done.leases, done.notes) == (1, 1, 1)
    with session(ready.database) as db:
        assert db.exec(select(RateCount.what)).all() == ["a/60"]


def test_a_backup_says_what_it_holds(ready: Settings, tmp_path: Path) -> None:
    done = dump(ready, tmp_path / "backup.zip")

    with zipfile.ZipFile(tmp_path / "backup.zip") as file:
        assert f'"revision": "{done.revision}"' in file.read("backup.json").decode()
        assert len(file.read("tables/sample.jsonl").splitlines()) >= 1600
