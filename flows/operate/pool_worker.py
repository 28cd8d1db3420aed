"""The worker that takes runs from a pool of Prefect's. It starts our own flows by our own command,
whatever a run, a deployment or the pool on the server says: who may talk to Prefect may ask for an
evaluation, and for nothing else.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from typing import TYPE_CHECKING, Any

from prefect.exceptions import ObjectNotFound
from prefect.workers import process

from flows.operate import deployments
from infra.alive import sign_of_life

if TYPE_CHECKING:
    from uuid import UUID

    from prefect.client.schemas.objects import FlowRun
    from prefect.flows import Flow


class NotOurs(Exception):
    """A run on the server that is of none of our deployments."""


class OwnFlowsWorker(process.ProcessWorker):
    """Prefect's process worker without a say for the server in what is run."""

    async def run(
        self,
        flow_run: FlowRun,
        configuration: process.ProcessJobConfiguration,  # noqa: ARG002  (the server's, so not used)
        task_status: Any = None,
    ) -> process.ProcessWorkerResult:
        """Start our command with this worker's own environment and an empty folder."""
        await own_flow(self, flow_run.deployment_id)
        fixed = process.ProcessJobConfiguration(command=shlex.join(deployments.RUN_COMMAND))
        fixed.prepare_for_flow_run(flow_run)
        return await super().run(flow_run, fixed, task_status)

    async def get_and_submit_flow_runs(self) -> Any:
        """Look for work, and leave a sign that somebody looked."""
        sign_of_life(f"worker-{self.work_pool.name}")
        return await super().get_and_submit_flow_runs()


async def own_flow(worker: OwnFlowsWorker, deployment_id: UUID | None) -> Flow[Any, Any]:
    """The flow of ours that a deployment on the server is named after."""
    try:
        deployment = await worker.client.read_deployment(deployment_id) if deployment_id else None
    except ObjectNotFound:
        deployment = None
    return checked(deployment.name if deployment else "")


def checked(name: str) -> Flow[Any, Any]:
    """Our flow of that name, or NotOurs."""
    flow: Flow[Any, Any] | None = deployments.flow_of(name)
    if flow is None:
        raise NotOurs(
            f"Prefect has a run of {name or 'no deployment'!r}, which is none of Armillary's. It "
            "is not run: remove it, and change Prefect's credential if you did not ask for it."
        )
    return flow


async def _flow_for_hooks(flow_run: FlowRun, **_: Any) -> Flow[Any, Any]:
    """What Prefect asks for after a crash, to call its hooks: ours, never what the server names."""
    from prefect.client.orchestration import get_client

    assert flow_run.deployment_id
    async with get_client() as client:
        return checked((await client.read_deployment(flow_run.deployment_id)).name)


async def serve(pool: str, limit: int, name: str) -> None:
    """Take runs from the pool until the process is stopped."""
    setattr(process, "load_flow_from_flow_run", _flow_for_hooks)  # noqa: B010
    worker = OwnFlowsWorker(
        name=name, work_pool_name=pool, limit=limit, create_pool_if_not_found=False
    )
    await worker.start()


def main(pool: str, limit: str, name: str) -> None:
    """The process: `python -m flows.operate.pool_worker POOL LIMIT NAME`."""
    import os

    from prefect.utilities.processutils import setup_signal_handlers_worker

    setup_signal_handlers_worker(os.getpid(), f"the worker of {pool}", print)
    asyncio.run(serve(pool, int(limit), name))


if __name__ == "__main__":
    main(*sys.argv[1:])
