"""Leases: one holder at a time, a sign of life keeps it, silence loses it."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from infra import leases
from infra.db import migrate, session
from infra.tables.operations import Lease
from tests.servers.postgres import PostgresServer

ELSEWHERE = "other-machine:1:1:abcd"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A migrated database of each kind."""
    server: PostgresServer | None = None
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
    url = server.fresh_database() if server else f"sqlite:///{tmp_path / 'test.db'}"
    migrate(url)
    return url


def take(url: str, owner: str, seconds: float = 60) -> bool:
    with session(url) as db:
        return leases.acquire(db, "sub-1", "evaluate", owner, seconds)


def the_lease(url: str) -> Lease:
    with session(url) as db:
        found = db.get(Lease, "sub-1")
    assert found is not None
    return found


def test_of_many_who_want_a_lease_one_gets_it(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda number: take(url, f"machine-{number}:1:1:x"), range(12)))

    assert sum(got) == 1
    assert the_lease(url).attempts == 1


def test_a_lease_that_ran_out_is_taken_and_counts_as_another_attempt(url: str) -> None:
    take(url, ELSEWHERE, seconds=0.01)
    time.sleep(0.05)

    taken = take(url, "third-machine:1:1:y")

    assert taken
    assert (the_lease(url).owner, the_lease(url).attempts) == ("third-machine:1:1:y", 2)


def test_who_lost_a_lease_learns_it_at_the_next_heartbeat(url: str) -> None:
    take(url, ELSEWHERE, seconds=0.01)
    time.sleep(0.05)
    take(url, "third-machine:1:1:y")

    with session(url) as db:
        assert not leases.renew(db, "sub-1", ELSEWHERE, 60)
        assert leases.renew(db, "sub-1", "third-machine:1:1:y", 60)


def test_a_late_heartbeat_still_counts_while_nobody_took_the_lease(url: str) -> None:
    take(url, ELSEWHERE, seconds=0.01)
    time.sleep(0.05)

    with session(url) as db:
        assert leases.renew(db, "sub-1", ELSEWHERE, 60)
        assert leases.expired(db) == []


def test_of_two_watchdogs_one_frees_a_dead_lease(url: str) -> None:
    take(url, ELSEWHERE, seconds=0.01)
    time.sleep(0.05)
    with session(url) as db:
        (dead,) = leases.expired(db)

    def free(_: int) -> bool:
        with session(url) as db:
            return leases.free(db, dead, "gone")

    with ThreadPoolExecutor(2) as pool:
        freed = list(pool.map(free, range(2)))

    assert sorted(freed) == [False, True]
    assert the_lease(url).state == "free"


def test_a_good_end_forgets_the_attempts_and_a_bad_one_keeps_them(url: str) -> None:
    take(url, ELSEWHERE)
    with session(url) as db:
        leases.release(db, "sub-1", ELSEWHERE, well=False, reason="broke", wait=60)
    after_bad = the_lease(url)
    take(url, ELSEWHERE)
    with session(url) as db:
        leases.release(db, "sub-1", ELSEWHERE, well=True)

    assert (after_bad.attempts, after_bad.reason) == (1, "broke")
    assert after_bad.not_before is not None
    assert the_lease(url).attempts == 0


def test_a_dead_process_of_this_machine_is_known_to_be_dead_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'test.db'}"
    migrate(url)
    command = [sys.executable, "-c", "from infra.leases import new_owner; print(new_owner())"]
    gone = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    take(url, gone)

    taken = take(url, leases.new_owner())

    assert leases.is_dead_here(gone)
    assert not leases.is_dead_here(ELSEWHERE)
    assert not leases.is_dead_here(leases.new_owner())
    assert taken
