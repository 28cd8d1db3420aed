"""Shards of several submissions on one cluster: a fault of ours is counted once a try."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from flows.workers.executor import _as_finished
from infra.settings import Settings
from tests.command import Machine
from tests.flows.faulty_shards import failed_by_its_machine, given_back
from tests.servers import dask
from tests.servers.dask import DaskCluster
from tests.servers.unavailable import needs

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("servers")]


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    folder = tmp_path_factory.mktemp("one")
    with needs(dask.serve(folder, 1, Machine(folder / "home").environment)) as cluster:
        yield cluster


def shard_of(function: Callable[..., Any]) -> Any:
    from prefect import task

    return task(retries=2, retry_delay_seconds=[0, 0])(function)


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
    from flows.workers.dask_cluster import dask_runner

    with dask_runner(Settings(engine=one_worker.engine)) as runner:
        future = runner.submit(shard_of(function), {"folder": str(tmp_path), **arguments})
        with pytest.raises(error):
            future.result(timeout=300)

    assert len(runs(tmp_path)) == 1


def test_a_shard_that_its_machine_failed_is_tried_again_until_it_ends(
    one_worker: DaskCluster, tmp_path: Path
) -> None:
    from flows.workers.dask_cluster import dask_runner

    shard, arguments = shard_of(failed_by_its_machine), {"folder": str(tmp_path), "times": 2}
    with dask_runner(Settings(engine=one_worker.engine)) as runner:
        running = {runner.submit(shard, arguments): arguments}
        found: list[Any] = list(_as_finished(runner, shard, running, None))

    assert found == [3]
    assert len(runs(tmp_path)) == 3
