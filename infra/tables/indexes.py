"""Indexes that only one kind of database has, and how Alembic is told of them."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Index


def only_on_postgresql(name: str, *columns: str) -> Index:
    """SQLite finds the same rows by key as fast, and would pay at each insert."""
    return Index(name, *columns, info={"only": "postgresql"}).ddl_if(dialect="postgresql")


def has(dialect: str) -> Callable[..., bool]:
    """Whether a database of this kind has an item, for Alembic, which does not ask the item
    itself."""
    return lambda item, *_: bool(item.info.get("only", dialect) == dialect)
