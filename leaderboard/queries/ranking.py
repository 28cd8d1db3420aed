"""The SELECTs of rankings and of the catalogue. Nothing here scans scores: rankings come from
cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, type_coerce
from sqlalchemy import select as bare_select
from sqlalchemy.types import NullType
from sqlmodel import Session, and_, col, select

from infra.db import columns_of
from infra.tables import Cell, Judge, Metric, Run, Submission, Suite
from infra.tables.board import Declared
from infra.tables.standing import AttemptRow
from leaderboard.queries import ranks
from leaderboard.queries.trust import alarms, notices, panel_splits
from submissions.format.suggestions import no_such

ALL = "*"
PAPER = "C"
"""The trust of a figure that a paper prints."""
FACETS = ("scenario", "task", "setting", "modality")


class NotOnBoard(Exception):
    """A name the board does not know; the message says which ones it knows."""


@dataclass(frozen=True, slots=True)
class BoardAddress:
    """Where on the board: a value or `*` for each facet."""

    scenario: str = ALL
    task: str = ALL
    setting: str = ALL
    modality: str = ALL


@dataclass(slots=True)
class RankedEntry:
    """One row of a ranking; its true rank lies from `best_rank` to `worst_rank`, or `why_no_ranks`
    says why not.

    Not frozen, for speed: freezing makes it twenty times as slow to build, and a page builds
    thousands.
    """

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
    if_worst: float | None = None
    if_best: float | None = None
    disagreement: float | None = None
    """The share of answers that the judges of a panel did not all give; None where none judged."""
    alarm: str = ""
    """Of a sanity row: which entries it ties or beats, which no honest judge lets it."""

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


def facet_titles(db: Session, suite: str) -> dict[str, str]:
    """What a suite calls each facet: its tasks are actions, intentions, criteria."""
    row = db.get(Suite, suite)
    return row.facet_titles if row else {}


def metrics(db: Session, suite: str) -> list[Metric]:
    """A suite's metrics, in its order."""
    return list(db.exec(select(Metric).where(Metric.suite == suite).order_by(col(Metric.position))))


def ranking(db: Session, suite: str, metric: str | None, at: BoardAddress) -> list[RankedEntry]:
    """Entries at one address for one metric, best first; figures from papers come after, without a
    rank."""
    (chosen, direction), judges = _direction(db, suite, metric), evaluators(db)
    parameters = {"suite": suite, "metric": chosen, **asdict(at)}
    with db.connection().execute(RANKING, parameters) as result:
        # The driver's own tuples: a row of SQLAlchemy's around each of a thousand costs as much as
        # reading it.
        rows = list(map(RankingRow._make, result.cursor.fetchall()))
    # A figure that a paper does not print is no row; an entry of ours always is one, and says why
    # it is empty.
    listed = [row for row in rows if row.cell_run_id is not None or row.trust != PAPER]
    boards = {row.board for row in listed if row.trust != PAPER}
    stored = ranks.stored(db, boards, chosen, at)
    withheld = {
        board: notice.text for board, notice in notices(db, boards).items() if not notice.ranked
    }
    best_is_high = direction == "higher"
    entries = [
        _entry(
            row,
            judges[row.judge],
            rank,
            stored.get(row.board),
            "" if row.trust == PAPER else withheld.get(row.board, ""),
        )
        for row, rank in ranked(listed, best_is_high)
    ]
    return _remarked(db, entries, boards, best_is_high)


def _remarked(
    db: Session, entries: list[RankedEntry], boards: set[str], best_is_high: bool
) -> list[RankedEntry]:
    """What is to be said of single rows: how far a panel was apart, and sanity rows that are too
    good."""
    splits, sentences = panel_splits(db, boards), dict[str, str]()
    for board in {entry.board for entry in entries if entry.role == "sanity"}:
        sentences |= alarms([entry for entry in entries if entry.board == board], best_is_high)
    for entry in entries:
        entry.disagreement = splits.get(entry.run_id)
        entry.alarm = sentences.get(entry.run_id, "")
    return entries


def _direction(db: Session, suite: str, metric: str | None) -> tuple[str, str]:
    """The metric's name and direction; a name the board does not know is told with those that it
    knows."""
    for name, direction in db.connection().execute(DIRECTIONS, {"suite": suite}).all():
        if metric in (None, name):
            return str(name), str(direction)
    chosen = metric_named(db, suite, metric)
    return chosen.name, chosen.direction


METRIC = columns_of(Metric)
DIRECTIONS = (
    bare_select(METRIC.name, METRIC.direction)
    .where(METRIC.suite == bindparam("suite"))
    .order_by(METRIC.position)
)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who judged: a judge's name, and whether that is a machine (auto) or people (human)."""

    name: str
    by: str


def evaluators(db: Session) -> dict[str, Evaluator]:
    """All judges by fingerprint. They are few: a card read once is not read again for each of a
    thousand rows."""
    rows = db.connection().execute(JUDGES)
    return {
        key: Evaluator(name, str(card["model"]) if kind == "paper" else kind)
        for key, name, kind, card in rows
    }


def metric_named(db: Session, suite: str, name: str | None) -> Metric:
    """A suite's metric, the first if none is named."""
    query = select(Metric).where(Metric.suite == suite).order_by(col(Metric.position)).limit(1)
    if chosen := db.exec(query.where(Metric.name == name) if name else query).first():
        return chosen
    suite_metrics = metrics(db, suite)
    if not suite_metrics:
        names = [row.name for row in suites(db)]
        raise NotOnBoard(no_such("suite", suite, names, "" if names else "Run `armillary init`."))
    raise NotOnBoard(
        no_such("metric", name or "", [metric.name for metric in suite_metrics], within=suite)
    )


