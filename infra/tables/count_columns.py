"""Columns for bytes, tokens and counts: 64 bits on every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Integer
from sqlmodel import Field

WIDE = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite's INTEGER holds 64 bits already; PostgreSQL's ends at 2,147,483,647."""


def count_column(**options: Any) -> Any:
    """A column for a whole number that may grow past two thousand million."""
    return Field(sa_type=WIDE, **options)
