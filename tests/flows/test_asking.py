"""Asking a Prefect server for evaluations: once for each, again when one died as it began, and
never a pile of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from flows.durable.lease import RUN, hold_lease
from flows.evaluate.door import receive
from flows.evaluate.flow import evaluate
from flows.operate import prefect_runs, queue
from flows.operate.attend import DUTIES, Duty, empty_inbox, repeat
from flows.operate.watchdog import look
from infra import leases
from infra.db import session
from infra.settings import Settings
from infra.tables import Submission, now
from infra.tables.operations import Lease
from submissions.teams.lifecycle import State, advance
from tests.bundles import drawn_outputs
from tests.servers.prefect import PrefectServer

pytestmark = pytest.mark.xdist_group("servers")


@pytest.fixture
def submission(
    here: Settings, prefect_server: PrefectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A received submission, and a server that knows our flow and has no worker."""
    from prefect.deployments.runner import RunnerDeployment

    monkeypatch.setenv("PREFECT_API_URL", prefect_server.api_url)
    monkeypatch.setattr(queue, "PATIENCE", 1e-6)
    RunnerDeployment.from_flow(evaluate, name="evaluate").apply()
    return receive(here, str(drawn_outputs(tmp_path / "bundle.zip")), None, None).submission_id


def to_come(submission: str) -> list[str]:
    """The runs that wait to evaluate it."""
    return [
        run.id
        for run in prefect_runs.open_runs(prefect_runs.TO_COME)
        if run.parameters.get("submission_id") == submission
    ]


def test_what_waits_in_a_long_queue_is_asked_for_once_and_again_when_its_run_died(
    here: Settings, submission: str
) -> None:
    asked = [queue.ask(here), queue.ask(here)]
    (first,) = to_come(submission)
    prefect_runs.crash(first, "Its process died as it began.")
    asked.append(queue.ask(here))

    assert asked == [[submission], [], [submission]]
    assert len(to_come(submission)) == 1 and to_come(submission) != [first]


def enter(settings: Settings, names: str, state: State = State.RECEIVED) -> None:
    """Submissions in the order in which they came; the first letter of a name is its team."""
    empty = ("organisation", "suite_version", "subset", "kind", "trust", "bundle_sha256")
    with session(settings.database) as db:
        for place, name in enumerate(names.split()):
            fields: dict[str, Any] = {
                **dict.fromkeys(empty, ""),
                **{"id": name, "team": name[0], "model": name, "suite": "tailor"},
                **{"state": state, "created_at": now() + timedelta(seconds=place), "manifest": {}},
            }
            db.add(Submission(**fields))


@pytest.mark.parametrize(
    ("judged", "requested", "slots", "asked"),
    [
        ("", "", 1, "A0 B0"),
        ("", "", 2, "A0 B0 A1"),
        ("A7", "A7", 1, "B0"),
        ("", "A0", 1, "B0"),
        ("A7 B7", "A7 B7", 4, "A0 B0 A1"),
        ("A7 A8", "A7 A8", 1, ""),
    ],
)
def test_a_team_that_came_first_with_much_leaves_the_next_place_to_another(
    ready: Settings,
    monkeypatch: pytest.MonkeyPatch,
    judged: str,
    requested: str,
    slots: int,
    asked: str,
) -> None:
    """A has three waiting, B one that came later; some of the others are in work."""
    started: dict[str, str] = {}
    monkeypatch.setattr(prefect_runs, "evaluations", lambda _states: {*requested.split()})
    monkeypatch.setattr(prefect_runs, "slots", lambda _pool: slots)
    monkeypatch.setattr(
        prefect_runs, "start", lambda _flow, told, key: started.update({key: told["submission_id"]})
    )
    enter(ready, judged, State.JUDGING)
    enter(ready, "A0 A1 A2 B0")

    assert queue.ask(ready) == [*started.values()] == asked.split()


def test_a_run_that_died_before_it_took_its_lease_is_an_attempt_and_another_is_started(
    here: Settings, submission: str
) -> None:
    with session(here.database) as db:
        advance(db, submission, State.JUDGING, "Asking the judge.")
        leases.acquire(db, submission, "evaluate", "other-machine:1:1:abcd", 0)
    look(here)
    (first,) = to_come(submission)
    prefect_runs.crash(first, "Its process died as it began.")

    look(here)
    look(here)

    assert len(to_come(submission)) == 1 and to_come(submission) != [first]


def test_the_watchdog_outlives_an_absent_database(home: Settings) -> None:
    gone = home.model_copy(
        update={"database_url": "postgresql+psycopg://nobody:none@127.0.0.1:1/none"}
    )
    said: list[str] = []

    repeat(DUTIES[0], gone, said.append, lambda _seconds: len(said) == 3)

    assert said == ["watchdog: the database does not answer; the next look tries again"] * 3


def test_a_duty_that_fails_is_told_and_comes_round_again(home: Settings) -> None:
    said: list[str] = []

    def fail(_settings: Settings) -> str:
        raise RuntimeError("the disk is full")

    repeat(Duty("inbox", 60, fail), home, said.append, lambda _seconds: len(said) == 2)

    assert said == ["inbox: RuntimeError: the disk is full"] * 2


def test_of_two_who_attend_one_empties_the_inbox(here: Settings) -> None:
    with hold_lease(here, "intake", RUN):
        assert empty_inbox(here) == ""
    with session(here.database) as db:
        lease = db.get(Lease, "intake")

    assert lease is not None and lease.attempts == 0
