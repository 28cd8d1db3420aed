"""One made-up board for all tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import Session

from infra.db import engine
from infra.settings import Settings
from tests.leaderboard.made_board import settings_in, shared


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A filled database and store, read by many tests and written by none."""
    return shared(tmp_path_factory)


@pytest.fixture
def at_board(board: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The pages find the filled board."""
    monkeypatch.setenv("ARMILLARY_HOME", str(board.home))
    return board


@pytest.fixture
def at_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The pages find no database at all."""
    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path / "empty"))
    return settings_in(tmp_path / "empty")


@pytest.fixture
def written(board: Settings) -> Iterator[Session]:
    """A session whose writes nobody keeps."""
    with Session(engine(board.database)) as db:
        yield db
        db.rollback()
