"""A task's file as text: one JSON object, laid out so that each prompt and each question is one
line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluators.contracts import Json
from evaluators.suites.tailor.bank import Bank, Row

ROWS = ("questions", "instances")
"""Keys that hold a list of rows, one a line or, for instances, one a block."""


def text_of(task: Row) -> str:
    """The file of a task with its instances, in the one layout that such files have.

    >>> print(text_of({"task_id": "cut_x", "questions": [{"id": "rope"}]}), end="")
    {
      "task_id": "cut_x",
      "questions": [
        {"id": "rope"}
      ]
    }
    """
    return _block(task, 0) + "\n"


def tasks_with_instances(bank: Bank) -> list[dict[str, Json]]:
    """The tasks of a bank as their files hold them."""
    hidden = ("task_id", "index")
    return [
        {
            **task,
            "instances": [
                {key: value for key, value in row.items() if key not in hidden}
                for row in bank.instances
                if row["task_id"] == task["task_id"]
            ],
        }
        for task in bank.tasks
    ]


def write(bank: Bank, folder: Path) -> None:
    """The files of a bank; each is there whole or not at all."""
    lines = (json.dumps(action, ensure_ascii=False) + "\n" for action in bank.actions)
    _write_whole(folder / "actions.jsonl", "".join(lines))
    for task in tasks_with_instances(bank):
        _write_whole(folder / "tasks" / f"{task['task_id']}.json", text_of(task))


def _write_whole(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    new.write_text(text, "utf-8")
    new.replace(file)


def _block(row: Mapping[str, Any], depth: int) -> str:
    inner = "  " * (depth + 1)
    lines = [f"{inner}{_line(key)}: {_value(key, row[key], depth + 1)}" for key in row]
    return "{\n" + ",\n".join(lines) + "\n" + "  " * depth + "}"


def _value(key: str, value: object, depth: int) -> str:
    if key not in ROWS or not isinstance(value, list) or not value:
        return _line(value)
    return _rows(value, depth, blocks=key == "instances")


def _rows(rows: Sequence[Any], depth: int, *, blocks: bool) -> str:
    inner = "  " * (depth + 1)
    texts = [inner + (_block(row, depth + 1) if blocks else _line(row)) for row in rows]
    return "[\n" + ",\n".join(texts) + "\n" + "  " * depth + "]"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
