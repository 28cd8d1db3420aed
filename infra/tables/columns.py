"""Column types and indexes that the tables share, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Index, Integer, Text
from sqlalchemy.types import TypeDecorator
from sqlmodel import Column, Field, SQLModel

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
WIDE = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits on every database: SQLite's INTEGER has them already, PostgreSQL's ends at
2,147,483,647."""


class UtcTime(TypeDecorator[datetime]):
    """A moment with its zone on every database; SQLite alone would forget it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def json_column() -> Any:
    """A column of JSON that is never null."""
    return Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def time_column(nullable: bool = False) -> Any:
    """A column for a moment; not null means: now, when the row is made."""
    if nullable:
        return Field(default=None, sa_column=Column(UtcTime, nullable=True))
    return Field(default_factory=now, sa_column=Column(UtcTime, nullable=False))


def text_column() -> Any:
    """A column for text of any length, empty by default."""
    return Field(default="", sa_column=Column(Text, nullable=False))


def count_column(**options: Any) -> Any:
    """A column for bytes, tokens or counts, which may grow past two thousand million."""
    return Field(sa_type=WIDE, **options)


def only_on_postgresql(name: str, *columns: str) -> Index:
    """An index for PostgreSQL alone: SQLite finds the same rows by key as fast, and would pay at
    each insert."""
    return Index(name, *columns, info={"only": "postgresql"}).ddl_if(dialect="postgresql")


def index_exists_on(dialect: str) -> Callable[..., bool]:
    """Alembic's `include_object` filter: leaves out items that databases of this dialect do not
    have."""
    return lambda item, *_: bool(item.info.get("only", dialect) == dialect)
