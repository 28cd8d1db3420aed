"""The SELECTs of rankings and of the catalogue. Nothing here scans scores: rankings come from cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import case, func
from sqlmodel import Session, and_, col, select

from infra.tables import Cell, Judge, Metric, Run, Sample, Submission, Suite

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
class Place:
    """An address with figures: how many of entries we judged, how many of papers."""

    at: Address
    ours: int
    papers: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a ranking; `best_rank` and `worst_rank` are the ranks its 95 % interval allows."""

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


def places(db: Session, suite: str, metric: str) -> list[Place]:
    """Every address at which a metric has figures, in the suite's own order of facet values."""
    columns = [getattr(Cell, facet) for facet in FACETS]
    paper = case((col(Submission.trust) == "C", 1), else_=0)
    query = (
        select(*columns, func.count(), func.sum(paper))  # type: ignore[call-overload]
        .join(Run, col(Run.id) == col(Cell.run_id))
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .where(Run.suite == suite, Run.state == "published", Cell.metric == metric, col(Cell.value).is_not(None))
        .group_by(*columns)
    )
    found = [Place(Address(*row[:4]), row[4] - row[5], row[5]) for row in db.exec(query)]
    order = facet_order(db, suite)
    return sorted(found, key=lambda place: tuple(_position(order, facet, getattr(place.at, facet)) for facet in FACETS))


def has_figures(db: Session, suite: str, metric: str) -> bool:
    """Whether a metric has a figure anywhere on a suite's board."""
    query = select(Cell.run_id).join(Run, col(Run.id) == col(Cell.run_id))
    found = query.where(
        Run.suite == suite, Run.state == "published", Cell.metric == metric, col(Cell.value).is_not(None)
    )
    return db.exec(found.limit(1)).first() is not None


def facet_order(db: Session, suite: str) -> dict[str, list[str]]:
    """Each facet's values as they first occur among the suite's samples; papers' own values are not there."""
    found: dict[str, list[str]] = {}
    for facet in FACETS:
        column = getattr(Sample, facet)
        query = select(column).where(Sample.suite == suite).group_by(column).order_by(func.min(Sample.position))
        found[facet] = list(db.exec(query))
    return found


def _position(order: dict[str, list[str]], facet: str, value: str) -> tuple[int, int, str]:
    known = order[facet]
    return value != ALL, known.index(value) if value in known else len(known), value


def facet_values(found: Sequence[Place]) -> dict[str, list[str]]:
    """Which values each facet takes among some places, `*` first where it occurs."""
    values = {facet: list(dict.fromkeys(getattr(place.at, facet) for place in found)) for facet in FACETS}
    return {facet: sorted(some, key=lambda value: value != ALL) for facet, some in values.items()}


def ranking(db: Session, suite: str, metric: str | None, at: Address) -> list[Entry]:
    """Entries at one address for one metric, best first; figures from papers come after, without a rank."""
    chosen = metric_named(db, suite, metric)
    found = [_entry(row) for row in db.execute(_query(suite, chosen.name, at))]
    shown = [entry for entry in found if entry is not None]
    return ranked(shown, best_is_high=chosen.direction == "higher")


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


RUN = ("id", "board", "subset", "suite_version", "eligible", "why_not", "published_at")
SUBMISSION = ("id", "model", "organisation", "team", "trust", "role", "state")
CELL = ("value", "low", "high", "spread", "n_scored", "n_expected", "why_empty", "note", "source")


def _query(suite: str, metric: str, at: Address) -> Any:
    """Columns by name: a submission's manifest lists every file and must not be read for a ranking."""
    address = [getattr(Cell, facet) == getattr(at, facet) for facet in FACETS]
    named = [*_named(Run, "run", RUN), *_named(Submission, "sub", SUBMISSION), *_named(Cell, "cell", CELL)]
    return (
        select(*named, col(Cell.run_id).label("there"), Judge.name, Judge.kind, Judge.card)  # type: ignore[call-overload]
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .join(Judge, col(Judge.fingerprint) == col(Run.judge))
        .outerjoin(Cell, and_(col(Cell.run_id) == col(Run.id), col(Cell.metric) == metric, *address))
        .where(Run.suite == suite, Run.state == "published")
        .order_by(col(Run.board), col(Run.created_at), col(Run.id))
    )


def _named(table: Any, prefix: str, names: Sequence[str]) -> list[Any]:
    return [getattr(table, name).label(f"{prefix}_{name}") for name in names]


def _entry(row: Any) -> Entry | None:
    """A figure that a paper does not print is no row; an entry of ours always is one, and says why it is empty."""
    if row.there is None and row.sub_trust == "C":
        return None
    empty = "not measured here" if row.there is None else row.cell_why_empty
    why_not = row.run_why_not if row.sub_trust != "C" else ""
    return Entry(
        rank=0 if row.run_eligible and row.sub_state == "published" else None,
        model=row.sub_model,
        organisation=row.sub_organisation,
        team=row.sub_team,
        trust=row.sub_trust,
        evaluator=str(row.card["model"]) if row.kind == "paper" else row.kind,
        value=row.cell_value,
        low=row.cell_low,
        high=row.cell_high,
        spread=row.cell_spread,
        n_scored=row.cell_n_scored,
        n_expected=row.cell_n_expected,
        judge=row.name,
        subset=row.run_subset,
        board=row.run_board,
        published_at=row.run_published_at,
        submission_id=row.sub_id,
        note="; ".join(filter(None, (empty, row.cell_note, why_not))),
        source=row.cell_source or "",
        run_id=row.run_id,
        version=row.run_suite_version,
        role=row.sub_role,
    )


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
    """An interval wholly on the better side of another's beats it; where any is missing no rank interval is given."""
    field = [entry for entry in board if entry.rank is not None and entry.value is not None]
    values = sorted(sign * (entry.value or 0.0) for entry in field)
    spans = [sorted((sign * one.low, sign * one.high)) for one in field if one.low is not None and one.high is not None]
    starts, ends = sorted(span[0] for span in spans), sorted(span[1] for span in spans)
    done = []
    for entry in board:
        if entry.rank is None or entry.value is None:
            done.append(replace(entry, rank=None))
            continue
        made = replace(entry, rank=1 + bisect_left(values, sign * entry.value))
        if len(spans) == len(field) and entry.low is not None and entry.high is not None:
            best, worst = sorted((sign * entry.low, sign * entry.high))
            worse = len(starts) - bisect_right(starts, worst)
            made = replace(made, best_rank=1 + bisect_left(ends, best), worst_rank=len(field) - worse)
        done.append(made)
    return done
