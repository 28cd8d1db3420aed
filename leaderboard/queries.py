"""The SELECTs of rankings and of the catalogue. Nothing here scans scores: rankings come from cells."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlmodel import Session, and_, col, select

from infra.tables import Cell, Judge, Metric, Run, Submission, Suite
from infra.tables_board import Declared
from leaderboard import ranks

ALL = "*"
FACETS = ("scenario", "task", "setting", "modality")


class NotOnBoard(Exception):
    """A name the board does not know; the message says which ones it knows."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where on the board: a value or `*` for each facet."""

    scenario: str = ALL
    task: str = ALL
    setting: str = ALL
    modality: str = ALL


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a ranking; its true rank lies from `best_rank` to `worst_rank`, or `why_no_ranks` says why not."""

    rank: int | None
    model: str
    organisation: str
    team: str
    trust: str
    evaluator: str
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    n_scored: int | None
    n_expected: int | None
    judge: str
    subset: str
    board: str
    published_at: datetime | None
    submission_id: str
    note: str
    source: str
    run_id: str = ""
    version: str = ""
    best_rank: int | None = None
    worst_rank: int | None = None
    role: str = "entry"
    weights: str = ""
    attempt: int | None = None
    why_no_ranks: str = ""

    def brief(self) -> dict[str, Any]:
        """The columns for a terminal."""
        value = "—" if self.value is None else f"{self.value:.3f}"
        counted = "—" if self.n_expected is None else f"{self.n_scored}/{self.n_expected}"
        rank = "" if self.rank is None else str(self.rank)
        return {
            "rank": rank,
            "model": self.model,
            "trust": self.trust,
            "by": self.evaluator,
            "value": value,
            "n/N": counted,
            "set": self.subset,
            "note": self.note or self.source,
        }


def suites(db: Session) -> list[Suite]:
    """All suites, in the board's order."""
    return list(db.exec(select(Suite).order_by(col(Suite.position))))


def metrics(db: Session, suite: str) -> list[Metric]:
    """A suite's metrics, in its order."""
    return list(db.exec(select(Metric).where(Metric.suite == suite).order_by(col(Metric.position))))


def ranking(db: Session, suite: str, metric: str | None, at: Address) -> list[Entry]:
    """Entries at one address for one metric, best first; figures from papers come after, without a rank."""
    chosen = metric_named(db, suite, metric)
    judges = evaluators(db)
    found = [_entry(row, judges) for row in db.execute(_query(suite, chosen.name, at))]
    shown = [entry for entry in found if entry is not None]
    boards = {entry.board for entry in shown if entry.trust != "C"}
    stored, attempts = ranks.stored(db, boards, chosen.name, at), ranks.tried(db, boards)
    known = ranked(shown, best_is_high=chosen.direction == "higher")
    return [ranks.placed(entry, stored.get(entry.board), attempts) for entry in known]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who judged: a judge's name, and whether that is a machine (auto) or people (human)."""

    name: str
    by: str


def evaluators(db: Session) -> dict[str, Evaluator]:
    """All judges by fingerprint. They are few: a card read once is not read again for each of a thousand rows."""
    rows = db.execute(select(Judge.fingerprint, Judge.name, Judge.kind, Judge.card))
    return {key: Evaluator(name, str(card["model"]) if kind == "paper" else kind) for key, name, kind, card in rows}


def metric_named(db: Session, suite: str, name: str | None) -> Metric:
    """A suite's metric, the first if none is named."""
    known = metrics(db, suite)
    if not known:
        names = ", ".join(row.name for row in suites(db)) or "none yet: run `armillary init`"
        raise NotOnBoard(f"There is no suite {suite!r} on this board. There are: {names}.")
    for metric in known:
        if name in (None, metric.name):
            return metric
    raise NotOnBoard(f"{suite} has no metric {name!r}. It has: {', '.join(metric.name for metric in known)}.")


RUN = (Run.judge, Run.eligible, Run.why_not, Run.subset, Run.board, Run.published_at, Run.id, Run.suite_version)
SUBMISSION = (Submission.id, Submission.model, Submission.organisation, Submission.team, Submission.trust)
FIGURE = (Cell.value, Cell.low, Cell.high, Cell.spread, Cell.n_scored, Cell.n_expected)
WORDS = (Cell.why_empty, Cell.note, Cell.source)


def _query(suite: str, metric: str, at: Address) -> Any:
    """Columns by name: a submission's manifest lists every file and must not be read for a ranking."""
    address = [getattr(Cell, facet) == getattr(at, facet) for facet in FACETS]
    return (
        select(Cell.run_id, Submission.state, Submission.role, Declared.weights, *RUN, *SUBMISSION, *FIGURE, *WORDS)  # type: ignore[call-overload]
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .outerjoin(Declared, col(Declared.submission_id) == col(Submission.id))
        .outerjoin(Cell, and_(col(Cell.run_id) == col(Run.id), col(Cell.metric) == metric, *address))
        .select_from(Run)
        .where(Run.suite == suite, Run.state == "published")
    )


def _entry(row: Sequence[Any], judges: dict[str, Evaluator]) -> Entry | None:
    """A figure that a paper does not print is no row; an entry of ours always is one, and says why it is empty."""
    there, state, role, weights, judge, eligible, why_not, subset, board, at, run, version, *rest = row
    submission, model, organisation, team, trust, *figure, why_empty, note, source = rest
    paper = trust == "C"
    if there is None and paper:
        return None
    why_empty = "not measured here" if there is None else why_empty
    notes = [text for text in (why_empty, note, "" if paper else why_not) if text]
    by, rank = judges[judge], 0 if eligible and state == "published" else None
    # In the order of an entry's fields: a thousand rows by keyword cost twice as much.
    who = (rank, model, organisation, team, trust, by.by)
    where = (by.name, subset, board, at, submission, "; ".join(notes), source or "", run, version)
    values: tuple[Any, ...] = (*who, *figure, *where, None, None, role, weights or "")
    return Entry(*values)


def ranked(entries: Sequence[Entry], best_is_high: bool) -> list[Entry]:
    """Ranks count inside one board only; equal values share a rank; what has no value has none."""
    sign = -1 if best_is_high else 1

    def order(entry: Entry) -> tuple[Any, ...]:
        value = 0.0 if entry.value is None else sign * entry.value
        return entry.trust == "C", entry.board, entry.rank is None, entry.value is None, value, entry.submission_id

    done: list[Entry] = []
    for board in _boards(sorted(entries, key=order)):
        done += _with_ranks(board, sign)
    return done


def _boards(entries: Sequence[Entry]) -> list[list[Entry]]:
    found: dict[tuple[bool, str], list[Entry]] = {}
    for entry in entries:
        found.setdefault((entry.trust == "C", entry.board), []).append(entry)
    return list(found.values())


def _with_ranks(board: Sequence[Entry], sign: int) -> list[Entry]:
    """Ranks by value alone; publication knows better ones where it compared task by task."""
    values = sorted(sign * entry.value for entry in board if entry.rank is not None and entry.value is not None)
    return [
        replace(entry, rank=None)
        if entry.rank is None or entry.value is None
        else replace(entry, rank=1 + bisect_left(values, sign * entry.value))
        for entry in board
    ]
