"""Every row the project keeps. Natural keys make each write repeatable: the same fact twice is one row."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Index, Text, UniqueConstraint
from sqlalchemy.types import TypeDecorator
from sqlmodel import Column, Field, SQLModel

from infra.columns import count_column
from infra.indexes import only_on_postgresql

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcTime(TypeDecorator[datetime]):
    """A moment with its zone on every database; SQLite alone would forget it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def json_column() -> Any:
    """A column of JSON that is never null."""
    return Field(default_factory=dict, sa_column=Column(JSON, nullable=False))


def time_column(nullable: bool = False) -> Any:
    """A column for a moment; not null means: now, when the row is made."""
    if nullable:
        return Field(default=None, sa_column=Column(UtcTime, nullable=True))
    return Field(default_factory=now, sa_column=Column(UtcTime, nullable=False))


def text_column() -> Any:
    """A column for text of any length, empty by default."""
    return Field(default="", sa_column=Column(Text, nullable=False))


class Suite(SQLModel, table=True):
    """A benchmark as the code declares it; the catalogue keeps it in step."""

    __tablename__ = "suite"
    name: str = Field(primary_key=True)
    position: int
    version: str
    scorer_version: str
    items_sha256: str
    title: str
    sentence: str = text_column()
    paper: str = text_column()
    ranked: str = text_column()
    facet_titles: dict[str, str] = json_column()
    subsets: dict[str, int] = json_column()
    accepts: list[str] = json_column()
    facts: list[dict[str, str]] = json_column()


class Metric(SQLModel, table=True):
    """What a number means: title, unit, range, direction, formula."""

    __tablename__ = "metric"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    name: str = Field(primary_key=True)
    position: int
    title: str
    unit: str
    direction: str
    worst: float
    best: float
    explain: str = text_column()
    headline: bool


class Sample(SQLModel, table=True):
    """One item of a suite version, as the public may see it."""

    __tablename__ = "sample"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    version: str = Field(primary_key=True)
    id: str = Field(primary_key=True)
    position: int
    scenario: str
    task: str
    setting: str
    modality: str
    cluster: str
    request_sha256: str
    prompt: str = text_column()
    questions: list[dict[str, Any]] = json_column()
    subsets: list[str] = json_column()


class Judge(SQLModel, table=True):
    """Who decided: a model with everything that can change its verdicts, people, or a paper."""

    __tablename__ = "judge"
    fingerprint: str = Field(primary_key=True)
    name: str
    kind: str
    card: dict[str, Any] = json_column()


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


class Verdict(SQLModel, table=True):
    """One judge's answer to one question about one file. Not tied to a run: the same thing is never judged twice."""

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

    `if_worst` and `if_best` are what it would be if everything unknown in it were as bad, and as good, as can be.
    """

    __tablename__ = "cell"
    __table_args__ = (only_on_postgresql("ix_cell_address", "metric", "scenario", "task", "setting", "modality"),)
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


class CurationCall(SQLModel, table=True):
    """One question put to a language model for a new bank: `done`, `failed` (its reply stayed bad) or `error`."""

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
    """One thing that people decide about on the way to a new bank: candidate, kept, edited or dropped."""

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


class Team(SQLModel, table=True):
    """Who hands things in through the API; a blocked team hands in nothing."""

    __tablename__ = "team"
    name: str = Field(primary_key=True)
    contact: str = ""
    state: str = "active"
    created_at: datetime = time_column()


class Token(SQLModel, table=True):
    """A key to the API. Only its SHA-256 is kept, and its first characters to tell it by."""

    __tablename__ = "token"
    sha256: str = Field(primary_key=True)
    prefix: str = Field(index=True)
    team: str = Field(foreign_key="team.name", index=True)
    scopes: list[str] = json_column()
    created_at: datetime = time_column()
    expires_at: datetime = time_column()
    revoked_at: datetime | None = time_column(nullable=True)
    last_used_at: datetime | None = time_column(nullable=True)


class Upload(SQLModel, table=True):
    """A bundle on its way in: promised, then sent, then finished as a submission or refused."""

    __tablename__ = "upload"
    __table_args__ = (UniqueConstraint("team", "idempotency_key"),)
    id: str = Field(primary_key=True)
    team: str = Field(foreign_key="team.name", index=True)
    idempotency_key: str
    request_sha256: str
    suite: str
    size: int = count_column()
    sha256: str
    state: str = Field(index=True)
    submission_id: str | None = None
    problems: list[dict[str, Any]] = json_column()
    detail: dict[str, Any] = json_column()
    created_at: datetime = time_column()
    expires_at: datetime = time_column()
    updated_at: datetime = time_column()


class QuotaUse(SQLModel, table=True):
    """One scored submission that counts against its team's quota, unless it was given back."""

    __tablename__ = "quota_use"
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    team: str = Field(index=True)
    suite: str
    started_at: datetime = time_column()
    ended_at: datetime | None = time_column(nullable=True)
    returned_at: datetime | None = time_column(nullable=True)


class Attempt(SQLModel, table=True):
    """How often something was tried in one span of time; old rows may be deleted."""

    __tablename__ = "attempt"
    what: str = Field(primary_key=True)
    window: int = count_column(primary_key=True)
    count: int = count_column(default=0)


# Their own modules, one a subject; known to the metadata by being imported here.
from infra import (  # noqa: E402
    tables_board,  # noqa: F401
    tables_door,  # noqa: F401
    tables_failures,  # noqa: F401
    tables_flags,  # noqa: F401
    tables_operations,  # noqa: F401
    tables_standing,  # noqa: F401
    tables_study,  # noqa: F401
)
