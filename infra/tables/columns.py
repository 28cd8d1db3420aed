"""Column types that every table uses, and the clock."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator
from sqlmodel import Column, Field, SQLModel

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


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
