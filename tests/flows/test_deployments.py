"""On a real Prefect server: schedules fire, workers take runs, and nobody has to call anything."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlmodel import select

from flows.operate.deployments import deployments
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission
from infra.tables.operations import Lease, Night
from tests.bundles import drawn_outputs
from tests.command import ROOT, Machine
from tests.servers import prefect
from tests.servers.process import Running, running
from tests.servers.unavailable import needs


@contextmanager
def at_work(machine: Machine, log: Path, *arguments: str) -> Iterator[Running]:
    """A command of ours that runs until the block ends."""
    command = [sys.executable, "-m", "flows.cli.app", *arguments]
    with running(command, log, environment=machine.environment, folder=ROOT) as process:
        yield process


def wait_for(what: Callable[[], bool], seconds: float, *shown: Running) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "\n\n".join(one.tail() for one in shown)
        time.sleep(0.5)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.xdist_group("servers")
def test_schedules_fire_and_workers_bring_a_submission_and_a_night_to_their_end(
    tmp_path: Path,
) -> None:
    with needs(prefect.serve()) as server, ExitStack() as stack:
        wishes = {
            "PREFECT_WORKER_QUERY_SECONDS": "2",
            "ARMILLARY_PENDING_SECONDS": "300",
            "ARMILLARY_LEASE_SECONDS": "120",
        }
        machine = Machine(tmp_path / "home", {**wishes, **server.environment})
        machine.run("init")
        submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
        settings = Settings(home=machine.home)

        said = machine.run("operate", "deploy")
        soon = datetime.now(UTC) + timedelta(minutes=4)
        tonight = Machine(
            machine.home, {**machine.variables, "ARMILLARY_NIGHTLY_AT": f"{soon:%H:%M}"}
        )
        again = tonight.run("operate", "deploy")
        commands = (("watchdog",), ("worker", "--pool", "cpu"), ("worker", "--pool", "gpu"))
        processes = [
            stack.enter_context(at_work(tonight, tmp_path / part[-1], "operate", *part))
            for part in commands
        ]
        wait_for(lambda: state_of(settings, submission) == "published", 1200, *processes)
        wait_for(lambda: nights(settings) == ["done"], 1200, *processes)

    assert again.replace(f"{soon.minute} {soon.hour} * * *", "0 3 * * *") == said
    assert all(f"{one.name}: pool {one.pool}" in said for one in deployments(settings))
    assert leases_of(settings, submission) == [("free", 0)]


def state_of(settings: Settings, submission: str) -> str:
    with session(settings.database) as db:
        return db.exec(select(Submission.state).where(Submission.id == submission)).one()


def nights(settings: Settings) -> list[str]:
    with session(settings.database) as db:
        return list(db.exec(select(Night.state)))


def leases_of(settings: Settings, submission: str) -> list[tuple[str, int]]:
    with session(settings.database) as db:
        return list(db.exec(select(Lease.state, Lease.attempts).where(Lease.subject == submission)))


def test_without_a_server_the_commands_say_what_to_set(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home")

    assert "set PREFECT_API_URL" in machine.run("operate", "deploy", status=2)
    assert "set PREFECT_API_URL" in machine.run("operate", "worker", "--pool", "gpu", status=2)
    assert "Name one place" in machine.run("operate", "worker", status=2)
    assert "PREFECT_API_URL" not in os.environ
