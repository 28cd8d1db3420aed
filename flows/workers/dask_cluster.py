"""A Dask cluster that is there already: one shard a GPU at a time, and a dead worker's shard goes
to another."""

from __future__ import annotations

from typing import Any

from infra.logs import log_to
from infra.settings import Settings

SLOT = "GPU"
"""The resource of which each worker has as many as it may run shards at once."""


class NoCluster(Exception):
    """The cluster does not answer or cannot be used; the message says what to do."""


def address(engine: str) -> str:
    """What Dask calls the scheduler that our setting names.

    >>> address("dask://10.0.0.5:8786")
    'tcp://10.0.0.5:8786'
    """
    return f"tcp://{engine.removeprefix('dask://')}"


def runner_for(engine: str) -> Any:
    """Prefect's runner over the cluster; entering it connects."""
    try:
        from prefect_dask import DaskTaskRunner
    except ImportError:
        raise NoCluster(
            "ARMILLARY_ENGINE names a Dask cluster. Install it: pip install 'armillary[dask]'."
        ) from None
    check(engine)
    return DaskTaskRunner(address=address(engine))


def check(engine: str, seconds: float = 30) -> int:
    """How many workers with a free slot there are or will be; NoCluster if nobody answers."""
    from distributed import Client

    try:
        with Client(address(engine), timeout=seconds, set_as_default=False) as client:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except OSError:
        raise NoCluster(
            f"The Dask scheduler {engine} does not answer. Start it (`dask scheduler`) or change "
            "ARMILLARY_ENGINE."
        ) from None
    return sum(int(worker["resources"].get(SLOT, 0)) for worker in workers)


def submit(runner: Any, task: Any, parameters: dict[str, Any]) -> Any:
    """Hand a shard to whichever worker has a slot; the dearest come first because they were put
    first."""
    import dask

    with dask.annotate(resources={SLOT: 1}, retries=3):
        return runner.submit(task=task, parameters=parameters)


def worker_command(scheduler: str, name: str, slots: int) -> list[str]:
    """The command of a worker: one process, one thread a slot, models stay loaded in it."""
    import sys

    program = [sys.executable, "-m", "distributed.cli.dask_worker", address(f"dask://{scheduler}")]
    slots_of = ["--nthreads", str(slots), "--no-nanny", "--resources", f"{SLOT}={slots}"]
    return [*program, *slots_of, "--name", name, "--preload", __name__]


def dask_setup(_worker: Any) -> None:
    """Dask calls this in a worker before its first shard: our log goes where this machine's
    settings say."""
    settings = Settings()
    log_to(settings.home, settings.log)
