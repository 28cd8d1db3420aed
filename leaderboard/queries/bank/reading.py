"""Reading a task of a bank for its review: a place among its two readers, faults, and nobody else's
notes before both have read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, or_
from sqlmodel import Session, col, select

from infra.db import add_new, put
from infra.tables import now
from infra.tables.curation import BankFault, BankReading, BankTask
from leaderboard.queries.bank.items import prompts, questions_of
from leaderboard.queries.bank.review import (
    CATEGORIES,
    READERS,
    FaultPlace,
    FoundFault,
    checked_words,
    columns_of_place,
    locked,
    person_in,
    place_of,
    standing_of,
    task_review,
)
from leaderboard.queries.review_queue import NotDecided
from submissions.format.suggestions import no_such


def notes(db: Session, suite: str, task: str, who: str) -> list[FoundFault]:
    """What somebody may see of the faults of a task: one's own, and everybody's once two have read
    it; the database holds the others back."""
    review = task_review(db, suite, task)
    name = person_in(standing_of(db, review), who)
    done = _have_read(review.id).scalar_subquery()
    query = select(BankFault).where(
        BankFault.review == review.id, or_(col(BankFault.reader) == name, done == READERS)
    )
    order = (BankFault.item, BankFault.question, BankFault.category, BankFault.reader)
    return [
        FoundFault(place_of(row), row.reader, row.note, row.change)
        for row in db.exec(query.order_by(*order))
    ]


def begin(db: Session, suite: str, task: str, who: str) -> None:
    """Take one of the two places of a task's readers."""
    review, standing, name = locked(db, suite, task, who)
    if name in standing.begun:
        return
    if len(standing.begun) == READERS:
        raise NotDecided(
            f"{task} has its two readers. Read another task, or settle this one once both have "
            "read it."
        )
    taken = set(db.exec(select(BankReading.slot).where(BankReading.review == review.id)))
    slot = min(set(range(1, READERS + 1)) - taken)
    row = BankReading(review=review.id, slot=slot, reader=name, begun_at=now())
    add_new(db, BankReading, [row.model_dump(exclude={"read_at"})])


def give_back(db: Session, suite: str, task: str, who: str) -> None:
    """Let somebody else read a task that one has begun; one's notes on it go."""
    review, name = _reading(db, suite, task, who)
    for table in (BankFault, BankReading):
        mine = delete(table).where(col(table.review) == review.id, col(table.reader) == name)
        db.connection().execute(mine)


def note_fault(
    db: Session, suite: str, task: str, who: str, place: FaultPlace, note: str, change: str = ""
) -> None:
    """Write down a fault while one reads; the same place again takes the new words."""
    review, name = _reading(db, suite, task, who)
    _check_place(db, review, place)
    row = {
        "review": review.id,
        "reader": name,
        **columns_of_place(place),
        **checked_words(note, change),
    }
    put(db, BankFault, [row])


def take_back(db: Session, suite: str, task: str, who: str, place: FaultPlace) -> None:
    """Strike out one's own fault while one reads."""
    review, name = _reading(db, suite, task, who)
    mine = delete(BankFault).filter_by(review=review.id, reader=name, **columns_of_place(place))
    db.connection().execute(mine)


def finish(db: Session, suite: str, task: str, who: str) -> None:
    """Say that one has read the whole task; one's notes are fixed from now on."""
    review, name = _reading(db, suite, task, who)
    query = select(BankReading).where(BankReading.review == review.id, BankReading.reader == name)
    reading = db.exec(query).one()
    reading.read_at = now()
    db.add(reading)
    db.flush()


def _have_read(review: str) -> Any:
    """How many have read a task to its end."""
    return (
        select(func.count())
        .select_from(BankReading)
        .where(BankReading.review == review, col(BankReading.read_at).is_not(None))
    )


def _reading(db: Session, suite: str, task: str, who: str) -> tuple[BankTask, str]:
    review, standing, name = locked(db, suite, task, who)
    if name in standing.read:
        raise NotDecided(f"{name} has read {task} already; what was found stands. Read another.")
    if name not in standing.begun:
        raise NotDecided(f"{name} does not read {task}. Take a place among its readers first.")
    return review, name


def _check_place(db: Session, review: BankTask, place: FaultPlace) -> None:
    items = questions_of(prompts(db, review.suite, review.version, review.task), review.task)
    checks: Sequence[tuple[str, str, Sequence[str], str]] = (
        ("item", place.item, list(items), review.task),
        ("question", place.question, items.get(place.item, ()), place.item),
        ("category", place.category, CATEGORIES, ""),
    )
    for noun, value, menu, within in checks:
        if value not in menu:
            raise NotDecided(no_such(noun, value, filter(None, menu), within=within))
