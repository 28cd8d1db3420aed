"""One prepared machine for all tests of the door: making its catalogue takes two seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete
from sqlmodel import col

from infra.db import session
from infra.settings import Settings
from infra.tables import Event, Submission
from submissions.bundle.check import Catalogue
from submissions.intake.intake import catalogue
from tests.boards import stock
from tests.submissions.bad.values import add_suite


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with the catalogue and a made-up suite of values."""
    settings = stock(Settings(home=tmp_path_factory.mktemp("machine")))
    with session(settings.database) as db:
        add_suite(db)
    return settings


@pytest.fixture(scope="session")
def rows(machine: Settings) -> Catalogue:
    """What the suites expect, read from the rows."""
    with session(machine.database) as db:
        return catalogue(db)


@pytest.fixture
def door(machine: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """The machine as the command line sees it; what was handed in is forgotten afterwards."""
    for name in ("DATABASE_URL", "STORE", "S3_ENDPOINT", "JUDGE"):
        monkeypatch.delenv(f"ARMILLARY_{name}", raising=False)
    monkeypatch.setenv("ARMILLARY_HOME", str(machine.home))
    yield machine
    with session(machine.database) as db:
        db.connection().execute(delete(Event))
        db.connection().execute(delete(Submission).where(col(Submission.trust) != "C"))


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the bundles of the table lie, each made once."""
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture
def spot(tmp_path: Path) -> Path:
    """Where to write a bundle."""
    return tmp_path / "bundle.zip"
