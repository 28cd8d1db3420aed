"""Ratios with their goals, as a table on the screen and as JSON in .armillary/bench."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = Path(".armillary/bench")


@dataclass(frozen=True, slots=True)
class Row:
    """One measured ratio; no goal is a row that only shows."""

    what: str
    ratio: float
    goal: float | None
    holds: bool


def at_least(what: str, ratio: float, goal: float) -> Row:
    """A ratio that must not be smaller."""
    return Row(f"{what} (at least)", ratio, goal, ratio >= goal)


def at_most(what: str, ratio: float, goal: float) -> Row:
    """A ratio that must not be larger."""
    return Row(f"{what} (at most)", ratio, goal, ratio <= goal)


def shown(what: str, ratio: float) -> Row:
    """A ratio to look at."""
    return Row(what, ratio, None, True)


def report(name: str, rows: Sequence[Row]) -> int:
    """Print the table, write the JSON, and give the exit code: 1 if a goal was missed."""
    table = Table("what", "ratio", "goal", "holds", title=name)
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:.2f}"
        table.add_row(
            row.what,
            f"{row.ratio:.2f}",
            goal,
            "" if row.goal is None else "yes" if row.holds else "NO",
        )
    Console(width=120).print(table)
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {"name": name, "rows": [asdict(row) for row in rows]}
    (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0 if all(row.holds for row in rows) else 1
