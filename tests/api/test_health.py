"""Health and metrics: what an operator's instruments read is what the rows say."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from infra import leases
from infra.db import migrate, session
from infra.settings import Settings
from infra.tables import Shard
from infra.tables.operations import Night
from leaderboard.api.app import create
from submissions.teams.lifecycle import record


@pytest.fixture(params=["embedded", "PostgreSQL"])
def board(request: pytest.FixtureRequest, ready: Settings) -> Settings:
    """A board with nothing on it, over each of the databases."""
    if request.param == "embedded":
        return ready
    url = request.getfixturevalue("postgres_server").fresh_database()
    migrate(url)
    return ready.model_copy(update={"database_url": url})


def test_metrics_say_what_the_rows_say(board: Settings) -> None:
    from datetime import date

    with session(board.database) as db:
        db.add(
            Shard(
                owner="o",
                stage="outputs",
                inputs_sha256="a",
                key="k",
                sha256="s",
                items=3,
                seconds=2.5,
            )
        )
        db.add(Night(night=date(2026, 11, 16), state="done", finished_at=leases.clock(db)))
        leases.acquire(db, "sub-1", "evaluate", "other:1:1:x", -1)
        record(db, "sub-1", "lease_expired", "gone")

    found = TestClient(create(board), client=("127.0.0.1", 1)).get("/metrics")

    lines = found.text.splitlines()
    assert found.headers["content-type"].startswith("text/plain")
    assert 'armillary_shard_seconds_total{stage="outputs"} 2.5' in lines
    assert "armillary_leases_expired 1.0" in lines
    assert "armillary_lease_expiries_total 1.0" in lines
    assert "armillary_queue_age_seconds 0.0" in lines
    assert "armillary_boards_frozen 0.0" in lines


def test_ready_names_what_does_not_answer(board: Settings) -> None:
    good = TestClient(create(board)).get("/health/ready")
    away = board.model_copy(
        update={"database_url": "postgresql+psycopg://nobody:none@127.0.0.1:1/none"}
    )
    bad = TestClient(create(away)).get("/health/ready")

    assert (good.status_code, good.json()["state"]) == (200, "ready")
    assert (bad.status_code, bad.json()["database"], bad.json()["store"]) == (
        503,
        "does not answer",
        "answers",
    )
    assert TestClient(create(away)).get("/health/live").status_code == 200


def test_metrics_are_for_operators_only(board: Settings) -> None:
    asked = {
        "outside": TestClient(create(board)).get("/metrics"),
        "behind a proxy here": TestClient(create(board), client=("127.0.0.1", 1)).get(
            "/metrics", headers={"X-Forwarded-For": "192.0.2.1"}
        ),
    }
    locked = board.model_copy(update={"metrics_token": SecretStr("instruments")})
    client = TestClient(create(locked), client=("127.0.0.1", 1))
    asked["no token"] = client.get("/metrics")
    asked["wrong token"] = client.get("/metrics", headers={"Authorization": "Bearer x"})
    right = client.get("/metrics", headers={"Authorization": "Bearer instruments"})

    assert {name: answer.status_code for name, answer in asked.items()} == dict.fromkeys(asked, 403)
    assert all("armillary_" not in answer.text for answer in asked.values())
    assert right.status_code == 200 and "armillary_queue" in right.text
