"""People's review of a bank that is in use: which tasks are open for whom, and how far each is. Two
read a task without each other's notes, then a third settles what they found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from infra.db import transaction_lock
from infra.tables import Sample, Suite, now
from infra.tables.curation import BankFault, BankReading, BankSettlement, BankTask
from leaderboard.queries.review_queue import NotDecided, clean
from submissions.format.errors import shown
from submissions.format.suggestions import no_such

READERS = 2
FEWEST_PEOPLE = READERS + 1
CATEGORIES = (
    *("physics", "long-tail", "leak", "contradiction"),
    *("visible", "atomic", "duplicate", "trivial"),
)
DECISIONS = ("changed", "dropped", "kept")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
"""A person's name is part of a file's name in the export."""
OPENING = "An operator opens one: armillary tailor review-bank --person NAME ..."


@dataclass(frozen=True, slots=True)
class FaultPlace:
    """What is faulty, and in which way; the same place can be found by both readers."""

    item: str
    question: str
    category: str


@dataclass(frozen=True, slots=True)
class FoundFault:
    """One reader's words about a fault, and the change proposed."""

    place: FaultPlace
    reader: str
    note: str
    change: str


@dataclass(frozen=True, slots=True)
class Settlement:
    """What the third person made of a fault."""

    place: FaultPlace
    settler: str
    decision: str
    note: str
    change: str


@dataclass(frozen=True, slots=True)
class TaskStanding:
    """How far the review of one task is; what is unsettled is counted once both have read it."""

    task: str
    version: str
    people: tuple[str, ...]
    begun: tuple[str, ...]
    read: tuple[str, ...]
    unsettled: int
    closed_by: str

    @property
    def read_by_both(self) -> bool:
        """Whether notes may be seen and settled."""
        return len(self.read) == READERS

    @property
    def state(self) -> str:
        """Where it stands, in a word or two."""
        if self.closed_by:
            return "closed"
        return "to settle" if self.read_by_both else ("being read" if self.begun else "open")


def open_tasks(db: Session, suite: str, tasks: Iterable[str], people: Iterable[str]) -> int:
    """Open tasks of the bank's present version for these people, all if none is named, or add
    people to tasks that are open; return how many tasks."""
    version, names = _version(db, suite), [_new_name(person) for person in people]
    query = select(Sample.cluster).where(Sample.suite == suite, Sample.version == version)
    known = sorted(db.exec(query.distinct()))
    chosen = list(dict.fromkeys(tasks)) or known
    if unknown := sorted(set(chosen) - set(known)):
        raise NotDecided(no_such("task", unknown[0], known, within=suite))
    for task in chosen:
        key = _key(suite, version, task)
        review = db.get(BankTask, key) or BankTask(id=key, suite=suite, version=version, task=task)
        review.people = list(dict.fromkeys([*review.people, *names]))
        if len(review.people) < FEWEST_PEOPLE:
            raise NotDecided(
                f"{task} is read by two and settled by a third, and so far there is "
                f"{' and '.join(review.people) or 'nobody'}. Name {FEWEST_PEOPLE} people or more."
            )
        db.add(review)
    db.flush()
    return len(chosen)


def standings(db: Session, suite: str) -> list[TaskStanding]:
    """The tasks of the bank's present version that are under review, by name."""
    query = (
        select(BankTask)
        .join(Suite, col(Suite.name) == col(BankTask.suite))
        .where(BankTask.suite == suite, BankTask.version == Suite.version)
    )
    return _standings(db, db.exec(query.order_by(BankTask.task)).all())


def standing(db: Session, suite: str, task: str) -> TaskStanding:
    """How far one task is."""
    return standing_of(db, task_review(db, suite, task))


def person_in(standing: TaskStanding, who: str) -> str:
    """The name under which somebody may take part, or NotDecided."""
    name = who.strip().casefold()
    if not name:
        raise NotDecided("Say who you are: the name is empty.")
    if name not in standing.people:
        within = f"the review of {standing.task}"
        raise NotDecided(no_such("person", who.strip(), standing.people, within=within))
    return name


