"""A small data set of recorded play, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluators.suites.universe.construction import Built, LongRecording, build, of_session
from evaluators.worlds.doom.engine import running
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder


@pytest.fixture(scope="session")
def played() -> list[PlayedSession]:
    """Three sessions of the adaptation environment."""
    with running() as engine:
        return [engine.record(SessionOrder("environment_1", seed, 5)) for seed in (6, 7, 8)]


@pytest.fixture(scope="session")
def recordings(played: list[PlayedSession]) -> list[LongRecording]:
    return [one for one in map(of_session, played) if isinstance(one, LongRecording)]


@pytest.fixture(scope="session")
def built(
    recordings: list[LongRecording], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Built]:
    folder = tmp_path_factory.mktemp("data")
    return folder, build(recordings, folder)
