"""Rows of ranks and of trust: rosters and standings with their certainty, attempts, receipts, the
chain of seals, and the exams of judges."""

from __future__ import annotations

from datetime import date as Day
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import JSON, Dialect, Index, LargeBinary
from sqlalchemy.types import TypeDecorator
from sqlmodel import Column, Field, SQLModel

from infra.tables.columns import count_column, json_column, text_column, time_column

NOTHING = -(1 << 31)
"""Stands for None among whole numbers."""


class PackedCounts(TypeDecorator[list[int | None]]):
    """Whole numbers as little-endian int32: a board of thousands is written anew with each entry,
    and JSON is slow."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes:  # noqa: ARG002
        if isinstance(value, list) and None in value:
            value = [NOTHING if number is None else number for number in value]
        return np.asarray(value, "<i4").tobytes()

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> list[int | None]:  # noqa: ARG002
        numbers: list[int | None] = np.frombuffer(value or b"", "<i4").tolist()
        return (
            [None if number == NOTHING else number for number in numbers]
            if NOTHING in numbers
            else numbers
        )


def counts_column() -> Any:
    """A column of whole numbers that is never null."""
    return Field(default_factory=list, sa_column=Column(PackedCounts, nullable=False))


def bytes_column() -> Any:
    """A column of bytes that is never null."""
    return Field(default=b"", sa_column=Column(LargeBinary, nullable=False))


class Summary(SQLModel, table=True):
    """What each task adds to a run's ranked cells: all that a comparison with another run needs.

    `samples_sha256` names the samples that were asked for; only runs of one board with one such
    hash are comparable. Arrays are little-endian: float64 `figures`, int32 `clusters` and
    `influence`, in the order of the roster's columns.
    """

    __tablename__ = "summary"
    __table_args__ = (
        Index("ix_summary_board_samples_sha256_modality", "board", "samples_sha256", "modality"),
    )
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    modality: str = Field(primary_key=True)
    board: str
    samples_sha256: str
    figures: bytes = bytes_column()
    clusters: bytes = bytes_column()
    influence: bytes = bytes_column()


class Roster(SQLModel, table=True):
    """The runs that are ranked together: one board, the same samples, one modality or `*`. Places
    count from 0."""

    __tablename__ = "roster"
    board: str = Field(primary_key=True)
    samples_sha256: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    suite: str = Field(foreign_key="suite.name")
    n_samples: int = count_column()
    version: int = count_column(default=0)
    runs: list[str] = json_column()
    columns: list[list[Any]] = json_column()


class Standing(SQLModel, table=True):
    """The ranks of a roster for one metric at one address; each list has one number a run, in the
    roster's order.

    `better` and `worse` count who surely is; the true rank lies from 1 + better to runs - worse.
    `rank` is shared by those who cannot be told apart. `above` is the place of the lowest one that
    is surely better, or -1.
    """

    __tablename__ = "standing"
    board: str = Field(primary_key=True)
    samples_sha256: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    metric: str = Field(primary_key=True)
    scenario: str = Field(primary_key=True)
    task: str = Field(primary_key=True)
    setting: str = Field(primary_key=True)
    clusters: int = count_column()
    bar: float
    sizes: list[int] = counts_column()
    rank: list[int] = counts_column()
    better: list[int] = counts_column()
    worse: list[int] = counts_column()
    above: list[int] = counts_column()


class AttemptRow(SQLModel, table=True):
    """A scored run as its team's attempt on a board, and whether it is surely better than the best
    so far.

    `stands` is the run whose score is the team's public one for this model after this attempt.
    """

    __tablename__ = "rung"
    __table_args__ = (Index("ix_rung_board_team", "board", "team"),)
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    board: str
    team: str
    model: str
    attempt: int
    metric: str
    moves: bool
    gain: float | None = None
    step: float | None = None
    stands: str
    text: str = text_column()
    at: datetime = time_column()


class Hidden(SQLModel, table=True):
    """A metric on an operator's private samples against the public ones: aggregates only, never a
    sample."""

    __tablename__ = "hidden"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    metric: str = Field(primary_key=True)
    scenario: str = Field(primary_key=True)
    task: str = Field(primary_key=True)
    setting: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    bank_sha256: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_scored: int = count_column()
    n_expected: int = count_column()
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    gap_error: float | None = None
    marked: bool = False
    text: str = text_column()


class Noise(SQLModel, table=True):
    """What measuring again showed: how far the judge or the raters move a metric's mean for all
    outputs at once."""

    __tablename__ = "noise"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    metric: str = Field(primary_key=True)
    source: str = Field(primary_key=True)
    error: float
    outputs: int = count_column()
    times: int = count_column()
    at: datetime = time_column()


class RankChange(SQLModel, table=True):
    """An entry whose place differs between two boards of one suite, and why: another judge, another
    scorer."""

    __tablename__ = "rank_change"
    board: str = Field(primary_key=True)
    board_before: str = Field(primary_key=True)
    submission_id: str = Field(primary_key=True, foreign_key="submission.id")
    metric: str = Field(primary_key=True)
    modality: str = Field(primary_key=True)
    suite: str = Field(foreign_key="suite.name")
    run_id: str
    run_before: str
    rank_before: int | None = None
    rank: int | None = None
    value_before: float | None = None
    value: float | None = None
    reason: str = text_column()
    at: datetime = time_column()


class Receipt(SQLModel, table=True):
    """What an entry's numbers rest on, as canonical JSON, and its hash."""

    __tablename__ = "receipt"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    sha256: str
    text: str = text_column()
    at: datetime = time_column()


