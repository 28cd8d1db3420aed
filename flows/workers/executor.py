"""How shards are run: by threads of this process, by a Dask cluster, or one by one in this thread;
the most expensive first."""

from __future__ import annotations

import heapq
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from flows.durable.gpu_time import GpuTime, OverGpuTime
from flows.durable.lease import LeaseLost, abandon_work, check_lease
from flows.durable.progress import set_progress
from flows.durable.shard_results import ShardResult, records_of
from flows.workers.confined.fault_rules import GivenBack, WorkerFault
from flows.workers.specs import ExamWork, JudgeWork, OutputsWork, WorkerPlace
from infra.logs import about, log_to
from infra.settings import Settings
from infra.store import Store

log = logging.getLogger("armillary")
T = TypeVar("T")
LEASE_CHECK_SECONDS = 1.0
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
    if password := settings.prefect_auth.get_secret_value():
        defaults["PREFECT_API_AUTH_STRING"] = password
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    log_to(settings.home, settings.log)


def served() -> bool:
    """Say whether a Prefect server is set; without one, everything runs in this process."""
    return bool(os.environ.get("PREFECT_API_URL"))


def run_shards(
    task: Any,
    works: Sequence[Any],
    place: WorkerPlace,
    store: Store,
    stage: str,
    progress: str,
    gpu_time: GpuTime | None = None,
) -> Iterator[tuple[ShardResult, list[dict[str, Any]]]]:
    """Run one task a shard and yield each result with its records as it comes in; an error in any
    of them is raised. `stage` names the work in the log, `progress` where it is counted."""
    finished = 0
    for shard in submit_shards(task, works, place, gpu_time=gpu_time):
        yield shard, records_of(store, shard)
        with about(stage=stage, shard=shard.inputs_sha256[:12]):
            log.info("%d items stored; made in %.1f s", shard.items, shard.seconds)
        finished += shard.items
        set_progress(progress, finished)


def submit_shards(
    task: Any, works: Sequence[Any], *arguments: Any, gpu_time: GpuTime | None = None
) -> Iterator[ShardResult]:
    """Submit one task a shard, the most expensive first, and yield the results as they come in.
    When the lease under which this runs is lost, or the submission's time is over, the rest of the
    work stops within seconds."""
    from prefect.context import FlowRunContext
    from prefect.utilities.callables import get_call_parameters

    if FlowRunContext.get() is None:
        yield from _in_this_thread(task, works, *arguments, gpu_time=gpu_time)
        return
    if not works:
        return
    calls = [get_call_parameters(task.fn, (work, *arguments), {}) for work in dearest_first(works)]
    with _runner_for(Settings(), works[0]) as runner:
        running = {runner.submit(task, parameters): ShardTry(parameters) for parameters in calls}
        try:
            yield from _as_finished(runner, task, running, gpu_time)
        finally:
            runner.cancel(running)


@dataclass(frozen=True, slots=True)
class ShardTry:
    """What a shard is called with, and the workers that failed it so far."""

    parameters: dict[str, Any]
    failed_on: frozenset[str] = frozenset()

    def after(self, fault: WorkerFault) -> ShardTry:
        """The next try."""
        where = {fault.where} if fault.where else set[str]()
        return replace(self, failed_on=self.failed_on | where)


def _as_finished(
    runner: ShardRunner,
    task: Any,
    running: dict[Any, ShardTry],
    gpu_time: GpuTime | None,
) -> Iterator[ShardResult]:
    """Results as they come in; a shard that a machine failed is submitted again, to another."""
    while running:
        for future in runner.finished(running, LEASE_CHECK_SECONDS):
            tried = running.pop(future)
            try:
                shard: ShardResult = runner.result(future)
            except WorkerFault as fault:
                log.warning("a shard is tried again: %s", fault)
                again = tried.after(fault)
                running[runner.submit(task, again.parameters, again.failed_on)] = again
                continue
            check_lease()
            if gpu_time:
                gpu_time.count(shard.seconds)
            yield shard
        check_lease()
        if gpu_time and running:
            _check_time(gpu_time) if runner.works_on(running) else gpu_time.wait()


def _check_time(gpu_time: GpuTime) -> None:
    try:
        gpu_time.check()
    except OverGpuTime:
        abandon_work()
        raise


