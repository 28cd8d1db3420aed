"""Which cells moved between two sets of numbers, by how much and why: rows that the board shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from flows.evaluate.score import RunScores, compute, n_scored
from flows.nightly.staleness import Stale
from flows.publish.publish import republish
from flows.publish.seal_chain import PUBLICATION
from flows.run.board_keys import scoring_version
from flows.run.case import EvaluationCase
from flows.run.score_rows import cell_row, put_mark
from infra import tables
from infra.db import put, session, transaction_lock
from infra.tables.operations import Change

ADDRESS = ("metric", "scenario", "task", "setting", "modality")
Address = tuple[str, ...]
Numbers = Mapping[Address, float | None]


@dataclass(frozen=True, slots=True)
class MovedCell:
    """One cell before and after; None is a cell without a value, or none at all."""

    at: Address
    before: float | None
    after: float | None


def moved(before: Numbers, after: Numbers) -> list[MovedCell]:
    """The cells whose value is not what it was, to the last digit.

    >>> cells = moved({("a",): 1.0, ("b",): 2.0}, {("a",): 1.0, ("b",): 2.5})
    >>> [(cell.at, cell.before, cell.after) for cell in cells]
    [(('b',), 2.0, 2.5)]
    """
    at = sorted(before.keys() | after.keys())
    return [
        MovedCell(address, before.get(address), after.get(address))
        for address in at
        if before.get(address) != after.get(address)
    ]


def numbers_of(db: Session, run_id: str) -> dict[Address, float | None]:
    """A run's cells by address."""
    columns = [getattr(tables.Cell, name) for name in (*ADDRESS, "value")]
    rows = db.connection().execute(select(*columns).where(tables.Cell.run_id == run_id))
    return {tuple(row[:-1]): row[-1] for row in rows}


def rescore(case: EvaluationCase, night: date, stale: Stale) -> int:
    """Compute a run's numbers again from its rows, in place, and say which cells moved: one
    transaction."""
    computed = compute(case)
    fresh = [cell_row(case.run.id, cell) for cell in computed.cells]
    after = {tuple(row[name] for name in ADDRESS): row["value"] for row in fresh}
    with session(case.settings.database) as db:
        transaction_lock(db, PUBLICATION)
        difference = moved(numbers_of(db, case.run.id), after)
        if difference or stale.cause == "data":
            _replace(db, case, computed)
        write(db, night, case.run, case.run.id, difference, stale)
        put_mark(db, case, scoring_version(case.suite))
    return len(difference)


def _replace(db: Session, case: EvaluationCase, computed: RunScores) -> None:
    """The new numbers take the place of the old, with the ranks that follow from them."""
    scored = n_scored(case, computed.scores)
    db.connection().execute(
        update(tables.Run).where(col(tables.Run.id) == case.run.id).values(n_scored=scored)
    )
    republish(db, case, computed.scores, computed.cells, computed.bounds)


def write(
    db: Session,
    night: date,
    run: tables.Run,
    before: str,
    moved_cells: Sequence[MovedCell],
    stale: Stale,
) -> None:
    """One row a moved cell."""
    common: dict[str, Any] = {
        "night": night,
        "run_id": run.id,
        "suite": run.suite,
        "submission_id": run.submission_id,
        "board": run.board,
        "run_before": before,
        "cause": stale.cause,
        "text": stale.why,
    }
    rows = [
        {
            **common,
            **dict(zip(ADDRESS, cell.at, strict=True)),
            "before": cell.before,
            "after": cell.after,
        }
        for cell in moved_cells
    ]
    put(db, Change, rows)
