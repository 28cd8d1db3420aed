"""Database connections, transactions, migrations, and inserts that may be repeated without harm."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Dialect, Engine, create_engine, event, func, literal, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, SQLModel

from infra.bulk_copy import copy_rows

HERE = Path(__file__).parent
BATCH_ROWS = 2000
"""How many rows are held in memory at a time."""
CACHE_PRAGMAS = ("cache_size=-32000", "mmap_size=2147483648")
"""SQLite's default cache of 2 MB is too small for the pages of one ranking."""


class DatabaseUnavailable(Exception):
    """The database cannot be reached or has no tables yet; the message says what to do."""


@lru_cache(maxsize=8)
def engine(url: str) -> Engine:
    """The engine for this URL, made once a process."""
    if make_url(url).get_backend_name() != "sqlite":
        new_engine = create_engine(url, pool_pre_ping=True)
        event.listen(new_engine, "before_cursor_execute", _use_binary_rows)
        return new_engine
    Path(make_url(url).database or "").parent.mkdir(parents=True, exist_ok=True)
    new_engine = create_engine(url, connect_args={"timeout": 60})
    event.listen(new_engine, "connect", _set_pragmas)
    return new_engine


def _use_binary_rows(*arguments: Any) -> None:
    """Have PostgreSQL send rows in binary where a query asks so: as text, numbers take longer to
    format than to find."""
    _, cursor, _, _, context, _ = arguments
    if context and context.execution_options.get("binary"):
        cursor.format = 1


def _set_pragmas(connection: Any, _record: object) -> None:
    """Readers beside one writer, and a commit that survives a power cut."""
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", *CACHE_PRAGMAS):
        connection.execute(f"PRAGMA {pragma}")


@contextmanager
def session(url: str) -> Iterator[Session]:
    """One transaction: committed at the end, rolled back on any error."""
    with Session(engine(url), expire_on_commit=False) as db, db.begin():
        yield db


def migrate(url: str, revision: str = "head") -> None:
    """Bring the tables to a revision, by default the newest."""
    try:
        with engine(url).begin() as connection:
            command.upgrade(_config(connection), revision)
    except OperationalError as error:
        raise DatabaseUnavailable(_unreachable(url)) from error


def downgrade(url: str, revision: str) -> None:
    """Take the tables back to a revision."""
    with engine(url).begin() as connection:
        command.downgrade(_config(connection), revision)


def revisions(url: str) -> tuple[str | None, str | None]:
    """The revision of the tables that are there, None without any, and that of this release."""
    with engine(url).connect() as connection:
        script = ScriptDirectory.from_config(_config(connection))
        has = MigrationContext.configure(connection).get_current_revision()
    return has, script.get_current_head()


def _config(connection: Any) -> Config:
    config = Config()
    config.set_main_option("script_location", str(HERE / "migrations"))
    config.attributes["connection"] = connection
    return config


def _unreachable(url: str) -> str:
    where = make_url(url).render_as_string(hide_password=True)
    return (
        f"The database {where} does not answer. Start it, or set ARMILLARY_DATABASE_URL to one "
        "that runs."
    )


def columns_of(table: type[SQLModel]) -> Any:
    """A table's columns for queries past the ORM mapper, which costs a page more time than the
    database does."""
    return table.__table__.c  # type: ignore[attr-defined]


