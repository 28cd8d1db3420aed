"""Rows written at publication so that a page reads few: the addresses that have values, what
entries declare, texts."""

from __future__ import annotations

from sqlmodel import Field, SQLModel

from infra.tables.columns import count_column, text_column


class FigurePlace(SQLModel, table=True):
    """An address at which published runs have a value: how many of ours, how many of papers."""

    __tablename__ = "place"
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    metric: str = Field(primary_key=True)
    scenario: str = Field(primary_key=True)
    task: str = Field(primary_key=True)
    setting: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    ours: int = count_column()
    papers: int = count_column()


class Declared(SQLModel, table=True):
    """What a published entry says of itself and a ranking shows; its manifest, which lists every
    file, is too long."""

    __tablename__ = "declared"
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    weights: str = ""
    licence: str = ""
    parameters: float | None = None
    role: str = Field(default="entry", sa_column_kwargs={"server_default": "entry"})


class Passage(SQLModel, table=True):
    """Something to read word for word on the Methods page: a judge's or suite's prompt, the
    changelog."""

    __tablename__ = "passage"
    kind: str = Field(primary_key=True)
    suite: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    sha256: str
    text: str = text_column()
