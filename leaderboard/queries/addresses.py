"""Where figures are: one row an address, kept up at publication, so that no page counts cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, case, delete, func, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from infra.db import transaction_lock
from infra.tables import Cell, Run, Sample, Submission, board
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress, NotOnBoard
from submissions.format.suggestions import no_such

COLUMNS = ("suite", "metric", *FACETS, "ours", "papers")
COUNTING = "places"
"""Under this name one transaction at a time counts; those that count the same addresses never wait
for each other."""


@dataclass(frozen=True, slots=True)
class FiguresAt:
    """An address with figures: how many of entries we judged, how many of papers."""

    at: BoardAddress
    ours: int
    papers: int


def places(db: Session, suite: str, metric: str) -> list[FiguresAt]:
    """Every address at which a metric has figures, in the suite's own order of facet values."""
    table = board.FigurePlace
    columns = [getattr(table, name) for name in (*FACETS, "ours", "papers")]
    query = select(*columns).where(table.suite == suite, table.metric == metric)
    known_places = [FiguresAt(BoardAddress(*row[:4]), row[4], row[5]) for row in db.execute(query)]
    order = facet_order(db, suite)
    return sorted(
        known_places,
        key=lambda place: tuple(
            _position(order, facet, getattr(place.at, facet)) for facet in FACETS
        ),
    )


def check_address(db: Session, suite: str, at: BoardAddress) -> None:
    """Refuse a facet's value that neither the suite's samples nor any figure of its board has."""
    table, own = board.FigurePlace, facet_order(db, suite)
    for facet in FACETS:
        column, value = getattr(table, facet), getattr(at, facet)
        if value == ALL or value in own[facet]:
            continue
        known = [
            *own[facet],
            *db.exec(select(column).where(table.suite == suite).distinct().order_by(column)),
        ]
        if value not in known:
            hint = f"`armillary board {suite}` names addresses where figures stand."
            raise NotOnBoard(no_such(facet, value, [*known, ALL], hint, within=suite))


def has_figures(db: Session, suite: str, metric: str) -> bool:
    """Whether a metric has a figure anywhere on a suite's board."""
    table = board.FigurePlace
    figures = select(table.metric).where(table.suite == suite, table.metric == metric)
    return db.exec(figures.limit(1)).first() is not None


def facet_order(db: Session, suite: str) -> dict[str, list[str]]:
    """Each facet's values as they first occur among the suite's samples; papers' own values are not
    there."""
    columns = [col(getattr(Sample, facet)) for facet in FACETS]
    query = (
        select(*columns)
        .where(Sample.suite == suite)
        .group_by(*columns)
        .order_by(func.min(Sample.position))
    )
    rows = db.execute(query).all()
    return {
        facet: list(dict.fromkeys(row[number] for row in rows))
        for number, facet in enumerate(FACETS)
    }


def _position(order: dict[str, list[str]], facet: str, value: str) -> tuple[int, int, str]:
    values = order[facet]
    return value != ALL, values.index(value) if value in values else len(values), value


def facet_values(known_places: Sequence[FiguresAt]) -> dict[str, list[str]]:
    """Which values each facet takes among some places, `*` first where it occurs."""
    values = {
        facet: list(dict.fromkeys(getattr(place.at, facet) for place in known_places))
        for facet in FACETS
    }
    return {
        facet: sorted(options, key=lambda value: value != ALL) for facet, options in values.items()
    }


@contextmanager
def recounted(db: Session, *runs: ColumnElement[bool]) -> Iterator[None]:
    """Keep the counts up while the block publishes these runs, changes their cells or takes them
    off the board.

    What they have before the block is taken out and what they have after it is put in, both by the
    rule of `recount`: however often a run is published, it counts once. Counting an address anew
    would read every entry's cells, and one full run has all addresses of its suite.
    """
    transaction_lock(db, COUNTING)
    _add(db, -1, runs)
    yield
    _add(db, +1, runs)
    table = board.FigurePlace
    db.connection().execute(delete(table).where(col(table.ours) == 0, col(table.papers) == 0))


def _add(db: Session, sign: int, runs: Sequence[ColumnElement[bool]]) -> None:
    table = board.FigurePlace
    backend = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    rows: Any = backend.insert(table.__table__).from_select(COLUMNS, _counted(sign, *runs))  # type: ignore[attr-defined]
    sums = {name: getattr(table, name) + rows.excluded[name] for name in ("ours", "papers")}
    db.connection().execute(
        rows.on_conflict_do_update(index_elements=("suite", "metric", *FACETS), set_=sums)
    )


def recount(db: Session, suite: str) -> None:
    """Count a suite's places from all its cells; the same rows as counting run by run gives."""
    transaction_lock(db, COUNTING)
    table = board.FigurePlace
    db.connection().execute(delete(table).where(col(table.suite) == suite))
    db.connection().execute(
        insert(table).from_select(COLUMNS, _counted(1, col(Run.suite) == suite))
    )


def _counted(sign: int, *runs: ColumnElement[bool]) -> Any:
    """How many figures the published ones of some runs have at each address."""
    key = [col(Run.suite), col(Cell.metric), *(col(getattr(Cell, facet)) for facet in FACETS)]
    paper = case((col(Submission.trust) == "C", 1), else_=0)
    return (
        select(*key, func.sum(sign * (1 - paper)), func.sum(sign * paper))  # type: ignore[call-overload]
        .join(Run, col(Run.id) == col(Cell.run_id))
        .join(Submission, col(Submission.id) == col(Run.submission_id))
        .where(col(Cell.value).is_not(None), col(Run.state) == "published", *runs)
        .group_by(*key)
    )