def add_new(db: Session, table: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        db.connection().execute(insert_into(db, table).on_conflict_do_nothing(), list(rows))


def add_many(db: Session, table: type[SQLModel], rows: Iterable[Mapping[str, Any]]) -> None:
    """The same for tens of thousands of rows with the same columns, made one by one while they are
    written."""
    remaining_rows = iter(rows)
    for first in remaining_rows:
        names = tuple(first)
        values = itemgetter(*names) if len(names) > 1 else lambda row: tuple(row.values())
        add_rows(db, table, names, map(values, chain((first,), remaining_rows)))


def add_rows(
    db: Session,
    table: type[SQLModel],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    gives_way: str = "",
) -> None:
    """The same for bare values in the order of the names; an existing row for which the SQL
    condition `gives_way` holds is replaced.

    Rows go straight to the driver, for SQLAlchemy costs several times the insert: row by row on
    SQLite, on PostgreSQL as arrays, or by COPY where they are many.
    """
    connection, dialect = db.connection(), db.get_bind().dialect
    kinds = [columns_of(table)[name].type for name in names]
    batches = _batches([_bind_processor(kind, dialect) for kind in kinds], rows)
    first, second = next(batches, None), next(batches, None)
    if first is not None and second is not None and dialect.name == "postgresql":
        all_rows = chain.from_iterable(chain((first, second), batches))
        copy_rows(
            connection,
            str(table.__tablename__),
            names,
            all_rows,
            _on_conflict(table, names, gives_way),
        )
        return
    text = f"{_insert_text(table, names, kinds, dialect)} {_on_conflict(table, names, gives_way)}"
    for batch in chain(filter(None, (first, second)), batches):
        values = batch if dialect.name == "sqlite" else tuple(map(list, zip(*batch, strict=True)))
        connection.exec_driver_sql(text, values)


def _batches(
    processors: Sequence[Any], rows: Iterable[Sequence[Any]]
) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as the driver takes them, `BATCH_ROWS` at a time."""
    remaining_rows = iter(rows)
    for batch in iter(lambda: list(islice(remaining_rows, BATCH_ROWS)), []):
        columns = [
            map(convert, column) if convert else column
            for convert, column in zip(processors, zip(*batch, strict=True), strict=True)
        ]
        yield list(zip(*columns, strict=True))


def _insert_text(
    table: type[SQLModel], names: Sequence[str], kinds: Sequence[Any], dialect: Dialect
) -> str:
    into = ", ".join(f'"{name}"' for name in names)
    source = f"VALUES ({', '.join('?' * len(names))})"
    if dialect.name != "sqlite":
        arrays = ", ".join(f"%s::{kind.compile(dialect)}[]" for kind in kinds)
        source = f"SELECT * FROM unnest({arrays})"  # noqa: S608
    return f'INSERT INTO "{table.__tablename__}" ({into}) {source}'


def _on_conflict(table: type[SQLModel], names: Sequence[str], gives_way: str) -> str:
    if not gives_way:
        return "ON CONFLICT DO NOTHING"
    keys = [column.name for column in columns_of(table) if column.primary_key]
    key = ", ".join(f'"{name}"' for name in keys)
    assignments = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in keys)
    return f"ON CONFLICT ({key}) DO UPDATE SET {assignments} WHERE {gives_way}"


def _bind_processor(kind: Any, dialect: Dialect) -> Any:
    """The function that turns a value of a column type into one for the driver, or None; most JSON
    here is empty, which needs no encoder."""
    if isinstance(kind, JSON):
        return lambda value: "{}" if value == {} else json.dumps(value)
    return kind.dialect_impl(dialect).bind_processor(dialect)


def claim(db: Session, table: type[SQLModel], row: Mapping[str, Any]) -> bool:
    """Insert one row; False if there was a row with its key already."""
    statement = insert_into(db, table).values(row).on_conflict_do_nothing().returning(literal(1))
    return db.connection().execute(statement).first() is not None


def insert_into(db: Session, table: type[SQLModel]) -> Any:
    """The dialect's INSERT of a table, which has ON CONFLICT clauses."""
    backend = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    return backend.insert(table.__table__)  # type: ignore[attr-defined]


def transaction_lock(db: Session, name: str) -> None:
    """Hold a lock by this name until the transaction ends. SQLite has one writer anyway."""
    if db.get_bind().dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        db.connection().execute(select(func.pg_advisory_xact_lock(number)))
    else:
        db.connection().exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


def put(db: Session, table: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows; where a key is there already, the new values stand."""
    if not rows:
        return
    statement = insert_into(db, table)
    keys = [column.name for column in statement.table.primary_key]
    updates = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    merged = (
        statement.on_conflict_do_update(index_elements=keys, set_=updates)
        if updates
        else statement.on_conflict_do_nothing()
    )
    db.connection().execute(merged, list(rows))
