"""Rows that the code declares: suites, metrics, samples, and the judges that were met."""

from __future__ import annotations

from typing import Any

from sqlmodel import Field, SQLModel

from infra.tables.columns import json_column, text_column


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