class RankingRow(NamedTuple):
    """What the database gives for one row of a ranking; `cell_run_id` is None where the run has no
    such cell."""

    cell_run_id: str | None
    takes_part: bool
    role: str | None
    weights: str | None
    judge: str
    why_not: str
    subset: str
    board: str
    published_at: datetime | str | None
    run_id: str
    version: str
    submission_id: str
    model: str
    organisation: str
    team: str
    trust: str
    value: float | None
    low: float | None
    high: float | None
    spread: float | None
    n_scored: int | None
    n_expected: int | None
    if_worst: float | None
    if_best: float | None
    why_empty: str | None
    note: str | None
    source: str | None
    attempt: int | None
    held_back: str | None
    """Why the run is not its team's: its attempt did not surely beat the one before."""


RUN, SUBMISSION, DECLARED, CELL, RUNG = (
    columns_of(Run),
    columns_of(Submission),
    columns_of(Declared),
    columns_of(Cell),
    columns_of(AttemptRow),
)
FIGURE = ("value", "low", "high", "spread", "n_scored", "n_expected", "if_worst", "if_best")
TAKES_PART = and_(RUN.eligible, SUBMISSION.state == "published", SUBMISSION.trust != PAPER)
AS_IT_IS = NullType()
"""What the driver gives, without a Python call for each row."""
COLUMNS = (
    *(
        CELL.run_id,
        type_coerce(TAKES_PART, AS_IT_IS),
        DECLARED.role,
        DECLARED.weights,
        RUN.judge,
        RUN.why_not,
        RUN.subset,
    ),
    *(RUN.board, type_coerce(RUN.published_at, AS_IT_IS), RUN.id, RUN.suite_version),
    *(SUBMISSION.id, SUBMISSION.model, SUBMISSION.organisation, SUBMISSION.team, SUBMISSION.trust),
    *(CELL[name] for name in (*FIGURE, "why_empty", "note", "source")),
    *(RUNG.attempt, case((RUNG.moves, ""), else_=RUNG.text)),
)
"""By name: a submission's manifest lists every file and must not be read for a ranking, nor what
lies behind it."""
AT_ADDRESS = and_(
    CELL.run_id == RUN.id, *(CELL[name] == bindparam(name) for name in ("metric", *FACETS))
)
RANKING = (
    bare_select(*COLUMNS)
    .select_from(RUN.id.table)
    .join(SUBMISSION.id.table, SUBMISSION.id == RUN.submission_id)
    .outerjoin(DECLARED.role.table, DECLARED.submission_id == SUBMISSION.id)
    .outerjoin(CELL.value.table, AT_ADDRESS)
    .outerjoin(RUNG.attempt.table, RUNG.run_id == RUN.id)
    .where(RUN.suite == bindparam("suite"), RUN.state == "published")
    .execution_options(binary=True)
)
JUDGES = bare_select(*(columns_of(Judge)[name] for name in ("fingerprint", "name", "kind", "card")))


def ranked(rows: Sequence[RankingRow], best_is_high: bool) -> list[tuple[RankingRow, int | None]]:
    """Best first, with ranks by value alone: inside each board only, equal values share one."""
    sign = -1 if best_is_high else 1
    with_ranks: list[tuple[RankingRow, int | None]] = []
    board, place, rank, before = "", 0, 0, 0.0
    for row in sorted(rows, key=partial(_order, sign)):
        if row.value is None or not row.takes_part:
            with_ranks.append((row, None))
            continue
        place = place + 1 if row.board == board else 1
        rank = rank if place > 1 and row.value == before else place
        board, before = row.board, row.value
        with_ranks.append((row, rank))
    return with_ranks


def _order(sign: int, row: RankingRow) -> tuple[Any, ...]:
    value = 0.0 if row.value is None else sign * row.value
    return (
        row.trust == PAPER,
        row.board,
        not row.takes_part,
        row.value is None,
        value,
        row.submission_id,
    )


def _entry(
    row: RankingRow, by: Evaluator, rank: int | None, stored: ranks.Ranks | None, withheld: str
) -> RankedEntry:
    is_paper = row.trust == PAPER
    why_empty = "not measured here" if row.cell_run_id is None else row.why_empty
    notes = "; ".join(
        [text for text in (why_empty, row.note, "" if is_paper else row.why_not) if text]
    )
    placed = ranks.place(row.run_id, is_paper, rank, notes, stored, row.held_back, withheld)
    return RankedEntry(
        rank=placed.rank,
        model=row.model,
        organisation=row.organisation,
        team=row.team,
        trust=row.trust,
        evaluator=by.by,
        value=row.value,
        low=row.low,
        high=row.high,
        spread=row.spread,
        n_scored=row.n_scored,
        n_expected=row.n_expected,
        judge=by.name,
        subset=row.subset,
        board=row.board,
        published_at=_moment(row.published_at),
        submission_id=row.submission_id,
        note=placed.note,
        source=row.source or "",
        run_id=row.run_id,
        version=row.version,
        best_rank=placed.best,
        worst_rank=placed.worst,
        role=row.role or "entry",
        weights=row.weights or "",
        attempt=row.attempt,
        why_no_ranks=placed.why,
        if_worst=row.if_worst,
        if_best=row.if_best,
    )


def _moment(stored: datetime | str | None) -> datetime | None:
    """A moment with its zone; SQLite keeps it as text without one."""
    return datetime.fromisoformat(stored).replace(tzinfo=UTC) if isinstance(stored, str) else stored