def cut(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into shards of at most `size`, always in the same places."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


class ShardRunner(Protocol):
    """What runs shards somewhere and tells which have ended."""

    def submit(
        self, task: Any, arguments: dict[str, Any], failed_on: frozenset[str] = frozenset()
    ) -> Any: ...

    def finished(self, futures: Iterable[Any], seconds: float) -> list[Any]: ...

    def result(self, future: Any) -> Any: ...

    def works_on(self, futures: Iterable[Any]) -> bool: ...

    def cancel(self, futures: Iterable[Any]) -> None: ...


@dataclass(frozen=True)
class ThreadRunner:
    """Runs shards in threads of this process, each as a task of Prefect's."""

    runner: Any

    def submit(
        self,
        task: Any,
        arguments: dict[str, Any],
        failed_on: frozenset[str] = frozenset(),  # noqa: ARG002
    ) -> Any:
        """Quoted, or Prefect looks for futures in each of a shard's thousand values. There is one
        machine, whichever failed before."""
        from prefect.utilities.annotations import quote

        quoted = {name: quote(value) for name, value in arguments.items()}
        return self.runner.submit(task=task, parameters=quoted)

    def finished(self, futures: Iterable[Any], seconds: float) -> list[Any]:
        """Those that have ended, after so many seconds at most."""
        from concurrent.futures import FIRST_COMPLETED, wait

        by_inner = {future.wrapped_future: future for future in futures}
        done, _ = wait(by_inner, timeout=seconds, return_when=FIRST_COMPLETED)
        return [future for inner, future in by_inner.items() if inner in done]

    def result(self, future: Any) -> Any:
        """What it returned; what it raised is raised."""
        return future.result()

    def works_on(self, futures: Iterable[Any]) -> bool:
        """Always on some of them: these threads are nobody else's."""
        return any(True for _ in futures)

    def cancel(self, futures: Iterable[Any]) -> None:
        """Those that have not begun; the others see for themselves that the lease is lost."""
        for future in futures:
            future.wrapped_future.cancel()


@contextmanager
def _runner_for(settings: Settings, work: object) -> Iterator[ShardRunner]:
    """Threads of this process, or the workers of a Dask cluster. A judge or a model behind an
    endpoint is asked from here even then: it wants no GPU, its key stays in this process, and the
    cluster's workers reach nothing outside."""
    if settings.engine.startswith("dask://") and not asks_endpoint(work):
        from flows.workers.dask_shards import dask_runner

        with dask_runner(settings) as cluster:
            yield cluster
        return
    from prefect.task_runners import ThreadPoolTaskRunner

    threads: Any = ThreadPoolTaskRunner(max_workers=settings.workers)
    with threads as runner:
        yield ThreadRunner(runner)


def asks_endpoint(work: object) -> bool:
    """Whether a shard asks somebody behind an endpoint; of a panel's judges, one is enough."""
    if isinstance(work, OutputsWork):
        return work.kind == "api" and not work.agent
    if not isinstance(work, JudgeWork | ExamWork):
        return False
    from flows.workers.judges import members_of

    return any(name.startswith("http:") for name in members_of(work.judge))


def _in_this_thread(
    task: Any, works: Sequence[Any], *arguments: Any, gpu_time: GpuTime | None
) -> Iterator[ShardResult]:
    """Outside of a flow: the same work in this thread, within the same time."""
    for work in works:
        with _stopped_when_over(gpu_time):
            shard = _through_faults(partial(task.fn, work, *arguments))
        if gpu_time:
            gpu_time.count(shard.seconds)
        yield shard


@contextmanager
def _stopped_when_over(gpu_time: GpuTime | None) -> Iterator[None]:
    """Run the block, and have it stop with OverGpuTime within seconds when the time is over."""
    if gpu_time is None:
        yield
        return
    ended, over = threading.Event(), list[OverGpuTime]()

    def watch() -> None:
        while not over and not ended.wait(LEASE_CHECK_SECONDS):
            try:
                _check_time(gpu_time)
            except OverGpuTime as error:
                over.append(error)

    threading.Thread(target=copy_context().run, args=(watch,), daemon=True).start()
    try:
        yield
    except LeaseLost:
        if over:
            raise over[0] from None
        raise
    finally:
        ended.set()


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
    then whichever worker is free takes it, nor when the submission is given back."""
    return not isinstance(state.data, (WorkerFault, GivenBack, LeaseLost))


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
