"""What a Prefect server is told: which flows there are, where they run, when, and how many at
once."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NoReturn

from flows.nightly.night_dates import schedule
from infra.settings import Settings

Pool = Literal["cpu", "gpu"]
POOLS: tuple[Pool, ...] = ("cpu", "gpu")


@dataclass(frozen=True, slots=True)
class Deployed:
    """One flow on the server; the name of the deployment is the flow's."""

    flow: str
    pool: Pool
    about: str
    limit: int | None = None
    interval_seconds: float | None = None
    cron: str | None = None
    zone: str = "UTC"

    @property
    def name(self) -> str:
        """The flow's own name."""
        return self.flow.rpartition(".")[2]

    def load(self) -> Any:
        """The flow itself."""
        module, _, name = self.flow.rpartition(".")
        return getattr(import_module(module), name)


def deployments(settings: Settings) -> tuple[Deployed, ...]:
    """All of them. The watchdog is a process of its own too: it must not depend on the workers it
    watches."""
    plan = schedule(settings.nightly_at, settings.nightly_zone)
    return (
        Deployed(
            "flows.evaluate.flow.evaluate", "gpu", "One submission, from the door to the board."
        ),
        Deployed(
            "flows.operate.inbox.intake", "cpu", "Empties the inbox.", limit=1, interval_seconds=60
        ),
        Deployed(
            "flows.operate.queue.publish",
            "cpu",
            "Asks for an evaluation of what waits.",
            limit=1,
            interval_seconds=60,
        ),
        Deployed(
            "flows.operate.watchdog.watchdog",
            "cpu",
            "Frees what died.",
            limit=1,
            interval_seconds=60,
        ),
        Deployed(
            "flows.nightly.flow.nightly",
            "cpu",
            "What is stale, again.",
            limit=1,
            cron=plan.cron,
            zone=settings.nightly_zone,
        ),
        Deployed(
            "flows.suites.tailor_curate.curate", "cpu", "Writes a bank with a language model."
        ),
        Deployed(
            "flows.suites.universe_adapt_flow.adapt",
            "gpu",
            "Adapts a vision-language model into a judge.",
        ),
    )


def register(settings: Settings, gpu_slots: int, say: Callable[[str], None]) -> None:
    """Make the pools and deployments, or bring them up to date; running it again changes
    nothing."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        for pool in POOLS:
            _make_pool(client, pool, gpu_slots if pool == "gpu" else None)
    for deployment in deployments(settings):
        _apply(deployment)
        when = (
            f"every {deployment.interval_seconds:g} s"
            if deployment.interval_seconds
            else f"{deployment.cron} {deployment.zone}"
            if deployment.cron
            else "when asked for"
        )
        say(f"{deployment.name}: pool {deployment.pool}, {when}")


def _make_pool(client: Any, name: str, slots: int | None) -> None:
    from prefect.client.schemas.actions import WorkPoolCreate, WorkPoolUpdate
    from prefect.exceptions import ObjectAlreadyExists

    try:
        client.create_work_pool(WorkPoolCreate(name=name, type="process", concurrency_limit=slots))
    except ObjectAlreadyExists:
        client.update_work_pool(name, WorkPoolUpdate(concurrency_limit=slots))


def _apply(deployment: Deployed) -> None:
    from prefect.deployments.runner import RunnerDeployment
    from prefect.schedules import Cron, Interval
    from prefect.types.entrypoint import EntrypointType

    when: Any = (
        Interval(deployment.interval_seconds)
        if deployment.interval_seconds
        else Cron(deployment.cron, timezone=deployment.zone)
        if deployment.cron
        else None
    )
    RunnerDeployment.from_flow(
        deployment.load(),
        name=deployment.name,
        description=deployment.about,
        schedule=when,
        concurrency_limit=deployment.limit,
        work_pool_name=deployment.pool,
        entrypoint_type=EntrypointType.MODULE_PATH,
    ).apply()


def worker_command(pool: str, limit: int, name: str) -> list[str]:
    """The command of a worker that takes runs from a pool."""
    import sys

    program = [
        sys.executable,
        "-m",
        "prefect",
        "worker",
        "start",
        "--pool",
        pool,
        "--type",
        "process",
    ]
    return [*program, "--limit", str(limit), "--name", name, "--install-policy", "never"]


def become(pool: str | None, scheduler: str, limit: int, name: str) -> NoReturn:
    """Replace this process by a worker. Ctrl-C counts again: a script that starts it behind itself
    has it ignored."""
    from flows.workers import dask_cluster

    name = name or f"{socket.gethostname()}-{os.getpid()}"
    flows = worker_command(pool, limit, name) if pool else []
    command = flows or dask_cluster.worker_command(scheduler, name, limit)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.flush()
    os.execv(command[0], command)
