"""The SELECTs about how far to trust a place: whether the judge sees, attempts, places that moved,
private samples, and what repeats add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from sqlmodel import Session, col, select

from infra.tables import Judge, Run, Submission
from infra.tables.board import Passage
from infra.tables.standing import (
    AttemptRow,
    BoardSight,
    Hidden,
    Noise,
    PanelSplit,
    RankChange,
)

if TYPE_CHECKING:
    from leaderboard.queries.ranking import RankedEntry

Row = TypeVar("Row", Hidden, Noise)


LEADS = {
    "blind": "Not ranked: this board's judge is blind.",
    "not examined": "Not ranked: this board's judge is not examined.",
}
EXAM = "exam"
"""The kind of the passage that tells a suite's exam on the Methods page."""
NO_VERDICT = "Nobody has asked yet whether its judge looks; the next night does."
RANKED_UNSEEN = "Ranked by a judge that is not examined."


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt of a team on a board, and whether it moved the team's score for this model."""

    attempt: int
    at: datetime
    model: str
    moved: bool
    gain: float | None
    step: float | None
    stands: bool
    text: str


@dataclass(frozen=True, slots=True)
class NewPlace:
    """An entry whose place on a board is another than on the board before, and why."""

    model: str
    metric: str
    modality: str
    rank_before: int | None
    rank: int | None
    value_before: float | None
    value: float | None
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PrivateFigure:
    """A metric on private samples, and how much better the entry is in public; marked past two
    standard errors."""

    metric: str
    scenario: str
    task: str
    setting: str
    modality: str
    value: float | None
    low: float | None
    high: float | None
    n_scored: int
    n_expected: int
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    marked: bool
    text: str


@dataclass(frozen=True, slots=True)
class BoardNotice:
    """What is to be said above a board: whether its judge sees, and if it has no ranks, why."""

    board: str
    verdict: str
    ranked: bool
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        """The notice in words; empty for a judge that sees."""
        if self.verdict == "sees":
            return ""
        lead = RANKED_UNSEEN if self.ranked else LEADS[self.verdict]
        return " ".join((lead, *self.reasons))


def attempts(db: Session, board: str, team: str) -> list[Try]:
    """A team's attempts on one board, in their order; `stands` marks those whose score is the
    public one now."""
    query = (
        select(AttemptRow)
        .where(AttemptRow.board == board, AttemptRow.team == team)
        .order_by(col(AttemptRow.attempt))
    )
    rungs = list(db.exec(query))
    last = {rung.model: rung.stands for rung in rungs}
    return [
        Try(
            rung.attempt,
            rung.at,
            rung.model,
            rung.moves,
            rung.gain,
            rung.step,
            rung.run_id in last.values(),
            rung.text,
        )
        for rung in rungs
    ]


def new_places(db: Session, board: str, run_id: str | None = None) -> list[NewPlace]:
    """Who stands elsewhere on a board than on the one before it, the largest moves first; or one
    run only. A board whose ranks are withheld has no places."""
    withheld = notice(db, board)
    if withheld and not withheld.ranked:
        return []
    columns = (RankChange.metric, RankChange.modality, RankChange.rank_before, RankChange.rank)
    values = (RankChange.value_before, RankChange.value, RankChange.reason, RankChange.at)
    query = (
        select(Submission.model, *columns, *values)  # type: ignore[call-overload]
        .join(Submission, col(Submission.id) == col(RankChange.submission_id))
        .where(RankChange.board == board)
        .order_by(RankChange.metric, RankChange.modality, Submission.model)
    )
    rows = db.execute(query.where(RankChange.run_id == run_id) if run_id else query)
    return sorted((NewPlace(*row) for row in rows), key=_move, reverse=True)


def _move(place: NewPlace) -> int:
    return abs((place.rank or 0) - (place.rank_before or 0))


def private_figures(db: Session, run_id: str) -> list[PrivateFigure]:
    """A run on private samples: aggregates only."""
    names = tuple(PrivateFigure.__dataclass_fields__)
    return [
        PrivateFigure(*(getattr(row, name) for name in names)) for row in of_run(db, Hidden, run_id)
    ]


def of_run(db: Session, table: type[Row], run_id: str) -> list[Row]:
    """A run's rows of a table, in the order of their keys: aggregates on private samples, or what
    repeats moved."""
    columns = table.__table__  # type: ignore[attr-defined]
    return list(
        db.exec(select(table).where(columns.c.run_id == run_id).order_by(*columns.primary_key))
    )


def notices(db: Session, boards: Iterable[str]) -> dict[str, BoardNotice]:
    """The verdict of each board whose judge an exam is for; people and rules have none. A board
    that ought to have one and has not is not examined."""
    wanted = sorted(set(boards))
    rows = db.exec(select(BoardSight).where(col(BoardSight.board).in_(wanted)))
    told = {
        row.board: BoardNotice(row.board, row.verdict, row.ranked, tuple(row.reasons))
        for row in rows
    }
    for board in _unexamined(db, [board for board in wanted if board not in told]):
        told[board] = BoardNotice(board, "not examined", False, (NO_VERDICT,))
    return told


def _unexamined(db: Session, boards: Sequence[str]) -> list[str]:
    """Those of the boards whose judge is a machine, in a suite that brings an exam."""
    if not boards:
        return []
    query = (
        select(Run.board)
        .join(Judge, col(Judge.fingerprint) == col(Run.judge))
        .join(Passage, (col(Passage.suite) == col(Run.suite)) & (col(Passage.kind) == EXAM))
        .where(col(Run.board).in_(boards), Judge.kind == "auto")
        .distinct()
    )
    return sorted(db.exec(query))


def notice(db: Session, board: str) -> BoardNotice | None:
    """The verdict of one board, if its judge is one that an exam is for."""
    return notices(db, [board]).get(board)


def too_good(entries: Sequence[RankedEntry], best_is_high: bool) -> list[str]:
    """Say which sanity rows of one board tie or beat entries, and which."""
    return list(alarms(entries, best_is_high).values())


def alarms(entries: Sequence[RankedEntry], best_is_high: bool) -> dict[str, str]:
    """Say of each sanity row of one board, by its run, which entries it ties or beats."""
    sign = 1 if best_is_high else -1
    sentences = {}
    for row in entries:
        if row.role != "sanity" or row.value is None:
            continue
        reached = [
            entry.model
            for entry in entries
            if entry.role == "entry"
            and entry.value is not None
            and sign * entry.value <= sign * row.value
        ]
        if reached:
            text = f"The sanity row {row.model!r} ties or beats {_listed(reached)}."
            sentences[row.run_id] = text
    return sentences


def panel_splits(db: Session, boards: Iterable[str]) -> dict[str, float]:
    """The share of divided answers of each run that a panel judged."""
    query = select(PanelSplit).where(col(PanelSplit.board).in_(sorted(set(boards))))
    return {row.run_id: row.split / row.questions for row in db.exec(query) if row.questions}


def _listed(models: Sequence[str]) -> str:
    if len(models) > 3:
        return f"{', '.join(models[:3])} and {len(models) - 3} more"
    return ", ".join(models)
