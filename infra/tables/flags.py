"""The rows of what is worth a second look."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field, SQLModel

from infra.tables.columns import text_column, time_column


class Flag(SQLModel, table=True):
    """One remark about one output. It changes no score; a reader can filter by it."""

    __tablename__ = "flag"
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    sample_id: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    text: str = text_column()
    at: datetime = time_column()
