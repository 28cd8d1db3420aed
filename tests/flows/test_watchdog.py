"""The watchdog: the dead are freed and started again, everything comes to an end, and two at once
do no harm."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlmodel import select

from flows.durable.lease import Busy, LeaseLost, check_lease, hold_lease
from flows.evaluate.door import receive
from flows.operate import prefect_runs, queue
from flows.operate.watchdog import Round, look
from infra import leases
from infra.db import engine, session
from infra.settings import Settings
from infra.tables import Event, Submission, now
from infra.tables.operations import Lease
from submissions.teams.lifecycle import State, advance, timeline
from tests.bundles import drawn_outputs

ELSEWHERE = "other-machine:1:1:abcd"


@pytest.fixture
def submission(ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A received submission, and no Prefect server."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return receive(ready, str(drawn_outputs(tmp_path / "bundle.zip")), None, None).submission_id


def put_in_work(settings: Settings, submission: str, seconds: float, attempts: int = 1) -> None:
    """As if a worker on another machine had begun and been silent since."""
    with session(settings.database) as db:
        advance(db, submission, State.JUDGING, "Asking the judge.")
        leases.acquire(
            db, submission, "evaluate", ELSEWHERE, seconds, parameters={"judge": "scripted"}
        )
        for _ in range(attempts - 1):
            lease = db.get(Lease, submission)
            assert lease is not None
            lease.attempts += 1
    time.sleep(0.02)


def looked(settings: Settings, **changes: object) -> tuple[Round, list[str]]:
    started: list[str] = []
    done = look(
        settings.model_copy(update=changes), lambda _settings, lease: started.append(lease.subject)
    )
    return done, started


def the_row(settings: Settings, submission: str) -> Submission:
    with session(settings.database) as db:
        row = db.get(Submission, submission)
    assert row is not None
    return row


def test_who_gives_signs_of_life_is_left_alone(ready: Settings, submission: str) -> None:
    put_in_work(ready, submission, seconds=60)

    done, started = looked(ready)

    assert (str(done), started) == ("all is well", [])


def test_looking_at_what_waits_reads_no_manifest(
    ready: Settings, submission: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest may have megabytes, and a look comes every few seconds."""
    monkeypatch.setattr(prefect_runs, "evaluations", lambda _states: frozenset[str]())
    monkeypatch.setattr(prefect_runs, "slots", lambda _pool: 1)
    monkeypatch.setattr(prefect_runs, "start", lambda *_a, **_k: None)
    seen: list[str] = []
    event.listen(
        engine(ready.database),
        "before_cursor_execute",
        lambda _c, _k, text, *_: seen.append(text.lower()),
    )

    asked = queue.ask(ready)
    look(ready)

    assert asked == [submission]
    assert any("from submission" in text for text in seen)
    assert not any("manifest" in text for text in seen)


def test_a_dead_evaluation_is_freed_and_started_again_and_the_timeline_says_so(
    ready: Settings, submission: str
) -> None:
    put_in_work(ready, submission, seconds=0.01)

    done, started = looked(ready)

    assert done.freed == done.started == started == [submission]
    with session(ready.database) as db:
        assert [event.kind for event in timeline(db, submission)][-1] == "lease_expired"


def test_two_watchdogs_at_once_free_a_run_once(ready: Settings, submission: str) -> None:
    put_in_work(ready, submission, seconds=0.01)

    with ThreadPoolExecutor(2) as pool:
        rounds = list(pool.map(lambda _: looked(ready)[0], range(2)))

    assert sum(len(done.freed) for done in rounds) == 1
    with session(ready.database) as db:
        kinds = db.exec(select(Event.kind).where(Event.subject == submission)).all()
    assert kinds.count("lease_expired") == 1


def test_what_ended_too_many_workers_fails_by_our_fault(ready: Settings, submission: str) -> None:
    put_in_work(ready, submission, seconds=0.01, attempts=3)

    done, started = looked(ready, attempts=3)

    row = the_row(ready, submission)
    assert (done.given_up, started) == ([submission], [])
    assert (row.state, row.code, row.fault) == (State.FAILED, "E_ATTEMPTS", "ours")


def received(settings: Settings, submission: str, hours: float, kind: str = "outputs") -> None:
    """As if it had come so long ago."""
    then = now() - timedelta(hours=hours)
    with session(settings.database) as db:
        row = db.get_one(Submission, submission)
        row.created_at, row.kind = then, kind
        for event in db.exec(select(Event).where(Event.subject == submission)):
            event.at = then


