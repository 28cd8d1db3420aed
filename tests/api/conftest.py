"""A served API, a team with a token, and what was handed in is forgotten afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete
from sqlmodel import col

from infra.db import session
from infra.settings import Settings
from infra.tables import Attempt, Event, QuotaUse, Submission, Team, Token, Upload
from leaderboard.api.door import create_app
from submissions import tokens
from tests.submissions.conftest import machine, rows, shelf, spot

__all__ = ["machine", "rows", "shelf", "spot"]
TEAM = "Test team"
TABLES: tuple[Any, ...] = (Event, QuotaUse, Upload, Token, Team, Attempt)


@dataclass(frozen=True, slots=True)
class Desk:
    """A client with a token, and the machine behind it."""

    client: TestClient
    settings: Settings
    token: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}


@pytest.fixture
def desk(machine: Settings) -> Iterator[Desk]:
    settings = machine.model_copy(update={"rate_requests": 100_000, "rate_address": 100_000})
    with session(settings.database) as db:
        tokens.add_team(db, TEAM)
        secret = tokens.create(db, TEAM)
    with TestClient(create_app(settings), raise_server_exceptions=True) as client:
        yield Desk(client, settings, secret)
    with session(settings.database) as db:
        for table in TABLES:
            db.connection().execute(delete(table))
        db.connection().execute(delete(Submission).where(col(Submission.trust) != "C"))
