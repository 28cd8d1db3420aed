"""Connections, transactions, migrations, and writes that may be repeated."""

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
from sqlalchemy import JSON, Dialect, Engine, create_engine, event, func, literal, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, SQLModel

from infra.bulk_copy import copy_rows

HERE = Path(__file__).parent
MANY = 2000
"""So many rows are held at a time."""
ROOMY = ("cache_size=-32000", "mmap_size=2147483648")
"""SQLite's own 2 MB forget the pages of one ranking before the next is read."""


class DatabaseUnavailable(Exception):
    """The database cannot be reached or has no tables yet; the message says what to do."""


@lru_cache(maxsize=8)
def engine(url: str) -> Engine:
    """The engine for this URL, made once a process."""
    if make_url(url).get_backend_name() != "sqlite":
        made = create_engine(url, pool_pre_ping=True)
        event.listen(made, "before_cursor_execute", _as_kept)
        return made
    Path(make_url(url).database or "").parent.mkdir(parents=True, exist_ok=True)
    made = create_engine(url, connect_args={"timeout": 60})
    event.listen(made, "connect", _durable)
    return made


def _as_kept(*said: Any) -> None:
    """Give rows in PostgreSQL's own form where a query asks so: spelling numbers out takes longer
    than finding them."""
    _, cursor, _, _, context, _ = said
    if context and context.execution_options.get("binary"):
        cursor.format = 1


def _durable(connection: Any, _record: object) -> None:
    """Readers beside one writer, and a commit that survives a power cut."""
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", *ROOMY):
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


def bare(table: type[SQLModel]) -> Any:
    """A table's columns without the mapper, which costs a page more than the database does."""
    return table.__table__.c  # type: ignore[attr-defined]


def add_new(db: Session, table: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        db.connection().execute(_insert(db, table).on_conflict_do_nothing(), list(rows))


def add_many(db: Session, table: type[SQLModel], rows: Iterable[Mapping[str, Any]]) -> None:
    """The same for tens of thousands of rows with the same columns, made one by one while they are
    written."""
    rest = iter(rows)
    for first in rest:
        names = tuple(first)
        values = itemgetter(*names) if len(names) > 1 else lambda row: tuple(row.values())
        add_rows(db, table, names, map(values, chain((first,), rest)))


def add_rows(
    db: Session,
    table: type[SQLModel],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    gives_way: str = "",
) -> None:
    """The same for bare values in the order of the names; a row that is there and of which
    `gives_way` holds gives way.

    Straight to the driver, what lies between costs several times the insert: row by row on SQLite,
    on PostgreSQL column by column, or copied where they are many.
    """
    connection, dialect = db.connection(), db.get_bind().dialect
    kinds = [bare(table)[name].type for name in names]
    parts = _parts([_maker(kind, dialect) for kind in kinds], rows)
    first, second = next(parts, None), next(parts, None)
    if first is not None and second is not None and dialect.name == "postgresql":
        rest = chain.from_iterable(chain((first, second), parts))
        copy_rows(
            connection, str(table.__tablename__), names, rest, _on_conflict(table, names, gives_way)
        )
        return
    text = f"{_insert_text(table, names, kinds, dialect)} {_on_conflict(table, names, gives_way)}"
    for part in chain(filter(None, (first, second)), parts):
        values = part if dialect.name == "sqlite" else tuple(map(list, zip(*part, strict=True)))
        connection.exec_driver_sql(text, values)


def _parts(makers: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as the driver wants them, so many at a time."""
    rest = iter(rows)
    for part in iter(lambda: list(islice(rest, MANY)), []):
        columns = [
            map(do, some) if do else some
            for do, some in zip(makers, zip(*part, strict=True), strict=True)
        ]
        yield list(zip(*columns, strict=True))


def _insert_text(
    table: type[SQLModel], names: Sequence[str], kinds: Sequence[Any], dialect: Dialect
) -> str:
    into = ", ".join(f'"{name}"' for name in names)
    given = f"VALUES ({', '.join('?' * len(names))})"
    if dialect.name != "sqlite":
        arrays = ", ".join(f"%s::{kind.compile(dialect)}[]" for kind in kinds)
        given = f"SELECT * FROM unnest({arrays})"  # noqa: S608
    return f'INSERT INTO "{table.__tablename__}" ({into}) {given}'


def _on_conflict(table: type[SQLModel], names: Sequence[str], gives_way: str) -> str:
    if not gives_way:
        return "ON CONFLICT DO NOTHING"
    keys = [column.name for column in bare(table) if column.primary_key]
    key = ", ".join(f'"{name}"' for name in keys)
    given = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name not in keys)
    return f"ON CONFLICT ({key}) DO UPDATE SET {given} WHERE {gives_way}"


def _maker(kind: Any, dialect: Dialect) -> Any:
    """What makes a value of a type fit for the driver; most JSON here is empty, and encoding that
    costs an insert."""
    if isinstance(kind, JSON):
        return lambda value: "{}" if value == {} else json.dumps(value)
    return kind.dialect_impl(dialect).bind_processor(dialect)


def claim(db: Session, table: type[SQLModel], row: Mapping[str, Any]) -> bool:
    """Insert one row; say whether it is ours, or whether somebody was there before."""
    statement = _insert(db, table).values(row).on_conflict_do_nothing().returning(literal(1))
    return db.connection().execute(statement).first() is not None


def _insert(db: Session, table: type[SQLModel]) -> Any:
    backend = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    return backend.insert(table.__table__)  # type: ignore[attr-defined]


def alone(db: Session, name: str) -> None:
    """Be the only one inside this name until the transaction ends. SQLite has one writer anyway."""
    if db.get_bind().dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
        db.connection().execute(select(func.pg_advisory_xact_lock(number)))
    else:
        db.connection().exec_driver_sql("UPDATE alembic_version SET version_num = version_num")


def put(db: Session, table: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows; where a key is there already, the new values stand."""
    if not rows:
        return
    statement = _insert(db, table)
    keys = [column.name for column in statement.table.primary_key]
    rest = {name: statement.excluded[name] for name in rows[0] if name not in keys}
    merged = (
        statement.on_conflict_do_update(index_elements=keys, set_=rest)
        if rest
        else statement.on_conflict_do_nothing()
    )
    db.connection().execute(merged, list(rows))
