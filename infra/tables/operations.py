"""Rows of operations: leases of workers, samples given up, nightly runs and their changes, judge
drift, freezes."""

from __future__ import annotations

from datetime import date as Day
from datetime import datetime
from typing import Any

from sqlalchemy import Date, Index
from sqlmodel import Column, Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column

LEASE_EXPIRED = "lease_expired"
"""The kind of the event that tells of a dead worker."""


class Lease(SQLModel, table=True):
    """Who works on something just now. `held` past its expiry is a dead worker's; `free` has no
    owner."""

    __tablename__ = "lease"
    __table_args__ = (Index("ix_lease_state_expires_at", "state", "expires_at"),)
    subject: str = Field(primary_key=True)
    kind: str
    state: str
    owner: str = ""
    flow_run_id: str = Field(default="", index=True)
    attempts: int = 0
    parameters: dict[str, Any] = json_column()
    reason: str = text_column()
    acquired_at: datetime = time_column()
    heartbeat_at: datetime = time_column()
    expires_at: datetime = time_column()
    not_before: datetime | None = time_column(nullable=True)


class SetAside(SQLModel, table=True):
    """A sample that was given up after three tries, so that the rest could go on."""

    __tablename__ = "set_aside"
    owner: str = Field(primary_key=True)
    stage: str = Field(primary_key=True)
    sample_id: str = Field(primary_key=True)
    tries: int
    reason: str = text_column()
    at: datetime = time_column()


class RunMark(SQLModel, table=True):
    """What a run's numbers were computed with, beside what its board's key says; the nightly
    compares it."""

    __tablename__ = "run_mark"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    judge_setting: str
    items_sha256: str
    code_sha256: str
    at: datetime = time_column()


class Sign(SQLModel, table=True):
    """When a loop that runs for ever last came round, and which process it was."""

    __tablename__ = "sign"
    name: str = Field(primary_key=True)
    owner: str
    at: datetime = time_column()


class CodeVersion(SQLModel, table=True):
    """The code that computed a suite's numbers, by its hash: release, commit, and the hash of each
    module, so that a night can tell what changed."""

    __tablename__ = "code_version"
    code_sha256: str = Field(primary_key=True)
    suite: str = Field(primary_key=True)
    release: str
    commit: str
    modules: dict[str, str] = json_column()
    at: datetime = time_column()


class Night(SQLModel, table=True):
    """One nightly run; named by its date, so there is one a date however often it fires."""

    __tablename__ = "night"
    night: Day = Field(sa_column=Column(Date, primary_key=True))
    state: str
    late: bool = False
    due_at: datetime = time_column()
    started_at: datetime = time_column()
    finished_at: datetime | None = time_column(nullable=True)
    seconds: float = 0.0
    submissions: int = count_column(default=0)
    stale: int = count_column(default=0)
    recomputed: int = count_column(default=0)
    failed: int = count_column(default=0)
    judge_calls: int = count_column(default=0)
    moved: int = count_column(default=0)
    alarms: int = count_column(default=0)
    text: str = text_column()


class Change(SQLModel, table=True):
    """A cell that moved in a night: from what to what, and why. `run_before` differs when the
    board's key changed."""

    __tablename__ = "change"
    __table_args__ = (Index("ix_change_night_suite", "night", "suite"),)
    night: Day = Field(sa_column=Column(Date, primary_key=True))
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    metric: str = Field(primary_key=True)
    scenario: str = Field(primary_key=True)
    task: str = Field(primary_key=True)
    setting: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    suite: str
    submission_id: str = Field(foreign_key="submission.id", index=True)
    board: str
    run_before: str
    cause: str
    before: float | None = None
    after: float | None = None
    text: str = text_column()


class Anchor(SQLModel, table=True):
    """One question about one fixed output that a judge is asked every night, and the answer it
    should give."""

    __tablename__ = "anchor"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    judge: str = Field(primary_key=True, foreign_key="judge.fingerprint")
    media_sha256: str = Field(primary_key=True)
    sample_id: str = Field(primary_key=True)
    question_id: str = Field(primary_key=True)
    submission_id: str = Field(foreign_key="submission.id")
    media_type: str
    value: str
    source: str
    at: datetime = time_column()


class Drift(SQLModel, table=True):
    """How a judge answered again in a night: anchors against their known answers, a drawn sample
    against itself."""

    __tablename__ = "drift"
    night: Day = Field(sa_column=Column(Date, primary_key=True))
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    judge: str = Field(primary_key=True, foreign_key="judge.fingerprint")
    what: str = Field(primary_key=True)
    outputs: int = count_column()
    questions: int = count_column()
    agreement: float | None = None
    low: float | None = None
    high: float | None = None
    kappa: float | None = None
    bound: float | None = None
    alarm: bool = False
    cost: float = 0.0
    text: str = text_column()
    at: datetime = time_column()


class Freeze(SQLModel, table=True):
    """A judge that is not trusted just now: nothing new goes onto its boards until an operator
    lifts it."""

    __tablename__ = "freeze"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    judge: str = Field(primary_key=True, foreign_key="judge.fingerprint")
    since: datetime = time_column()
    reason: str = text_column()
    lifted_at: datetime | None = time_column(nullable=True)
    lifted_by: str = ""
