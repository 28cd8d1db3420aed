"""Rows of the intake beside the submissions: what was dropped into the inbox, and which notices
were sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel

from infra.tables.columns import json_column, text_column, time_column


class Drop(SQLModel, table=True):
    """One thing found in the inbox, once for each time it was put there: received or rejected."""

    __tablename__ = "drop"
    uri: str = Field(primary_key=True)
    version: str = Field(primary_key=True)
    team: str = Field(index=True)
    state: str
    submission_id: str | None = None
    problems: list[dict[str, Any]] = json_column()
    at: datetime = time_column()


class Notice(SQLModel, table=True):
    """A message that somebody is owed about a submission's end; `sent_at` is empty until it has
    gone out."""

    __tablename__ = "notice"
    event_id: int = Field(primary_key=True, foreign_key="event.id")
    channel: str = Field(primary_key=True)
    tries: int = 0
    sent_at: datetime | None = time_column(nullable=True)
    reason: str = text_column()