class Seal(SQLModel, table=True):
    """A link of the audit's chain: the digests of all rows of one table that belong to one owner,
    as they were then.

    The last link for a table and owner counts. Links are only ever added, and each holds the hash
    of the one before.
    """

    __tablename__ = "seal"
    __table_args__ = (Index("ix_seal_kind_owner", "kind", "owner"),)
    seq: int = count_column(primary_key=True)
    at: datetime = time_column()
    kind: str
    owner: str
    rows: int = count_column()
    digests: bytes = bytes_column()
    previous: str
    sha256: str


def texts_column() -> Any:
    """A column of a list of texts that is never null."""
    return Field(default_factory=list, sa_column=Column(JSON, nullable=False))


class JudgeExam(SQLModel, table=True):
    """A judge's sitting of a suite's exam: the first, or that of a night. The newest counts.

    `answers` names the objects in the store that hold what the judge said, word for word.
    `in_order` is the share of pairs of twins that it rated in the right order.
    """

    __tablename__ = "judge_exam"
    judge: str = Field(primary_key=True, foreign_key="judge.fingerprint")
    suite: str = Field(primary_key=True, foreign_key="suite.name")
    version: str = Field(primary_key=True)
    items_sha256: str = Field(primary_key=True)
    sitting: str = Field(primary_key=True)
    night: Day | None = None
    at: datetime = time_column()
    n: int = count_column()
    n_answered: int = count_column()
    answer_rate: float | None = None
    agreement: float | None = None
    agreement_low: float | None = None
    agreement_high: float | None = None
    chance: float | None = None
    kappa: float | None = None
    kappa_low: float | None = None
    kappa_high: float | None = None
    yes_bias: float | None = None
    yes_bias_low: float | None = None
    yes_bias_high: float | None = None
    n_pairs: int = count_column(default=0)
    in_order: float | None = None
    in_order_low: float | None = None
    in_order_high: float | None = None
    verdict: str
    reasons: list[str] = texts_column()
    answers: list[str] = texts_column()


class PanelSplit(SQLModel, table=True):
    """How far the judges of a panel were apart about a run: of how many questions that all of them
    answered, and to how many their answers were not one."""

    __tablename__ = "panel_split"
    run_id: str = Field(primary_key=True, foreign_key="run.id")
    board: str = Field(index=True)
    questions: int = count_column()
    split: int = count_column()


class BoardSight(SQLModel, table=True):
    """Whether a board's judge sees, with reasons; `ranked` says whether the board has ranks.

    A board without a row has a judge that no exam is for: people, or a suite's own rule; one of a
    machine in a suite with an exam counts as not examined.
    """

    __tablename__ = "board_sight"
    board: str = Field(primary_key=True)
    suite: str = Field(foreign_key="suite.name")
    judge: str = Field(foreign_key="judge.fingerprint")
    verdict: str
    ranked: bool
    reasons: list[str] = texts_column()
    at: datetime = time_column()
