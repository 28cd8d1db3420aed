"""What a suite shows of one sample: one module a suite, with `draw` for a panel of its own; an
outside suite has it as `panel.py` in its folder.

The page itself shows prompt, input, output and answers; a module's `input_picture` is the input's,
its `output_picture` the output's where that is no picture itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.draw.suite_modules import suite_module
from leaderboard.queries.samples import RunFacts, ScoredSample


@dataclass(frozen=True, slots=True)
class SampleView:
    """One sample of one entry.

    `record` is what was kept with the output, `detail` what was kept with each metric's score, and
    `fetch` brings any file of the store by its SHA-256, or None if it cannot be had now.
    """

    run: RunFacts
    item: ScoredSample
    record: Mapping[str, Any]
    detail: Mapping[str, Mapping[str, Any]]
    fetch: Callable[[str], Path | None]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and what it is of."""

    picture: str | npt.NDArray[np.uint8]
    words: str


Panel = Callable[[SampleView], None]


def panel_of(suite: str) -> Panel | None:
    """How a suite draws one of its samples with Streamlit; None if it has nothing to add."""
    return getattr(_module(suite), "draw", None)


def input_picture(view: SampleView) -> Picture | None:
    """What a sample's model got to see beside the prompt; None where that is nothing, or cannot be
    had now."""
    return _picture(view, "input_picture")


def output_picture(view: SampleView) -> Picture | None:
    """An output that is no picture, as one."""
    return _picture(view, "output_picture")


def _picture(view: SampleView, function: str) -> Picture | None:
    gives: Callable[[SampleView], Picture | None] | None = getattr(
        _module(view.run.suite), function, None
    )
    return gives(view) if gives else None


def _module(suite: str) -> ModuleType | None:
    return suite_module(__name__, suite, "panel.py")
