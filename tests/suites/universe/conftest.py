"""A small simulated data set, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.suites.universe.construction import Built, build
from evaluators.worlds.arena.sessions import draw_sessions, write_session


@pytest.fixture(scope="session")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sessions")
    plays = draw_sessions("environment_1", 3, 3, seed=1, idle=0.2)
    return [write_session(folder / f"session-{number}", play) for number, play in enumerate(plays)]


@pytest.fixture(scope="session")
def built(sessions: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    folder = tmp_path_factory.mktemp("data")
    return folder, build(sessions, folder)
