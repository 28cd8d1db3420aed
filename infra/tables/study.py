"""Rows of human studies. Answers are stored apart from the raters' contacts; a pseudonym joins
them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlmodel import Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column


class Study(SQLModel, table=True):
    """A question put to people about some outputs. `rule` says who is left out, and is fixed before
    it opens."""

    __tablename__ = "study"
    id: str = Field(primary_key=True)
    suite: str = Field(index=True)
    version: str
    protocol: str
    title: str
    state: str
    raters_per_item: int
    session_items: int
    minutes: int
    seed: int = count_column()
    instructions: str = text_column()
    consent: str = text_column()
    consent_version: str
    rule: dict[str, Any] = json_column()
    result: dict[str, Any] = json_column()
    created_at: datetime = time_column()
    opened_at: datetime | None = time_column(nullable=True)
    closed_at: datetime | None = time_column(nullable=True)
    published_at: datetime | None = time_column(nullable=True)


class StudyProtocol(SQLModel, table=True):
    """How the people of a suite's studies rate, as the code declares it; the catalogue keeps it in
    step. Where raters are `adjudicated`, an adjudicator decides what they disagree on."""

    __tablename__ = "study_protocol"
    name: str = Field(primary_key=True)
    adjudicated: bool
    examples: list[str] = json_column()


class StudyItem(SQLModel, table=True):
    """One thing shown. `form` reaches the rater, `behind` (whose outputs these are) and `expected`
    never do."""

    __tablename__ = "study_item"
    id: str = Field(primary_key=True)
    study_id: str = Field(foreign_key="study.id", index=True)
    position: int
    kind: str
    form: dict[str, Any] = json_column()
    behind: dict[str, Any] = json_column()
    expected: dict[str, Any] = json_column()


class Rater(SQLModel, table=True):
    """A pseudonym with a key. `team` keeps people away from their own outputs."""

    __tablename__ = "rater"
    id: str = Field(primary_key=True)
    study_id: str = Field(foreign_key="study.id", index=True)
    number: int
    token_sha256: str = Field(unique=True)
    team: str = ""
    role: str = "primary"
    consent_version: str = ""
    consented_at: datetime | None = time_column(nullable=True)
    created_at: datetime = time_column()


class RaterContact(SQLModel, table=True):
    """How to reach a rater; may be deleted at any time, and nothing else knows it."""

    __tablename__ = "rater_contact"
    rater_id: str = Field(primary_key=True, foreign_key="rater.id")
    email: str


class Seat(SQLModel, table=True):
    """One of an item's places: whose it is, and what was answered. A started seat falls free after
    a time."""

    __tablename__ = "seat"
    __table_args__ = (UniqueConstraint("item_id", "rater_id"),)
    item_id: str = Field(primary_key=True, foreign_key="study_item.id")
    slot: int = Field(primary_key=True)
    study_id: str = Field(foreign_key="study.id", index=True)
    rater_id: str = Field(foreign_key="rater.id", index=True)
    turn: int
    state: str = "waiting"
    order: str = ""
    answers: dict[str, Any] = json_column()
    comment: str = text_column()
    seconds: float = 0.0
    started_at: datetime | None = time_column(nullable=True)
    seen_at: datetime | None = time_column(nullable=True)
    done_at: datetime | None = time_column(nullable=True)


class SeatEvent(SQLModel, table=True):
    """What was sent for a seat, when; answers change by a new line, never by an edit."""

    __tablename__ = "seat_event"
    id: int | None = Field(default=None, primary_key=True)
    item_id: str = Field(index=True)
    rater_id: str = Field(index=True)
    kind: str
    answers: dict[str, Any] = json_column()
    at: datetime = time_column()


class StudyOrder(SQLModel, table=True):
    """Something an operator ordered on the page: a study to be made or published. `text` is what
    became of it."""

    __tablename__ = "study_order"
    id: int | None = Field(default=None, primary_key=True)
    kind: str
    study_id: str
    wanted: dict[str, Any] = json_column()
    state: str = Field(default="waiting", index=True)
    text: str = text_column()
    at: datetime = time_column()
