"""A database with the tiny suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import Session

from evaluators.suites import suite_named
from infra.db import migrate, session
from tests.standing import tiny
from tests.standing.tiny import load


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    """An open transaction on a fresh database."""
    url = f"sqlite:///{tmp_path / 'test.db'}"
    migrate(url)
    with session(url) as db:
        load(db)
        yield db


@pytest.fixture(autouse=True)
def _tiny_is_a_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made-up suite of these tests can be found by its name."""
    found = lambda name: tiny.SUITE if name == tiny.SUITE.name else suite_named(name)  # noqa: E731
    monkeypatch.setattr("flows.publish.seal_chain.suite_named", found)
