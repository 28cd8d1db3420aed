"""Shards of one run over 1, 2, 4, 8 and 16 workers of a Dask cluster: throughput, and what a shard
loses."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.report import Row, at_least, report, shown
from tests.servers import dask, prefect

SECONDS = float(os.environ.get("ARMILLARY_BENCH_SHARD_SECONDS", "5"))
SHARDS = int(os.environ.get("ARMILLARY_BENCH_SHARDS", "32"))
WORKERS = (1, 2, 4, 8, 16)


def main() -> int:
    """Run the same shards on clusters of each size and print the table."""
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as name, prefect.serve() as server:
        folder = Path(name)
        environment = {**os.environ, **server.environment, "ARMILLARY_HOME": str(folder / "home")}
        os.environ.update(server.environment)
        took = {workers: _time(folder, workers, environment) for workers in WORKERS}
    for workers, seconds in took.items():
        loss = (seconds * workers - SHARDS * SECONDS) / SHARDS
        print(
            f"{workers:2} workers: {seconds:6.1f} s, {SHARDS / seconds:.2f} shards a second, "
            f"{loss:.2f} s lost a shard"
        )
    rows: list[Row] = [at_least("throughput of 2 workers against 1", took[1] / took[2], 1.9)]
    rows += [
        shown(f"throughput of {workers} workers against 1", took[1] / took[workers])
        for workers in WORKERS[2:]
    ]
    return report("fanout", rows)


def _time(folder: Path, workers: int, environment: Mapping[str, str]) -> float:
    with dask.serve(folder, workers, environment) as cluster:
        # Every worker has to be busy for a moment: its first shard imports what all the others
        # find.
        _run(cluster.engine, 2 * workers, 1)
        start = time.monotonic()
        done = _run(cluster.engine, SHARDS, SECONDS)
        took = time.monotonic() - start
    assert done == SHARDS, f"{done} of {SHARDS} shards came back"
    return took


def _run(engine: str, shards: int, seconds: float) -> int:
    from prefect import flow, task
    from prefect.cache_policies import NO_CACHE

    from flows.workers.executor import submit_shards

    os.environ["ARMILLARY_ENGINE"] = engine
    asleep = task(cache_policy=NO_CACHE, persist_result=False, log_prints=False)(sleep)

    @flow(name="fanout", persist_result=False)
    def fan() -> int:
        """Sleep so often."""
        works = [(number, seconds) for number in range(shards)]
        return sum(1 for _ in submit_shards(asleep, works))

    done: int = fan()
    return done


def sleep(work: tuple[int, float]) -> Any:
    """One shard that takes no CPU."""
    time.sleep(work[1])
    return work[0]


if __name__ == "__main__":
    sys.exit(main())
