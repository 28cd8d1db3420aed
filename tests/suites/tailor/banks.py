"""A small sound bank for the tests, and ways to spoil it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from evaluators.suites.tailor import task_files
from evaluators.suites.tailor.bank import NAMES, Bank, read

SMALL = Path(__file__).parent / "small_bank"
"""Five tasks that stay as they are, whatever the open bank becomes."""
Rows = dict[str, list[dict[str, Any]]]
Edit = Callable[[Rows], None]


@cache
def small() -> Bank:
    """The small bank."""
    return read(SMALL)


def rows(tasks: int | None = None, of: Bank | None = None) -> Rows:
    """A deep copy of the small bank's rows or of another's, or of its first few tasks."""
    source = of or small()
    copy: Rows = json.loads(json.dumps({name: getattr(source, name) for name in NAMES}))
    kept = {task["task_id"] for task in copy["tasks"][:tasks]}
    copy["tasks"] = [row for row in copy["tasks"] if row["task_id"] in kept]
    copy["instances"] = [row for row in copy["instances"] if row["task_id"] in kept]
    return copy


def bank(edit: Edit | None = None, tasks: int | None = 3) -> Bank:
    """The first tasks of the small bank after an edit."""
    copy = rows(tasks)
    if edit:
        edit(copy)
    return Bank(*(tuple(copy[name]) for name in NAMES))


def write(folder: Path, found: Rows) -> Path:
    """A folder with the files of a bank."""
    task_files.write(Bank(*(tuple(found[name]) for name in NAMES)), folder)
    return folder
