"""A Dask scheduler and workers as processes, each worker started by our own command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .process import Running, free_ports, running, wait_until
from .unavailable import Unavailable

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class DaskCluster:
    """A running cluster; `engine` is what ARMILLARY_ENGINE has to be."""

    engine: str
    workers: tuple[Running, ...]
    certificates: Path | None = None

    def slots(self) -> int:
        """How many shards it runs at once."""
        from flows.workers.dask_cluster import check
        from infra.settings import Settings

        return check(Settings(engine=self.engine, certificates=self.certificates), 60)


@contextmanager
def serve(
    folder: Path, workers: int, environment: Mapping[str, str], certificates: Path | None = None
) -> Iterator[DaskCluster]:
    """Run `armillary operate scheduler` and so many `armillary operate worker --scheduler`, each
    with its own certificate if there are any."""
    if find_spec("distributed") is None:
        raise Unavailable("Dask is not installed: install the extra `dask`.")
    (port,) = free_ports(1)
    client = certificates / "flows" if certificates else None
    quiet = {**environment, "DASK_DISTRIBUTED__DASHBOARD__LINK": "", "PYTHONPATH": str(ROOT)}
    with ExitStack() as stack:
        ours = [sys.executable, "-m", "flows.cli.app", "operate"]
        scheduler = [*ours, "scheduler", "--port", str(port)]
        processes = [
            stack.enter_context(
                running(
                    scheduler,
                    folder / "scheduler.log",
                    environment={**quiet, **_shown(certificates, "scheduler")},
                    folder=ROOT,
                )
            )
        ]
        for number in range(workers):
            command = [*ours, "worker", "--scheduler", f"127.0.0.1:{port}"]
            command += ["--name", f"worker-{number}"]
            log = folder / f"worker-{number}.log"
            processes.append(
                stack.enter_context(
                    running(
                        command,
                        log,
                        environment={**quiet, **_shown(certificates, "workers")},
                        folder=ROOT,
                    )
                )
            )
        cluster = DaskCluster(f"dask://127.0.0.1:{port}", tuple(processes[1:]), client)
        wait_until(lambda: _there(cluster) == workers, processes, 300)
        yield cluster


def _shown(certificates: Path | None, role: str) -> dict[str, str]:
    return {"ARMILLARY_CERTIFICATES": str(certificates / role)} if certificates else {}


def _there(cluster: DaskCluster) -> int:
    from flows.workers.dask_cluster import NoCluster

    try:
        return cluster.slots()
    except NoCluster:
        return 0
