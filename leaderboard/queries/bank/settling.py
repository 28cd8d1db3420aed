"""Settling what two readers of a bank's task found, by a third person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from infra.db import put
from infra.tables import now
from infra.tables.curation import BankFault, BankReading, BankSettlement, BankTask
from leaderboard.queries.bank.reading import notes
from leaderboard.queries.bank.review import (
    DECISIONS,
    READERS,
    FaultPlace,
    FoundFault,
    Settlement,
    checked_words,
    columns_of_place,
    locked,
    place_of,
    settled,
    standing_of,
    task_review,
)
from leaderboard.queries.review_queue import NotDecided
from submissions.format.suggestions import no_such


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A task that two have read: when each had, what they found, what was settled, who closed it
    and when."""

    task: str
    read_at: Mapping[str, datetime]
    faults: tuple[FoundFault, ...]
    settled: tuple[Settlement, ...]
    closed_by: str
    closed_at: datetime | None


def read_tasks(db: Session, suite: str) -> list[ReadTask]:
    """Every task that two have read, in the version in which it was last opened."""
    query = select(BankTask).where(BankTask.suite == suite).order_by(col(BankTask.opened_at))
    reviews = [review for review in db.exec(query) if standing_of(db, review).read_by_both]
    newest = {review.task: review for review in reviews}
    return [_read_task(db, newest[task]) for task in sorted(newest)]


def settlements(db: Session, suite: str, task: str) -> dict[FaultPlace, Settlement]:
    """What has been settled of a task; nothing can be before two have read it."""
    return settled(db, task_review(db, suite, task))


def settle(
    db: Session,
    suite: str,
    task: str,
    who: str,
    place: FaultPlace,
    decision: str,
    note: str,
    change: str = "",
) -> None:
    """Say what becomes of a fault that the readers found; who said it can say it anew until the
    task is closed."""
    review, name = _third(db, suite, task, who)
    if decision not in DECISIONS:
        raise NotDecided(no_such("decision", decision, DECISIONS))
    if place not in {found.place for found in notes(db, suite, task, name)}:
        raise NotDecided(f"No reader found this fault in {place.item}. Settle what they found.")
    before = settled(db, review).get(place)
    if before and before.settler != name:
        raise NotDecided(f"{before.settler} has settled this fault already. Settle another.")
    row = {"review": review.id, **columns_of_place(place), "settler": name, "decision": decision}
    put(db, BankSettlement, [{**row, **checked_words(note, change)}])


def close(db: Session, suite: str, task: str, who: str) -> None:
    """Say that nothing is left open in a task."""
    review, name = _third(db, suite, task, who)
    if left := standing_of(db, review).unsettled:
        raise NotDecided(f"{left} faults of {task} are not settled. Settle them, then close it.")
    review.closed_by, review.closed_at = name, now()
    db.add(review)
    db.flush()


def _read_task(db: Session, review: BankTask) -> ReadTask:
    readings = db.exec(select(BankReading).where(BankReading.review == review.id))
    faults = db.exec(select(BankFault).where(BankFault.review == review.id))
    found = (FoundFault(place_of(row), row.reader, row.note, row.change) for row in faults)
    return ReadTask(
        review.task,
        {row.reader: row.read_at for row in readings if row.read_at},
        tuple(sorted(found, key=lambda fault: (fault.reader, *astuple(fault.place)))),
        tuple(settled(db, review).values()),
        review.closed_by,
        review.closed_at,
    )


def _third(db: Session, suite: str, task: str, who: str) -> tuple[BankTask, str]:
    review, standing, name = locked(db, suite, task, who)
    if not standing.read_by_both:
        raise NotDecided(
            f"{task} is settled once two have read it; {len(standing.read)} of {READERS} have."
        )
    if name in standing.read:
        raise NotDecided(f"{name} has read {task}, so somebody else settles it.")
    if standing.closed_by:
        raise NotDecided(f"{task} is closed already. Its records can be exported.")
    return review, name
