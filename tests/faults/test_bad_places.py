"""An evaluation while store, network or disk fail: it ends in a clear state, loses nothing, and
goes on afterwards."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import event

from flows.evaluate.door import receive
from flows.evaluate.flow import evaluate
from flows.operate.watchdog import look
from flows.run.case import Stopped
from flows.workers import outputs
from infra.db import engine, session
from infra.settings import Settings
from infra.tables import Submission
from submissions.teams.lifecycle import state_of
from tests.boards import stock
from tests.servers.flaky import Fault, flaky
from tests.servers.s3 import S3Server

Bundle = Callable[..., Path]
NUMBERS = (
    "SELECT metric, scenario, task, setting, modality, value, low, high FROM cell WHERE run_id "
    "NOT LIKE 'paper-%'"
)


@pytest.fixture
def calm(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    outputs_bundle: Bundle,
) -> list[object]:
    """The numbers of an evaluation in which nothing fails."""
    home = tmp_path_factory.mktemp("calm")
    monkeypatch.setenv("ARMILLARY_HOME", str(home))
    settings = stock(Settings())
    evaluate.fn(receive(settings, str(outputs_bundle("calm.zip")), None, None).submission_id)
    return numbers(settings)


@pytest.fixture
def in_s3(ready: Settings, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A board whose store is in S3, in shards of three samples."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ARMILLARY_STORE", f"s3://{s3_server.fresh_bucket()}/board")
    monkeypatch.setenv("ARMILLARY_S3_ENDPOINT", s3_server.endpoint)
    monkeypatch.setenv("ARMILLARY_SHARD_SIZE", "3")
    return Settings()


def numbers(settings: Settings) -> list[object]:
    with sqlite3.connect(settings.home / "armillary.db") as db:
        return sorted(db.execute(NUMBERS).fetchall(), key=str)


def ended(settings: Settings, submission: str) -> tuple[str, str]:
    """The state of a submission and the code it ended with."""
    with session(settings.database) as db:
        row = db.get_one(Submission, submission)
        return str(state_of(db, submission)), row.code


@pytest.mark.xdist_group("servers")
def test_a_store_that_spoils_three_answers_of_ten_changes_no_number(
    calm: list[object], in_s3: Settings, outputs_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = receive(in_s3, str(outputs_bundle()), None, None).submission_id
    dice = random.Random(11)
    kinds = [Fault.NONE] * 14 + [
        Fault.BUSY,
        Fault.BUSY,
        Fault.RESET,
        Fault.LOST,
        Fault.HALF,
        Fault.FLIPPED,
    ]
    assert in_s3.s3_endpoint

    with flaky(in_s3.s3_endpoint, iter(lambda: dice.choice(kinds), None)) as spoilt:
        monkeypatch.setenv("ARMILLARY_S3_ENDPOINT", spoilt)
        evaluate.fn(submission)

    assert ended(in_s3, submission) == ("published", "")
    assert numbers(in_s3) == calm


@pytest.mark.long
@pytest.mark.xdist_group("servers")
def test_a_network_cut_of_five_seconds_is_waited_out(
    calm: list[object], in_s3: Settings, outputs_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = receive(in_s3, str(outputs_bundle()), None, None).submission_id
    assert in_s3.s3_endpoint
    with flaky(in_s3.s3_endpoint, cut(after=12, seconds=5)) as shaky:
        monkeypatch.setenv("ARMILLARY_S3_ENDPOINT", shaky)
        evaluate.fn(submission)

    assert ended(in_s3, submission) == ("published", "")
    assert numbers(in_s3) == calm


@pytest.mark.long
@pytest.mark.xdist_group("servers")
def test_a_network_cut_of_sixty_seconds_is_our_fault_and_the_watchdog_takes_the_run_up_by_itself(
    calm: list[object], in_s3: Settings, outputs_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    submission = receive(in_s3, str(outputs_bundle()), None, None).submission_id
    assert in_s3.s3_endpoint
    with flaky(in_s3.s3_endpoint, cut(after=12, seconds=60)) as shaky:
        monkeypatch.setenv("ARMILLARY_S3_ENDPOINT", shaky)
        start = time.monotonic()
        with suppress(Stopped):
            evaluate.fn(submission)
        first = ended(in_s3, submission)
        while ended(in_s3, submission)[0] != "published" and time.monotonic() < start + 300:
            look(Settings())
            time.sleep(1)

    assert first in (("failed", "E_STORE"), ("published", ""))
    assert time.monotonic() > start + 60
    assert ended(in_s3, submission) == ("published", "")
    assert numbers(in_s3) == calm


@pytest.mark.xdist_group("servers")
def test_a_long_network_cut_is_our_fault_and_over_when_it_is_over(
    calm: list[object], in_s3: Settings, outputs_bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.store.s3.PAUSES", (0.1,))
    submission = receive(in_s3, str(outputs_bundle()), None, None).submission_id
    assert in_s3.s3_endpoint
    with (
        flaky(in_s3.s3_endpoint, cut(after=12, seconds=3600)) as gone,
        monkeypatch.context() as patch,
    ):
        patch.setenv("ARMILLARY_S3_ENDPOINT", gone)
        with pytest.raises(Stopped, match="Nothing is lost"):
            evaluate.fn(submission)
        assert ended(in_s3, submission) == ("failed", "E_STORE")

    evaluate.fn(submission)

    assert ended(in_s3, submission) == ("published", "")
    assert numbers(in_s3) == calm


def cut(after: int, seconds: float) -> Iterator[Fault]:
    """Requests pass, then all are reset for so long, then they pass again."""
    yield from [Fault.NONE] * after
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield Fault.RESET
    while True:
        yield Fault.NONE


def full_database(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """SQLite may take a few more pages and no more."""
    made = engine(Settings().database)

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    def free() -> None:
        event.remove(made, "checkout", limit)
        made.dispose()

    event.listen(made, "checkout", limit)
    return free


def full_work_folder(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Nothing more can be unpacked."""
    return full(monkeypatch, outputs, "_scratch")


def full_store(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Nothing more reaches the disk under the folder store."""
    import os

    return full(monkeypatch, os, "fsync")


def full(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> Callable[[], None]:
    real, left = getattr(owner, name), threading.Semaphore(3)

    def write(*arguments: object) -> object:
        if left.acquire(blocking=False):
            return real(*arguments)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(owner, name, write)
    return lambda: monkeypatch.setattr(owner, name, real)


@pytest.mark.parametrize("fill", [full_database, full_work_folder, full_store])
def test_a_full_disk_is_told_loses_nothing_and_the_evaluation_goes_on_when_there_is_space(
    fill: Callable[[pytest.MonkeyPatch], Callable[[], None]],
    calm: list[object],
    ready: Settings,
    outputs_bundle: Bundle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ARMILLARY_SHARD_SIZE", "3")
    submission = receive(ready, str(outputs_bundle()), None, None).submission_id

    free = fill(monkeypatch)
    try:
        with pytest.raises(Stopped, match="disk of ours is full"):
            evaluate.fn(submission)
    finally:
        free()
    evaluate.fn(submission)

    assert ended(ready, submission) == ("published", "")
    assert numbers(ready) == calm
