"""Rows that an evaluation writes: shards, outputs, replies, verdicts, scores, cells."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel

from infra.tables.columns import (
    count_column,
    json_column,
    only_on_postgresql,
    text_column,
    time_column,
)


class Shard(SQLModel, table=True):
    """A piece of work that is done: its result is one object in the store."""

    __tablename__ = "shard"
    owner: str = Field(primary_key=True)
    stage: str = Field(primary_key=True)
    inputs_sha256: str = Field(primary_key=True)
    key: str
    sha256: str
    items: int = count_column()
    seconds: float
    at: datetime = time_column()


class Output(SQLModel, table=True):
    """What a submission gave for a sample; the file lies in the store under its hash."""

    __tablename__ = "output"
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    sample_id: str = Field(primary_key=True)
    outcome: str
    reason: str = text_column()
    media_sha256: str = Field(default="", index=True)
    media_type: str = ""
    size: int = count_column(default=0)
    record: dict[str, Any] = json_column()


class Reply(SQLModel, table=True):
    """One call to a judge, in its own words."""

    __tablename__ = "reply"
    id: str = Field(primary_key=True)
    judge: str = Field(foreign_key="judge.fingerprint")
    media_sha256: str = Field(index=True)
    raw: str = text_column()
    tokens_in: int = count_column(default=0)
    tokens_out: int = count_column(default=0)
    cost: float = 0.0
    at: datetime = time_column()


def question_key(request_sha256: str, question_id: str) -> str:
    """A verdict's `question_sha256`: the hash of one question in its request; questions asked
    together belong together."""
    return hashlib.sha256(f"{request_sha256} {question_id}".encode()).hexdigest()


class Verdict(SQLModel, table=True):
    """One judge's answer to one question about one file. Not tied to a run: the same thing is never
    judged twice."""

    __tablename__ = "verdict"
    judge: str = Field(primary_key=True, foreign_key="judge.fingerprint")
    media_sha256: str = Field(primary_key=True)
    question_sha256: str = Field(primary_key=True)
    repeat: int = Field(primary_key=True)
    outcome: str
    value: str | None = None
    reason: str = text_column()
    reply_id: str = Field(foreign_key="reply.id")


class Score(SQLModel, table=True):
    """One metric of one sample in one run."""

    __tablename__ = "score"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    sample_id: str = Field(primary_key=True)
    metric: str = Field(primary_key=True)
    outcome: str
    value: float | None = None
    detail: dict[str, Any] = json_column()


class Cell(SQLModel, table=True):
    """A metric over all samples at one address of one run. `*` is: over all values of that facet.

    `if_worst` and `if_best` are what it would be if everything unknown in it were as bad, and as
    good, as can be.
    """

    __tablename__ = "cell"
    __table_args__ = (
        only_on_postgresql("ix_cell_address", "metric", "scenario", "task", "setting", "modality"),
    )
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    metric: str = Field(primary_key=True)
    scenario: str = Field(primary_key=True)
    task: str = Field(primary_key=True)
    setting: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    value: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    if_worst: float | None = None
    if_best: float | None = None
    n_scored: int | None = count_column(default=None)
    n_expected: int | None = count_column(default=None)
    why_empty: str = ""
    source: str = text_column()
    note: str = text_column()
