"""Rows of submitters: teams, their API tokens and requests for one, uploads, quota uses, and counts
for rate limits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlmodel import Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column


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


class TokenRequest(SQLModel, table=True):
    """Somebody without a token asks for one; its code, kept as a hash, picks the token up after an
    operator confirmed."""

    __tablename__ = "token_request"
    id: str = Field(primary_key=True)
    code_sha256: str
    team: str
    contact: str
    about: str = text_column()
    state: str = Field(index=True)
    created_at: datetime = time_column()
    decided_at: datetime | None = time_column(nullable=True)
    decided_by: str = ""


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


class RateCount(SQLModel, table=True):
    """How often something was tried in one span of time; old rows may be deleted."""

    __tablename__ = "attempt"
    what: str = Field(primary_key=True)
    window: int = count_column(primary_key=True)
    count: int = count_column(default=0)
