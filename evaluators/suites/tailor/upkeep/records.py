"""The records of those who read a bank: what each found in which item, what was changed, and who
settled it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from evaluators.suites.tailor.bank import DATA, MODALITIES, SETTINGS

CATEGORIES = (
    "physics",
    "long-tail",
    "leak",
    "contradiction",
    "visible",
    "atomic",
    "duplicate",
    "trivial",
)
KINDS = ("read", "fault", "settled", "closed")
DECISIONS = ("changed", "dropped", "kept")
MODEL, PERSON = "language model", "person"
WHO = (MODEL, PERSON)
NEEDED = {
    "read": ("task", "reader", "by"),
    "fault": ("item", "reader", "category", "note"),
    "settled": ("item", "reader", "category", "decision", "note"),
    "closed": ("task", "reader", "by"),
}
ALLOWED = {
    "read": (*NEEDED["read"], "date"),
    "fault": (*NEEDED["fault"], "question", "change", "by"),
    "settled": (*NEEDED["settled"], "question", "change", "by"),
    "closed": (*NEEDED["closed"], "date"),
}
INSTANCES = 5


class BadRecord(ValueError):
    """A line of a review is none; the message says where and what is right."""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One line of a review.

    `read`: a reader has read the whole task. `fault`: what is wrong with an item, and the change
    proposed. `settled`: what the third reader made of it. `closed`: nothing is left open.
    """

    kind: str
    reader: str
    task: str
    item: str = ""
    question: str = ""
    category: str = ""
    note: str = ""
    change: str = ""
    decision: str = ""
    by: str = ""


def records(folder: Traversable | Path | None = None) -> tuple[ReviewRecord, ...]:
    """Every record under a folder, the open bank's own if none is named; BadRecord tells a line
    that is none."""
    place = folder or DATA / "review"
    if not place.is_dir():
        return ()
    files = sorted(
        (file for file in place.iterdir() if file.name.endswith(".jsonl")),
        key=lambda file: file.name,
    )
    return tuple(record for file in files for record in _records_in(file))


def settled_tasks(reviews: Iterable[ReviewRecord]) -> frozenset[str]:
    """The tasks that the third reader has closed."""
    return frozenset(record.task for record in reviews if record.kind == "closed")


def prompts_of(item: str) -> tuple[str, ...]:
    """The prompts that an item stands for: a task all twenty, an instance four, a prompt itself.

    >>> prompts_of("cut_rope.3")[0], len(prompts_of("cut_rope")), prompts_of("a.0.predictive.image")
    ('cut_rope.3.predictive.image', 20, ('a.0.predictive.image',))
    """
    task, *place = item.split(".")
    if len(place) > 1:
        return (item,)
    indexes = place or map(str, range(INSTANCES))
    return tuple(
        f"{task}.{index}.{setting}.{modality}"
        for index in indexes
        for setting in SETTINGS
        for modality in MODALITIES
    )


def _records_in(file: Traversable | Path) -> Iterator[ReviewRecord]:
    try:
        text = file.read_text("utf-8")
    except UnicodeDecodeError:
        raise BadRecord(f"{file.name} is not text in UTF-8. Write one object a line.") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield _record(f"{file.name} line {number}", line)


def _record(where: str, line: str) -> ReviewRecord:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadRecord(f"{where} is not JSON: {error.msg}. Write one object a line.") from None
    if not isinstance(row, dict) or row.get("kind") not in KINDS:
        raise BadRecord(f"{where}: 'kind' is one of {', '.join(KINDS)}.")
    _check(where, row)
    task = row.get("task") or row["item"].split(".")[0]
    fields = {key: row[key] for key in row if key in ReviewRecord.__slots__ and key != "task"}
    return ReviewRecord(task=task, **fields)


def _check(where: str, row: Mapping[str, Any]) -> None:
    kind = row["kind"]
    for key in NEEDED[kind]:
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise BadRecord(f"{where}: a {kind!r} record needs {key!r}, a text.")
    if unknown := sorted(row.keys() - {"kind", *ALLOWED[kind]}):
        raise BadRecord(
            f"{where}: {unknown[0]!r} is no key of a {kind!r} record; its keys are "
            f"{', '.join(ALLOWED[kind])}."
        )
    menus = {"category": CATEGORIES, "decision": DECISIONS, "by": WHO}
    for key, menu in menus.items():
        if key in row and row[key] not in menu:
            raise BadRecord(f"{where}: {key!r} is {row[key]!r}; right is {', '.join(menu)}.")
