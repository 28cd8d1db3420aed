"""Rows of what was handed in: submissions, their runs, their timeline."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlmodel import Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column


class Submission(SQLModel, table=True):
    """Something handed in, and where it stands."""

    __tablename__ = "submission"
    id: str = Field(primary_key=True)
    team: str
    model: str
    organisation: str
    suite: str = Field(foreign_key="suite.name", index=True)
    suite_version: str
    subset: str
    kind: str
    trust: str
    role: str = Field(default="entry", sa_column_kwargs={"server_default": "entry"})
    state: str = Field(index=True)
    bundle_sha256: str
    contents_sha256: str = Field(default="", index=True)
    fault: str = ""
    code: str = ""
    created_at: datetime = time_column()
    updated_at: datetime = time_column()
    # Long ones last: a row store reads past them to reach what stands behind.
    reason: str = text_column()
    manifest: dict[str, Any] = json_column()


class Run(SQLModel, table=True):
    """One evaluation of a submission under one board's rules; its cells are what a board shows."""

    __tablename__ = "run"
    __table_args__ = (Index("ix_run_board_state", "board", "state"),)
    id: str = Field(primary_key=True)
    submission_id: str = Field(foreign_key="submission.id", index=True)
    board: str
    suite: str = Field(foreign_key="suite.name")
    suite_version: str
    scorer_version: str
    subset: str
    judge: str = Field(foreign_key="judge.fingerprint")
    state: str
    eligible: bool
    why_not: str = text_column()
    n_scored: int | None = count_column(default=None)
    n_expected: int | None = count_column(default=None)
    created_at: datetime = time_column()
    published_at: datetime | None = time_column(nullable=True)


class Event(SQLModel, table=True):
    """What happened, in words, in order; rows are only ever added."""

    __tablename__ = "event"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime = time_column()
    subject: str = Field(index=True)
    actor: str
    kind: str
    text: str = text_column()
    detail: dict[str, Any] = json_column()
