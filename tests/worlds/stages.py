"""The simulated table for tests: opened once a process, skipped with the reason where nothing can
be drawn, but never in CI."""

from __future__ import annotations

import os
from functools import cache

import pytest

from evaluators.worlds.tabletop.engine import NoSimulator
from evaluators.worlds.tabletop.episodes import TableStage


@cache
def _opened() -> TableStage | NoSimulator:
    try:
        return TableStage.open()
    except NoSimulator as error:
        return error


def open_stage() -> TableStage:
    """A table with cameras; where there is none the test is skipped, and in CI it fails."""
    stage = _opened()
    if isinstance(stage, TableStage):
        return stage
    if os.environ.get("CI"):
        raise stage
    pytest.skip(str(stage))
