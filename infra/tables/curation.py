"""Rows of curating an item bank: calls to a language model, drafts that people decide about, and
what people find in a bank that is in use."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, UniqueConstraint
from sqlmodel import Column, Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column


class CurationCall(SQLModel, table=True):
    """One question put to a language model for a new bank: `done`, `failed` (its reply stayed bad)
    or `error`."""

    __tablename__ = "curation_call"
    id: str = Field(primary_key=True)
    curation: str = Field(index=True)
    step: str
    subject: str
    status: str
    reason: str = text_column()
    model: str
    prompt_version: str
    temperature: float | None = None
    payload: dict[str, Any] = json_column()
    raw: str = text_column()
    tries: int = 0
    tokens_in: int = count_column(default=0)
    tokens_out: int = count_column(default=0)
    cost: float = 0.0
    at: datetime = time_column()


class Draft(SQLModel, table=True):
    """One thing that people decide about on the way to a new bank: candidate, kept, edited or
    dropped."""

    __tablename__ = "draft"
    __table_args__ = (Index("ix_draft_curation_status", "curation", "status"),)
    id: str = Field(primary_key=True)
    call_id: str = Field(foreign_key="curation_call.id", index=True)
    curation: str
    step: int
    kind: str
    task_id: str = Field(index=True)
    instance: int | None = None
    field: str
    position: int
    payload: dict[str, Any] = json_column()
    edited: dict[str, Any] = json_column()
    context: dict[str, Any] = json_column()
    note: str = text_column()
    status: str
    reviewer: str = ""
    reason: str = text_column()
    created_at: datetime = time_column()
    decided_at: datetime | None = time_column(nullable=True)


class BankTask(SQLModel, table=True):
    """One task of one version of a bank, and the people who may read or settle it."""

    __tablename__ = "bank_task"
    id: str = Field(primary_key=True)
    suite: str = Field(foreign_key="suite.name", index=True)
    version: str
    task: str
    people: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    opened_at: datetime = time_column()
    closed_by: str = ""
    closed_at: datetime | None = time_column(nullable=True)


class BankReading(SQLModel, table=True):
    """One person's reading of a task. A task has as many slots as readers, and nobody has two."""

    __tablename__ = "bank_reading"
    __table_args__ = (UniqueConstraint("review", "reader"),)
    review: str = Field(primary_key=True, foreign_key="bank_task.id")
    slot: int = Field(primary_key=True)
    reader: str
    begun_at: datetime = time_column()
    read_at: datetime | None = time_column(nullable=True)


class BankFault(SQLModel, table=True):
    """What one reader calls wrong with an item, or with one question of it."""

    __tablename__ = "bank_fault"
    review: str = Field(primary_key=True, foreign_key="bank_task.id")
    reader: str = Field(primary_key=True)
    item: str = Field(primary_key=True)
    question: str = Field(primary_key=True)
    category: str = Field(primary_key=True)
    note: str = text_column()
    change: str = text_column()
    at: datetime = time_column()


class BankSettlement(SQLModel, table=True):
    """What a third person made of a fault that one or both readers found."""

    __tablename__ = "bank_settlement"
    review: str = Field(primary_key=True, foreign_key="bank_task.id")
    item: str = Field(primary_key=True)
    question: str = Field(primary_key=True)
    category: str = Field(primary_key=True)
    settler: str
    decision: str
    note: str = text_column()
    change: str = text_column()
    at: datetime = time_column()
