"""How work is spread: Prefect with threads on this machine. The flows hand over shards and do not notice."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from flows.shards import Done
from infra.logs import log_to
from infra.settings import Settings


def prepare(settings: Settings) -> None:
    """Set Prefect's environment and our log; call this before anything imports prefect.

    Its ephemeral server gives up after 20 seconds unless told otherwise, and a cold start takes longer.
    """
    defaults = {
        "PREFECT_HOME": str(settings.home.resolve() / "prefect"),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_RESULTS_DEFAULT_SERIALIZER": "json",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "DIFFUSERS_VERBOSITY": "error",
        "TQDM_DISABLE": "1",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    log_to(settings.home)


def each_done(task: Any, works: Sequence[Any], *arguments: Any) -> Iterator[Done]:
    """Submit one task a piece of work and give the results back as they come in; an error in any of them is raised."""
    from prefect.futures import as_completed

    futures = [task.submit(work, *arguments) for work in works]
    for future in as_completed(futures):
        done: Done = future.result()
        yield done
