"""How shards are run: by threads of this process, by a Dask cluster, or one by one in this thread;
the most expensive first."""

from __future__ import annotations

import heapq
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from flows.durable.lease import check_lease
from flows.durable.progress import set_progress
from flows.durable.shard_results import ShardResult, records_of
from flows.workers.confined.fault_rules import WorkerFault
from flows.workers.specs import JudgeWork, OutputsWork, WorkerPlace
from infra.logs import about, log_to
from infra.settings import Settings
from infra.store import Store

log = logging.getLogger("armillary")
T = TypeVar("T")
SAMPLER_DEFAULTS = {"steps": 30, "height": 512, "width": 512, "frames": 49}
"""What a sampler does when the manifest leaves it open."""


def prepare(settings: Settings, quiet: bool = True) -> None:
    """Set Prefect's environment and our log; call this before anything imports prefect.

    Its ephemeral server gives up after 20 seconds unless told otherwise, and a cold start takes
    longer.
    """
    defaults = {
        "PREFECT_HOME": str(settings.home.resolve() / "prefect"),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL" if quiet else "INFO",
        "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "DIFFUSERS_VERBOSITY": "error",
        "TQDM_DISABLE": "1",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    log_to(settings.home, settings.log)


def served() -> bool:
    """Say whether a Prefect server is set; without one, everything runs in this process."""
    return bool(os.environ.get("PREFECT_API_URL"))


def run_shards(
    task: Any, works: Sequence[Any], place: WorkerPlace, store: Store, stage: str, progress: str
) -> Iterator[tuple[ShardResult, list[dict[str, Any]]]]:
    """Run one task a shard and yield each result with its records as it comes in; an error in any
    of them is raised. `stage` names the work in the log, `progress` where it is counted."""
    finished = 0
    for shard in submit_shards(task, works, place):
        yield shard, records_of(store, shard)
        with about(stage=stage, shard=shard.inputs_sha256[:12]):
            log.info("%d items stored; made in %.1f s", shard.items, shard.seconds)
        finished += shard.items
        set_progress(progress, finished)


def submit_shards(task: Any, works: Sequence[Any], *arguments: Any) -> Iterator[ShardResult]:
    """Submit one task a shard, the most expensive first, and yield the results as they come in."""
    from prefect.context import FlowRunContext
    from prefect.futures import as_completed
    from prefect.utilities.callables import get_call_parameters

    if FlowRunContext.get() is None:
        yield from _in_this_thread(task, works, *arguments)
        return
    if not works:
        return
    with _task_runner(Settings()) as (runner, submit):
        calls = [
            get_call_parameters(task.fn, (work, *arguments), {}) for work in dearest_first(works)
        ]
        running = {submit(runner, task, parameters): parameters for parameters in calls}
        while running:
            lost = []
            for future in as_completed(list(running)):
                check_lease()
                try:
                    shard: ShardResult = future.result()
                except WorkerFault as fault:
                    log.warning("a shard is tried again: %s", fault)
                    lost.append(running[future])
                    continue
                yield shard
            running = {submit(runner, task, parameters): parameters for parameters in lost}


def cut(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into shards of at most `size`, always in the same places."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


Submit = Callable[[Any, Any, dict[str, Any]], Any]


@contextmanager
def _task_runner(settings: Settings) -> Iterator[tuple[Any, Submit]]:
    """What runs the tasks: threads of this process, or the workers of a Dask cluster."""
    from prefect.task_runners import ThreadPoolTaskRunner

    if not settings.engine.startswith("dask://"):
        threads: Any = ThreadPoolTaskRunner(max_workers=settings.workers)
        with threads as runner:
            yield runner, _submit
        return
    from flows.workers.dask_cluster import runner_for, submit

    with runner_for(settings.engine) as cluster:
        yield cluster, submit


def _submit(runner: Any, task: Any, parameters: dict[str, Any]) -> Any:
    """Quoted, or Prefect looks for futures in each of a shard's thousand values; what is quoted
    cannot be pickled."""
    from prefect.utilities.annotations import quote

    return runner.submit(
        task=task, parameters={name: quote(value) for name, value in parameters.items()}
    )


def _in_this_thread(task: Any, works: Sequence[Any], *arguments: Any) -> Iterator[ShardResult]:
    """Outside of a flow: the same work in this thread."""
    for work in works:
        yield _through_faults(partial(task.fn, work, *arguments))


def _through_faults(run_shard: Callable[[], ShardResult]) -> ShardResult:
    """The result of a shard that goes on where it stopped after a fault of ours; the shard counts
    them, and sets aside the sample at which they do not end."""
    while True:
        check_lease()
        try:
            return run_shard()
        except WorkerFault as fault:
            log.warning("a shard is tried again: %s", fault)


def is_tried_here(_task: Any, _run: Any, state: Any) -> bool:
    """Whether the worker that failed a shard is to try it again: not after a fault of the machine,
    then whichever worker is free takes it."""
    return not isinstance(state.data, WorkerFault)


def cost(work: object) -> float:
    """Frames × steps × pixels of what has to be made, or the number of outputs to look at; only
    ratios mean anything.

    >>> sampling = {"steps": 10, "height": 8, "width": 8, "frames": 5}
    >>> still = OutputsWork("tailor", ("a.image",), "model", "", sampling)
    >>> cost(still), cost(OutputsWork("tailor", ("a.video",), "model", "", still.sampling))
    (640.0, 3200.0)
    """
    if isinstance(work, OutputsWork) and work.kind == "model":
        chosen = {
            name: work.sampling.get(name) or value for name, value in SAMPLER_DEFAULTS.items()
        }
        frames = sum(
            chosen["frames"] if sample.endswith("video") else 1 for sample in work.sample_ids
        )
        return float(frames * chosen["steps"] * chosen["height"] * chosen["width"])
    if isinstance(work, OutputsWork):
        return float(len(work.sample_ids))
    return float(len(work.media)) if isinstance(work, JudgeWork) else 1.0


def dearest_first(works: Iterable[T]) -> list[T]:
    """Workers that take the next shard when they are free then end within one cheap shard of each
    other."""
    return sorted(works, key=cost, reverse=True)


def finish(costs: Sequence[float], workers: int) -> float:
    """When the last of so many workers is done, each taking the next shard in the order given.

    >>> finish([1, 1, 1, 3], 2), finish([3, 1, 1, 1], 2)
    (4.0, 3.0)
    """
    busy = [0.0] * workers
    for seconds in costs:
        heapq.heappush(busy, heapq.heappop(busy) + seconds)
    return max(busy)
