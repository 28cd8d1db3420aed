"""A served API, a team with a token, and what was handed in is forgotten afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete
from sqlmodel import col

from flows.run import catalogue
from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import Event, QuotaUse, RateCount, Submission, Team, Token, Upload
from leaderboard.api.door import create_app
from submissions.teams import tokens
from tests.servers.postgres import PostgresServer
from tests.submissions.bad.values import add_suite
from tests.submissions.conftest import machine, rows, shelf, spot

__all__ = ["machine", "rows", "shelf", "spot"]
TEAM = "Test team"
TABLES: tuple[Any, ...] = (Event, QuotaUse, Upload, Token, Team, RateCount)


@dataclass(frozen=True, slots=True)
class Desk:
    """A client with a token, and the machine behind it."""

    client: TestClient
    settings: Settings
    token: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}


ON_BOTH = pytest.mark.parametrize("desk", ["machine", "machine_on_postgres"], indirect=True)
"""For tests that are to hold on the embedded database and on PostgreSQL."""


@pytest.fixture(scope="session")
def machine_on_postgres(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Settings:
    """The same catalogue in a PostgreSQL database."""
    url = postgres_server.fresh_database()
    settings = Settings(home=tmp_path_factory.mktemp("machine-on-postgres"), database_url=url)
    migrate(url)
    with session(url) as db:
        catalogue.load(db)
        add_suite(db)
    return settings


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A served API over the embedded database, or over the one that the test names."""
    machine: Settings = request.getfixturevalue(getattr(request, "param", "machine"))
    free = dict.fromkeys(("rate_requests", "rate_address", "quota_waiting"), 100_000)
    settings = machine.model_copy(update=free)
    with session(settings.database) as db:
        tokens.add_team(db, TEAM)
        secret = tokens.create(db, TEAM)
    with TestClient(create_app(settings), raise_server_exceptions=True) as client:
        yield Desk(client, settings, secret)
    with session(settings.database) as db:
        for table in TABLES:
            db.connection().execute(delete(table))
        db.connection().execute(delete(Submission).where(col(Submission.trust) != "C"))
