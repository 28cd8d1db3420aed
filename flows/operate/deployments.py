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
FIXED_JOB = {
    "job_configuration": {"stream_output": True},
    "variables": {"type": "object", "properties": {}, "additionalProperties": False},
}
"""What Prefect calls a job template: this one has nothing that a run could fill in."""
GPU_SLOTS = 4
"""Evaluations at once in a new GPU pool: with one, a slow model would hold the whole board. A
worker takes no more of them than its own limit."""
RUN_COMMAND: tuple[str, ...] = (sys.executable, "-m", "flows.operate.run_main")
"""What every run is started by; it finds its flow in our table, not on the server."""
RETIRED = ("intake/intake", "publish/publish", "watchdog/watchdog")
"""Flows that had schedules in earlier releases; one process attends to them now."""


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
    """All of them. Inbox, queue and watchdog are none: one long-lived process attends to them, and
    must not depend on the workers that it watches."""
    plan = schedule(settings.nightly_at, settings.nightly_zone)
    return (
        Deployed(
            "flows.evaluate.flow.evaluate", "gpu", "One submission, from the door to the board."
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


def flow_of(name: str) -> Any:
    """The flow of ours that a deployment of this name runs; None when there is no such one."""
    ours = {deployment.name: deployment for deployment in deployments(Settings())}
    return ours[name].load() if name in ours else None


def register(settings: Settings, gpu_slots: int | None, say: Callable[[str], None]) -> None:
    """Make the pools and deployments, or bring them up to date; running it again changes nothing.
    Without a number of slots the GPU pool keeps the one it has, and a new one has four."""
    from prefect.client.orchestration import get_client

    with get_client(sync_client=True) as client:
        for pool in POOLS:
            _make_pool(client, pool, gpu_slots)
        for name in RETIRED:
            _retire(client, name)
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


def _make_pool(client: Any, name: Pool, gpu_slots: int | None) -> None:
    """Only the GPU pool has a limit. Nobody may say on the server what a worker is to run: the
    pool takes no job variables, and our worker would not heed them."""
    from prefect.client.schemas.actions import WorkPoolCreate, WorkPoolUpdate
    from prefect.exceptions import ObjectAlreadyExists

    slots = (gpu_slots or GPU_SLOTS) if name == "gpu" else None
    try:
        client.create_work_pool(
            WorkPoolCreate(
                name=name, type="process", base_job_template=FIXED_JOB, concurrency_limit=slots
            )
        )
    except ObjectAlreadyExists:
        changes: dict[str, Any] = {"base_job_template": FIXED_JOB}
        if name == "gpu" and gpu_slots:
            changes["concurrency_limit"] = gpu_slots
        client.update_work_pool(name, WorkPoolUpdate(**changes))


def _retire(client: Any, name: str) -> None:
    from prefect.exceptions import ObjectNotFound

    try:
        client.delete_deployment(client.read_deployment_by_name(name).id)
    except ObjectNotFound:
        return


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
    return [sys.executable, "-m", "flows.operate.pool_worker", pool, str(limit), name]


def worker_name() -> str:
    """What a worker is called that nobody named."""
    return f"{socket.gethostname()}-{os.getpid()}"


def become(command: list[str]) -> NoReturn:
    """Replace this process by another program of ours. Ctrl-C counts again: a script that starts it
    behind itself has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.flush()
    os.execv(command[0], command)
