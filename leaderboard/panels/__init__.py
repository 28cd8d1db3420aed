"""What a suite shows of one sample beside prompt, output and answers: one module a suite, each with `draw`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from leaderboard.behind import Item, RunFacts


@dataclass(frozen=True, slots=True)
class Shown:
    """One sample of one entry.

    `record` is what was kept with the output, `detail` what was kept with each metric's score, and `fetch` brings any
    file of the store by its SHA-256, or None if it cannot be had now.
    """

    run: RunFacts
    item: Item
    record: Mapping[str, Any]
    detail: Mapping[str, Mapping[str, Any]]
    fetch: Callable[[str], Path | None]


Panel = Callable[[Shown], None]


def panel_of(suite: str) -> Panel | None:
    """How a suite draws one of its samples with Streamlit; None if it has nothing to add."""
    name = f"{__name__}.{suite}"
    if not (suite.isidentifier() and find_spec(name)):
        return None
    draw: Panel = import_module(name).draw
    return draw