def locked(db: Session, suite: str, task: str, who: str) -> tuple[BankTask, TaskStanding, str]:
    """A task's review for one who writes: nobody else writes meanwhile, so that nobody reads on
    once both have finished."""
    transaction_lock(db, f"bank review {suite} {task}")
    review = task_review(db, suite, task)
    standing = standing_of(db, review)
    return review, standing, person_in(standing, who)


def task_review(db: Session, suite: str, task: str) -> BankTask:
    """The review of a task in the bank's present version, or NotDecided."""
    version = _version(db, suite)
    review = db.get(BankTask, _key(suite, version, task))
    if review is None:
        query = select(BankTask.task).where(BankTask.suite == suite, BankTask.version == version)
        raise NotDecided(no_such("review of a task", task, db.exec(query), OPENING))
    return review


def standing_of(db: Session, review: BankTask) -> TaskStanding:
    """How far a review is."""
    return _standings(db, [review])[0]


def settled(db: Session, review: BankTask) -> dict[FaultPlace, Settlement]:
    """What has been settled in a review, by place."""
    rows = db.exec(select(BankSettlement).where(BankSettlement.review == review.id))
    return {
        place_of(row): Settlement(place_of(row), row.settler, row.decision, row.note, row.change)
        for row in rows
    }


def place_of(row: BankFault | BankSettlement) -> FaultPlace:
    """Where a fault is."""
    return FaultPlace(row.item, row.question, row.category)


def columns_of_place(place: FaultPlace) -> dict[str, str]:
    """A place as columns of a row."""
    return {"item": place.item, "question": place.question, "category": place.category}


def checked_words(note: str, change: str) -> dict[str, Any]:
    """The columns of a note and the change proposed, as they are written now."""
    if not note.strip():
        raise NotDecided("The note is empty. Say in a sentence what is wrong, or why it stands.")
    words = {"note": clean(note.strip(), "the note"), "change": clean(change.strip(), "the change")}
    return {**words, "at": now()}


def _new_name(person: str) -> str:
    name = person.strip().casefold()
    if not NAME.fullmatch(name):
        raise NotDecided(
            f"{shown(person)} cannot name a person in a review. Write at most 40 letters a to z, "
            "digits, - and _, such as ada."
        )
    return name


def _standings(db: Session, reviews: Sequence[BankTask]) -> list[TaskStanding]:
    ids = [review.id for review in reviews]
    readings = db.exec(select(BankReading).where(col(BankReading.review).in_(ids)))
    begun: dict[str, list[BankReading]] = defaultdict(list)
    for row in sorted(readings, key=lambda row: row.reader):
        begun[row.review].append(row)
    fault_rows = db.exec(select(BankFault).where(col(BankFault.review).in_(ids)))
    settled_rows = db.exec(select(BankSettlement).where(col(BankSettlement.review).in_(ids)))
    faults, settled_faults = _places(fault_rows.all()), _places(settled_rows.all())
    standings = []
    for review in reviews:
        read = tuple(row.reader for row in begun[review.id] if row.read_at)
        unsettled = faults[review.id] - settled_faults[review.id]
        standings.append(
            TaskStanding(
                review.task,
                review.version,
                tuple(review.people),
                tuple(row.reader for row in begun[review.id]),
                read,
                len(unsettled) if len(read) == READERS else 0,
                review.closed_by,
            )
        )
    return standings


def _places(rows: Sequence[BankFault | BankSettlement]) -> dict[str, set[FaultPlace]]:
    found: dict[str, set[FaultPlace]] = defaultdict(set)
    for row in rows:
        found[row.review].add(place_of(row))
    return found


def _version(db: Session, suite: str) -> str:
    row = db.get(Suite, suite)
    if row is None:
        names = db.exec(select(Suite.name).order_by(Suite.name))
        raise NotDecided(no_such("suite", suite, names, "`armillary init` loads them."))
    return row.version


def _key(suite: str, version: str, task: str) -> str:
    return f"{suite} {version} {task}"
