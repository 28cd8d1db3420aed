"""How work is spread: threads here or a Dask cluster under Prefect, or this thread alone. The flows
do not notice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flows.durable.lease import still_ours
from flows.durable.shard_results import ShardResult
from flows.workers.cost import dearest_first
from infra.logs import log_to
from infra.settings import Settings


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
    """Say whether a Prefect server was named; without one, everything runs in the process at
    hand."""
    return bool(os.environ.get("PREFECT_API_URL"))


def each_done(task: Any, works: Sequence[Any], *arguments: Any) -> Iterator[ShardResult]:
    """Submit one task a piece of work and give the results back as they come in; an error in any of
    them is raised."""
    from prefect.context import FlowRunContext
    from prefect.futures import as_completed
    from prefect.utilities.callables import get_call_parameters

    if FlowRunContext.get() is None:
        yield from _one_by_one(task, works, *arguments)
        return
    if not works:
        return
    with _spread(Settings()) as (runner, submit):
        named = [
            get_call_parameters(task.fn, (work, *arguments), {}) for work in dearest_first(works)
        ]
        futures = [submit(runner, task, parameters) for parameters in named]
        for future in as_completed(futures):
            still_ours()
            done: ShardResult = future.result()
            yield done


Submit = Callable[[Any, Any, dict[str, Any]], Any]


@contextmanager
def _spread(settings: Settings) -> Iterator[tuple[Any, Submit]]:
    """What runs the tasks: threads here, or the workers of a Dask cluster that is there already."""
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


def _one_by_one(task: Any, works: Sequence[Any], *arguments: Any) -> Iterator[ShardResult]:
    """Outside of a flow: the same work in this thread."""
    for work in works:
        still_ours()
        done: ShardResult = task.fn(work, *arguments)
        yield done
