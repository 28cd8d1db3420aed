"""Rows of curating an item bank: calls to a language model, and drafts that people decide about."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index
from sqlmodel import Field, SQLModel

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
