"""Shards on a cluster: what a worker failed counts once a try and is tried elsewhere if it can be,
and submissions take turns."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.workers import dask_shards
from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from flows.workers.dask_shards import DaskRunner, dask_runner
from flows.workers.executor import ShardTry, _as_finished
from infra.settings import Settings
from tests.command import Machine
from tests.flows.faulty_shards import (
    SAMPLES,
    failed_by_its_machine,
    given_back,
    held,
    killed_once,
    named,
    tries_in,
)
from tests.flows.test_cluster import until
from tests.servers import dask
from tests.servers.dask import DaskCluster
from tests.servers.unavailable import needs

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("servers")]


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    folder = tmp_path_factory.mktemp("one")
    with needs(dask.serve(folder, 1, Machine(folder / "home").environment)) as cluster:
        yield cluster


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[DaskCluster]:
    with needs(dask.serve(tmp_path, 2, Machine(tmp_path / "home").environment)) as cluster:
        yield cluster


def shard_of(function: Callable[..., Any]) -> Any:
    from prefect import task

    return task(retries=2, retry_delay_seconds=[0, 0])(function)


def tried(runner: DaskRunner, shard: Any, arguments: dict[str, Any]) -> list[Any]:
    """What a shard returned, tried as often as it takes."""
    running = {runner.submit(shard, arguments): ShardTry(arguments)}
    return list(_as_finished(runner, shard, running, None))


def runs(folder: Path) -> list[str]:
    """The addresses of the workers that ran the shard of this folder, in order."""
    return (folder / "runs").read_text().split()


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [(given_back, {}, GivenBack), (failed_by_its_machine, {"times": 100}, WorkerFault)],
)
def test_a_fault_of_ours_ends_a_try_and_the_cluster_tries_nothing_by_itself(
    one_worker: DaskCluster,
    tmp_path: Path,
    function: Callable[..., Any],
    arguments: dict[str, Any],
    error: type[Exception],
) -> None:
    with dask_runner(Settings(engine=one_worker.engine)) as runner:
        future = runner.submit(shard_of(function), {"folder": str(tmp_path), **arguments})
        with pytest.raises(error):
            future.result(timeout=300)

    assert len(runs(tmp_path)) == 1


def test_a_shard_that_its_machine_failed_is_tried_again_until_it_ends(
    one_worker: DaskCluster, tmp_path: Path
) -> None:
    shard, arguments = shard_of(failed_by_its_machine), {"folder": str(tmp_path), "times": 2}
    with dask_runner(Settings(engine=one_worker.engine)) as runner:
        found = tried(runner, shard, arguments)

    assert found == [3]
    assert len(runs(tmp_path)) == 3


def test_what_one_worker_failed_is_tried_on_the_other_even_if_that_is_busy(
    two_workers: DaskCluster, tmp_path: Path
) -> None:
    busy, failing = folders(tmp_path)

    def end_the_other() -> None:
        until((failing / "runs").exists)
        time.sleep(3)
        (busy / "go").touch()

    with dask_runner(Settings(engine=two_workers.engine)) as runner:
        other = runner.submit(shard_of(held), {"folder": str(busy)})
        until((busy / "runs").exists, *two_workers.workers)
        threading.Thread(target=end_the_other, daemon=True).start()
        found = tried(runner, shard_of(failed_by_its_machine), {"folder": str(failing), "times": 1})
        runner.result(other)

    first, second = runs(failing)
    assert found == [2]
    assert [second] == runs(busy) and first != second


def test_when_the_other_worker_leaves_the_one_that_failed_it_tries_again(
    two_workers: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_shards, "ASKED_SECONDS", 1.0)
    busy, failing = folders(tmp_path)

    def kill_the_other() -> None:
        until(lambda: bool(runner.only))
        os.killpg(two_workers.workers[number].pid, signal.SIGKILL)
        (busy / "go").touch()

    with dask_runner(Settings(engine=two_workers.engine)) as runner:
        other = runner.submit(shard_of(held), {"folder": str(busy)})
        until((busy / "runs").exists, *two_workers.workers)
        workers = runner.client.scheduler_info()["workers"]
        number = int(workers[runs(busy)[0]]["name"].removeprefix("worker-"))
        threading.Thread(target=kill_the_other, daemon=True).start()
        found = tried(runner, shard_of(failed_by_its_machine), {"folder": str(failing), "times": 1})
        runner.result(other)

    first, second = runs(failing)
    assert found == [2]
    assert first == second != runs(busy)[0]


def test_a_worker_that_died_under_a_sample_is_told_and_another_makes_it(
    two_workers: DaskCluster, tmp_path: Path
) -> None:
    with dask_runner(Settings(engine=two_workers.engine)) as runner:
        (found,) = tried(runner, shard_of(killed_once), {"folder": str(tmp_path)})

    first, second = runs(tmp_path)
    assert first != second
    assert found == [f"{name} scored" for name in SAMPLES]
    assert [note.sample_id for note in tries_in(str(tmp_path)).dead_workers()] == ["second"]


def test_a_submission_of_one_shard_does_not_wait_for_all_shards_of_another(
    one_worker: DaskCluster, tmp_path: Path
) -> None:
    settings = Settings(engine=one_worker.engine)
    with dask_runner(settings) as first, dask_runner(settings) as second:
        long = handed(first, tmp_path, "a0", "a1", "a2", "a3", gate="go")
        waits(first, 3)
        short = handed(second, tmp_path, "b0")
        waits(first, 4)
        (tmp_path / "go").touch()
        drain(first, long)
        drain(second, short)

    assert order(tmp_path) == ["a0", "b0", "a1", "a2", "a3"]


def test_a_submission_that_is_half_done_takes_turns_with_one_that_comes_then(
    one_worker: DaskCluster, tmp_path: Path
) -> None:
    settings = Settings(engine=one_worker.engine)
    with dask_runner(settings) as first:
        done = handed(first, tmp_path, "a0", "a1")
        rest = handed(first, tmp_path, "a2", "a3", gate="go")
        drain(first, done)
        with dask_runner(settings) as second:
            other = handed(second, tmp_path, "b0", "b1", "b2")
            waits(first, 4)
            (tmp_path / "go").touch()
            drain(first, rest)
            drain(second, other)

    found = order(tmp_path)
    assert found[:4] == ["a0", "a1", "a2", "b0"]
    assert found.index("a3") < found.index("b2")


def handed(runner: DaskRunner, folder: Path, *names: str, gate: str = "") -> dict[Any, ShardTry]:
    """Shards that write their names down, the first of them when there is a file of this name."""
    tries = [
        ShardTry({"folder": str(folder), "name": name, "gate": gate if name == names[0] else ""})
        for name in names
    ]
    return {runner.submit(shard_of(named), each.parameters): each for each in tries}


def waits(runner: DaskRunner, count: int) -> None:
    """Until so many shards wait at the only worker."""

    def waiting() -> int:
        (found,) = runner.client.run(
            lambda dask_worker: len(dask_worker.state.constrained)
        ).values()
        return int(found)

    until(lambda: waiting() == count)


def drain(runner: DaskRunner, running: dict[Any, ShardTry]) -> None:
    """Until all have ended."""
    for _ in _as_finished(runner, shard_of(named), running, None):
        pass


def order(folder: Path) -> list[str]:
    """The names of the shards in the order in which they ended."""
    return (folder / "order").read_text().split()


def folders(inside: Path) -> tuple[Path, Path]:
    """One for the shard that keeps a worker, one for the shard that fails."""
    busy, failing = inside / "busy", inside / "failing"
    busy.mkdir()
    failing.mkdir()
    return busy, failing
