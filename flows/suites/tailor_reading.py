"""People's review of TailOR's bank, from the rows of the page into the records that every reader
leaves."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.suites.tailor.upkeep.records import PERSON, records
from infra.db import session
from infra.settings import Settings
from leaderboard.queries.bank.review import FaultPlace, columns_of_place, open_tasks
from leaderboard.queries.bank.settling import ReadTask, read_tasks
from leaderboard.queries.review_queue import NotDecided

SUITE = "tailor"
Record = dict[str, str]


def open_review(settings: Settings, tasks: Iterable[str], people: Sequence[str]) -> int:
    """Open tasks of the open bank for these people; return how many. A name under which a
    language model has read is refused."""
    models = {record.reader for record in records() if record.by != PERSON}
    if taken := sorted(models & set(people)):
        raise NotDecided(
            f"{taken[0]!r} is a language model in the bank's records. Choose another name."
        )
    with session(settings.database) as db:
        return open_tasks(db, SUITE, tasks, people)


def export(settings: Settings, folder: Path) -> list[Path]:
    """Write the records of every task that two people have read, a file a task and person; those
    of an earlier export are replaced, a language model's never."""
    with session(settings.database) as db:
        reviews = read_tasks(db, SUITE)
    if not reviews:
        raise NotDecided(
            "No task has been read by two people yet. `armillary tailor review-bank` shows how "
            "far each is."
        )
    files = {name: _lines(rows) for review in reviews for name, rows in _by_file(review)}
    _check(files)
    folder.mkdir(parents=True, exist_ok=True)
    others = (folder / name for name in files if (folder / name).exists())
    if kept := [file.name for file in others if not _is_replaceable(file)]:
        raise NotDecided(f"{kept[0]} holds records that no person wrote. Choose another folder.")
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in files]


def _by_file(review: ReadTask) -> Iterator[tuple[str, list[Record]]]:
    rows: dict[str, list[Record]] = defaultdict(list)
    for name, read_at in review.read_at.items():
        rows[name].append(_of_task("read", review.task, name, read_at))
    for fault in review.faults:
        words = {"reader": fault.reader, "note": fault.note, "change": fault.change}
        rows[fault.reader].append(_of_place("fault", fault.place, words))
    for settled in review.settled:
        words = {"reader": settled.settler, "decision": settled.decision}
        words |= {"note": settled.note, "change": settled.change}
        rows[settled.settler].append(_of_place("settled", settled.place, words))
    if review.closed_at:
        name = review.closed_by
        rows[name].append(_of_task("closed", review.task, name, review.closed_at))
    for name in sorted(rows):
        yield f"{review.task}.{name}.jsonl", rows[name]


def _of_task(kind: str, task: str, reader: str, at: datetime) -> Record:
    day = f"{at:%Y-%m-%d}"
    return {"kind": kind, "task": task, "reader": reader, "by": PERSON, "date": day}


def _of_place(kind: str, place: FaultPlace, words: Record) -> Record:
    row = {"kind": kind, **columns_of_place(place), **words, "by": PERSON}
    return {key: value for key, value in row.items() if value}


def _lines(rows: Iterable[Record]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _check(files: dict[str, str]) -> None:
    """What is written is what `records` takes."""
    with TemporaryDirectory(prefix="armillary-review-") as name:
        for file, text in files.items():
            (Path(name) / file).write_text(text, "utf-8")
        records(Path(name))


def _is_replaceable(file: Path) -> bool:
    try:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    except ValueError:
        return False
    return all(isinstance(row, dict) and row.get("by") == PERSON for row in rows)
