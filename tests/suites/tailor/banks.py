"""A small sound bank for the tests, and ways to spoil it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evaluators.suites.tailor.bank import NAMES, Bank, public

Rows = dict[str, list[dict[str, Any]]]
Edit = Callable[[Rows], None]


def rows(tasks: int | None = None) -> Rows:
    """A deep copy of the open bank's rows, or of its first few tasks."""
    copy: Rows = json.loads(json.dumps({name: getattr(public(), name) for name in NAMES}))
    kept = {task["task_id"] for task in copy["tasks"][:tasks]}
    copy["tasks"] = [row for row in copy["tasks"] if row["task_id"] in kept]
    copy["instances"] = [row for row in copy["instances"] if row["task_id"] in kept]
    return copy


def bank(edit: Edit | None = None, tasks: int | None = 3) -> Bank:
    """The first tasks of the open bank after an edit."""
    copy = rows(tasks)
    if edit:
        edit(copy)
    return Bank(*(tuple(copy[name]) for name in NAMES))


def write(folder: Path, found: Rows) -> Path:
    """A folder with the three files of a bank."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found[name])
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder
