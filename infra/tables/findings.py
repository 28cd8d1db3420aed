"""Rows of what was noticed about outputs beside their scores: failure modes of weak outputs, and
flags."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON
from sqlmodel import Column, Field, SQLModel

from infra.tables.columns import count_column, text_column, time_column


class FailureRow(SQLModel, table=True):
    """The failure modes of one weak output in one run; no primary one is: the judge named none.

    `decided_by` is empty for the judge's word; a person's word, with a reason, stands over it.
    """

    __tablename__ = "failure"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    sample_id: str = Field(primary_key=True)
    primary: str | None = None
    modes: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    decided_by: str = ""
    reason: str = text_column()


WHOLE_ENTRY = "*"
"""Stands for the sample in a remark about all outputs of an entry together."""


class Flag(SQLModel, table=True):
    """One remark about one output or a whole entry. It changes no score; a reader can filter by
    it."""

    __tablename__ = "flag"
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    sample_id: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    text: str = text_column()
    at: datetime = time_column()


class ItemStatisticRow(SQLModel, table=True):
    """What judged outputs say of one question of one instance; `position` 0 is the worst. `flags`
    are the reasons to look at it."""

    __tablename__ = "item_statistic"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    instance: str = Field(primary_key=True)
    question: str = Field(primary_key=True)
    version: str
    position: int
    text: str = text_column()
    n: int = count_column()
    entries: int = count_column()
    difficulty: float
    discrimination: float | None = None
    disagreement: float | None = None
    fallen: float
    flags: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    at: datetime = time_column()
