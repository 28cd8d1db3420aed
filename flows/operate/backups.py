"""Dump, restore, drill: every row in one file that either kind of database takes, proven to give
the same board."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text
from sqlmodel import Session, SQLModel

from infra import tables  # noqa: F401  (the metadata knows its tables by it)
from infra.db import engine, migrate, session
from infra.settings import Settings
from infra.store import Store, open_store

BATCH = 1000
WRITTEN = "Give a file as `armillary operate backup` wrote it."


class CannotRestore(Exception):
    """The backup or the target is not fit for it; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Dumped:
    """What a backup holds."""

    rows: int
    tables: int
    revision: str


@dataclass(frozen=True, slots=True)
class Drilled:
    """What a drill found: files of the board's export that came out otherwise after the restore."""

    files: int
    rows: int
    different: tuple[str, ...]


def dump(settings: Settings, to: Path) -> Dumped:
    """Write every row of one moment into a zip of JSON lines."""
    counts: dict[str, int] = {}
    to.parent.mkdir(parents=True, exist_ok=True)
    with _moment(settings) as connection, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as file:
        revision = str(
            connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        )
        for table in SQLModel.metadata.sorted_tables:
            with file.open(f"tables/{table.name}.jsonl", "w") as stream:
                counts[table.name] = 0
                # On the statement: a connection keeps options, and the export below asks it too.
                rows = connection.execute(select(table).execution_options(yield_per=BATCH))
                for row in rows.mappings():
                    stream.write(
                        json.dumps({name: _plain(value) for name, value in row.items()}).encode()
                        + b"\n"
                    )
                    counts[table.name] += 1
        with Session(connection) as db:
            summary = {"revision": revision, "rows": counts, "export": _export_digests(db)}
        file.writestr("backup.json", json.dumps(summary, indent=1))
    return Dumped(sum(counts.values()), len(counts), revision)


def _moment(settings: Settings) -> Connection:
    """A connection that sees one moment of the database, whatever is written meanwhile."""
    source = engine(settings.database)
    level = "REPEATABLE READ" if source.dialect.name == "postgresql" else "SERIALIZABLE"
    return source.connect().execution_options(isolation_level=level)


def restore(settings: Settings, backup: Path) -> Dumped:
    """Fill an empty database from a backup, whole or not at all."""
    with _opened(backup) as file:
        summary = _contents(backup, file)
        migrate(settings.database)
        with engine(settings.database).begin() as connection:
            _check_empty(connection, summary["revision"])
            rows = sum(_fill(connection, table, file) for table in SQLModel.metadata.sorted_tables)
        return Dumped(rows, len(summary["rows"]), summary["revision"])


def _opened(backup: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(backup)
    except zipfile.BadZipFile:
        raise CannotRestore(f"{backup} is no backup: it is no zip file. {WRITTEN}") from None


def _contents(backup: Path, file: zipfile.ZipFile) -> dict[str, Any]:
    """What the backup says of itself, if it is whole and has every table."""
    try:
        summary = json.loads(file.read("backup.json"))
        members = {f"tables/{name}.jsonl" for name in summary["rows"]}
        whole = (
            isinstance(summary["revision"], str)
            and members <= set(file.namelist())
            and not file.testzip()
        )
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error):
        whole = False
    if not whole:
        raise CannotRestore(f"{backup} is no backup, or it is damaged. {WRITTEN}")
    return dict(summary)


def _check_empty(connection: Connection, revision: str) -> None:
    current = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    if current != revision:
        raise CannotRestore(
            f"The backup is of revision {revision}, this release makes {current}. Use the release "
            "of then."
        )
    for table in SQLModel.metadata.sorted_tables:
        if connection.execute(select(func.count()).select_from(table)).scalar_one():
            raise CannotRestore(
                f"The database has rows already (in {table.name}). Name an empty one."
            )


def _fill(connection: Connection, table: Table, file: zipfile.ZipFile) -> int:
    # A column type of our own says nothing of Python; what it is made of does.
    kinds = {
        column.name: getattr(column.type, "impl", column.type).python_type
        for column in table.columns
    }
    count = 0
    for batch in _batches(file, f"tables/{table.name}.jsonl"):
        rows = [{name: _typed(value, kinds[name]) for name, value in row.items()} for row in batch]
        connection.execute(insert(table), rows)
        count += len(rows)
    _set_counter(connection, table)
    return count


def _batches(file: zipfile.ZipFile, member: str) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    with file.open(member) as stream:
        for line in stream:
            batch.append(json.loads(line))
            if len(batch) == BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def _set_counter(connection: Connection, table: Table) -> None:
    """PostgreSQL counts on from where the rows end; SQLite does so by itself."""
    if connection.dialect.name == "postgresql" and table.autoincrement_column is not None:
        column = table.autoincrement_column.name
        highest = connection.execute(select(func.max(table.columns[column]))).scalar_one()
        if highest is not None:
            sequence = func.pg_get_serial_sequence(table.name, column)
            connection.execute(select(func.setval(sequence, highest)))


def drill(settings: Settings, backup: Path) -> Drilled:
    """Restore into a database of its own and compare the whole export of the board, byte by byte,
    with that of the backup's moment: what has happened since is no difference."""
    with tempfile.TemporaryDirectory(prefix="armillary-drill-") as name:
        folder = Path(name)
        elsewhere = settings.model_copy(update={"database_url": f"sqlite:///{folder / 'drill.db'}"})
        restored = restore(elsewhere, backup)
        with _opened(backup) as file:
            then = _contents(backup, file).get("export") or _export(settings)
        again = _export(elsewhere)
        different = sorted(
            path for path in then.keys() | again.keys() if then.get(path) != again.get(path)
        )
        return Drilled(len(then), restored.rows, tuple(different))


def _export(settings: Settings) -> dict[str, str]:
    with session(settings.database) as db:
        return _export_digests(db)


def _export_digests(db: Session) -> dict[str, str]:
    """The hash of every file of the board's export."""
    from leaderboard.export.static_site import write

    with tempfile.TemporaryDirectory(prefix="armillary-export-") as name:
        folder = Path(name)
        return {
            str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in write(db, folder)
        }


def copy_objects(settings: Settings, to: str) -> int:
    """Bring every object that is not there yet to another store; they never change, so it may be
    cut and repeated."""
    source, target = (
        open_store(settings.objects, settings.s3_endpoint),
        open_store(to, settings.s3_endpoint),
    )
    copied_keys = {item.key for item in target.list("")}
    with tempfile.TemporaryDirectory(prefix="armillary-objects-") as name:
        return sum(
            _copy(source, target, item.key, Path(name) / "object")
            for item in source.list("")
            if item.key not in copied_keys
        )


def _copy(source: Store, target: Store, key: str, spot: Path) -> int:
    sha256 = source.fetch(key, spot)
    target.put_file(key, spot, sha256)
    return 1


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _typed(value: Any, kind: type) -> Any:
    if value is None:
        return None
    if kind is bytes and isinstance(value, str):
        return base64.b64decode(value)
    if kind is datetime:
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if kind is date else value
