"""What the doctor says of servers, pools, workers, watchdog, judge and clocks: red where something
is missing, and exit status 1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli.app import app
from flows.operate.attend import DUTIES
from infra import alive, leases
from infra.db import downgrade, session
from infra.settings import Settings
from infra.tables import now
from infra.tables.operations import Sign
from tests.servers.postgres import PostgresServer
from tests.servers.prefect import PrefectServer


def findings(status: int) -> dict[str, dict[str, str]]:
    """The doctor's rows by subject."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == status, result.output
    return {row["what"]: row for row in json.loads(result.stdout)}


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.cli.doctor.installation.LOW_DISK", 0)


@contextmanager
def endpoint(status: int, ahead: timedelta = timedelta()) -> Iterator[str]:
    """A server that answers everything with one status and tells a time of its own."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response_only(status)
            self.send_header("Date", format_datetime(now() + ahead, usegmt=True))
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_without_a_server_nothing_is_red(ready: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    rows = findings(0)

    assert rows["Prefect"]["state"] == rows["watchdog"]["state"] == "note"
    assert rows["clock"]["state"] == rows["database"]["state"] == "good"


def test_a_disk_that_is_nearly_full_is_red(
    ready: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.cli.doctor.installation.LOW_DISK", 1 << 80)

    assert findings(1)["disk"]["state"] == "wrong"


@pytest.mark.parametrize(
    ("unconfined", "state", "status"), [("no", "wrong", 1), ("yes", "note", 0)]
)
def test_a_kernel_that_fences_no_files_is_red_unless_an_operator_lets_models_run(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, unconfined: str, state: str, status: int
) -> None:
    monkeypatch.setattr("infra.sandbox.fence.version", lambda: 0)
    monkeypatch.setenv("ARMILLARY_UNCONFINED", unconfined)

    rows = findings(status)

    assert rows["fence"]["state"] == state and "Landlock" in rows["fence"]["detail"]
    assert ("unconfined" in rows) == (status == 0)


def test_signs_of_every_duty_are_a_watchdog_and_old_ones_are_none(ready: Settings) -> None:
    with session(ready.database) as db:
        for duty in DUTIES:
            alive.note_round(db, duty.name)
    assert findings(0)["watchdog"]["state"] == "good"

    with session(ready.database) as db:
        for sign in db.query(Sign):
            sign.at -= timedelta(minutes=5)
    assert "no sign of watchdog since" in findings(0)["watchdog"]["detail"]


def test_tables_of_another_release_are_red(ready: Settings) -> None:
    downgrade(ready.database, "0020")

    row = findings(1)["database"]

    assert row["state"] == "wrong" and "tables of 0020" in row["detail"]


@pytest.mark.parametrize(("status", "state"), [(200, "good"), (401, "wrong"), (503, "wrong")])
def test_a_judge_behind_an_endpoint_is_asked_whether_it_lets_us_in(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, status: int, state: str
) -> None:
    monkeypatch.setenv("ARMILLARY_JUDGE", "http:seer@2026-01")
    monkeypatch.setenv("ARMILLARY_JUDGE_KEY", "a-key-of-ours")
    with endpoint(status) as url:
        monkeypatch.setenv("ARMILLARY_JUDGE_URL", f"{url}/v1")
        row = findings(0 if state == "good" else 1)["judge"]

    assert row["state"] == state and "a-key-of-ours" not in str(row)


def test_a_judge_that_nobody_answers_for_is_red(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARMILLARY_JUDGE", "http:seer@2026-01")
    monkeypatch.setenv("ARMILLARY_JUDGE_URL", "http://127.0.0.1:9/v1")
    assert "does not answer" in findings(1)["judge"]["detail"]

    monkeypatch.setenv("ARMILLARY_JUDGE", f"vlm:{tmp_path}")
    assert "holds no model" in findings(1)["judge"]["next step"]


@pytest.mark.parametrize(("minutes", "status"), [(0, 0), (2, 1)])
def test_a_clock_that_is_minutes_off_is_red(
    ready: Settings, monkeypatch: pytest.MonkeyPatch, minutes: int, status: int
) -> None:
    with endpoint(404, timedelta(minutes=minutes)) as url:
        monkeypatch.setenv("ARMILLARY_S3_ENDPOINT", url)
        row = findings(status)["clock"]

    assert row["state"] == ("wrong" if minutes else "good") and "the store" in row["detail"]


def test_the_databases_clock_is_looked_at(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path))
    monkeypatch.setenv("ARMILLARY_DATABASE_URL", postgres_server.fresh_database())
    real = leases.clock
    monkeypatch.setattr(leases, "clock", lambda db: real(db) - timedelta(seconds=90))

    row = findings(1)["clock"]

    assert row["state"] == "wrong" and "+90" in row["detail"] and "the database" in row["detail"]


def test_a_server_without_pools_workers_or_watchdog_is_red_row_by_row(
    ready: Settings, prefect_server: PrefectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolUpdate
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from flows.operate.deployments import POOLS, register

    for name, value in prefect_server.environment.items():
        monkeypatch.setenv(name, value)
    with (
        temporary_settings({PREFECT_API_URL: prefect_server.api_url}),
        get_client(sync_client=True) as client,
    ):
        for stale in client.read_work_pools():
            client.delete_work_pool(stale.name)
        empty = findings(1)
        register(ready, None, lambda _: None)
        client.update_work_pool("gpu", WorkPoolUpdate(is_paused=True))
        made = findings(1)
        client.update_work_pool("gpu", WorkPoolUpdate(is_paused=False))
        for pool in POOLS:
            client.send_worker_heartbeat(pool, f"one-of-{pool}", 30)
        at_work = findings(1)

    assert empty["Prefect"]["state"] == "good"
    assert {empty[f"pool {pool}"]["state"] for pool in POOLS} == {"wrong"}
    assert made["deployments"]["state"] == made["pool cpu"]["state"] == "good"
    assert made["pool gpu"]["detail"].startswith("paused")
    assert made["workers cpu"]["state"] == made["watchdog"]["state"] == "wrong"
    assert at_work["workers gpu"]["detail"] == "1 online: one-of-gpu"
    assert at_work["watchdog"]["state"] == "wrong"


def test_a_server_that_does_not_answer_is_red(
    ready: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    nowhere = "http://127.0.0.1:9/api"
    monkeypatch.setenv("PREFECT_API_URL", nowhere)
    with temporary_settings({PREFECT_API_URL: nowhere}):
        assert findings(1)["Prefect"]["state"] == "wrong"