def test_past_its_deadline_a_submission_fails_by_our_fault_whether_it_waits_or_runs(
    ready: Settings, submission: str
) -> None:
    put_in_work(ready, submission, seconds=600)
    received(ready, submission, 100)

    done, _ = looked(ready)

    row = the_row(ready, submission)
    assert done.given_up == [submission]
    assert (row.state, row.code, row.fault) == (State.FAILED, "E_DEADLINE", "ours")
    with session(ready.database) as db:
        lease = db.get(Lease, submission)
    assert lease is not None and lease.state == "free"


@pytest.mark.parametrize(
    ("lease_seconds", "at_work", "came", "ended"),
    [
        (600, 47, 25 + 47 + 1, False),
        (600, 47, 71 + 47, False),
        (600, 48 + 72 + 1, 150, True),
        (0.01, 47, 25 + 47 + 1, True),
        (None, 0, 73, True),
    ],
    ids=["waited a day", "waited three days", "waits at work", "lost its worker", "never began"],
)
def test_a_model_at_work_is_ended_by_its_own_time_and_not_by_what_it_waited(
    ready: Settings,
    submission: str,
    lease_seconds: float | None,
    at_work: float,
    came: float,
    ended: bool,
) -> None:
    """Of 48 hours of GPU time and 72 to the deadline."""
    if lease_seconds is not None:
        put_in_work(ready, submission, lease_seconds)
        with session(ready.database) as db:
            db.get_one(Lease, submission).acquired_at = now() - timedelta(hours=at_work)
    received(ready, submission, came, kind="model")

    done, _ = looked(ready, quota_free="")

    row = the_row(ready, submission)
    assert done.given_up == [submission] * ended
    assert (row.code, row.fault) == (("E_DEADLINE", "ours") if ended else ("", ""))


def test_a_model_whose_try_is_free_has_less_time_before_the_deadline_counts(
    ready: Settings, submission: str
) -> None:
    put_in_work(ready, submission, 600)
    with session(ready.database) as db:
        db.get_one(Lease, submission).acquired_at = now() - timedelta(hours=75)
    received(ready, submission, 76, kind="model")

    assert looked(ready, quota_free="")[0].given_up == []
    assert looked(ready)[0].given_up == [submission]


def test_a_passing_fault_of_ours_is_tried_again_after_its_wait(
    ready: Settings, submission: str
) -> None:
    put_in_work(ready, submission, seconds=60)
    with session(ready.database) as db:
        advance(db, submission, State.FAILED, "The store was away.", fault="ours", code="E_STORE")
        leases.release(db, submission, ELSEWHERE, well=False, reason="store", wait=600)

    at_once, _ = looked(ready)
    with session(ready.database) as db:
        db.get_one(Lease, submission).not_before = leases.clock(db) - timedelta(seconds=1)
    later, _ = looked(ready)

    assert at_once.started == []
    assert later.started == [submission]


def test_the_heartbeat_keeps_a_short_lease_through_long_work(
    ready: Settings, submission: str
) -> None:
    quick = ready.model_copy(update={"lease_seconds": 5.0})

    with hold_lease(quick, submission, "evaluate"):
        time.sleep(1.2 * quick.lease_seconds)
        with session(quick.database) as db:
            dead = leases.expired(db)
        with pytest.raises(Busy, match="in work on"), hold_lease(quick, submission, "evaluate"):
            pass

    assert dead == []


def test_who_lost_its_lease_stops_and_leaves_the_state_to_its_successor(
    ready: Settings, submission: str
) -> None:
    quick = ready.model_copy(update={"lease_seconds": 0.2})

    def work() -> None:
        with hold_lease(quick, submission, "evaluate") as hold:
            with session(quick.database) as db:
                lease = db.get(Lease, submission)
                assert lease is not None
                lease.owner = ELSEWHERE
            assert hold.lost.wait(30)
            check_lease()

    with pytest.raises(LeaseLost, match="taken over"):
        work()

    with session(quick.database) as db:
        lease = db.get(Lease, submission)
    assert lease is not None and lease.owner == ELSEWHERE


def test_without_a_server_it_is_finished_here(
    ready: Settings, submission: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    put_in_work(ready, submission, seconds=0.01)

    first, second = look(Settings()), look(Settings())

    assert first.freed == first.started == [submission]
    assert the_row(ready, submission).state == State.PUBLISHED
    assert str(second) == "all is well"
