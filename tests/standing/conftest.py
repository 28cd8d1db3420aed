"""A database with the tiny suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import Session

from infra.db import migrate, session
from tests.standing.tiny import load


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    """An open transaction on a fresh database."""
    url = f"sqlite:///{tmp_path / 'test.db'}"
    migrate(url)
    with session(url) as db:
        load(db)
        yield db
