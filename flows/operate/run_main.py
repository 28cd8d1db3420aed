"""One run of Prefect's in a process of its own: `python -m flows.operate.run_main`, started by our
worker. Which of our flows it is stands in our table; code that the server names is never loaded."""

from __future__ import annotations

import os
from uuid import UUID

from prefect._internal.control_listener import configure_from_env
from prefect.client.orchestration import get_client
from prefect.engine import handle_engine_signals
from prefect.flow_engine import load_flow_run, run_flow

from flows.operate.pool_worker import checked


def main(run_id: UUID) -> None:
    """Run it to its end, and tell Prefect how it ended."""
    configure_from_env()
    with handle_engine_signals(run_id):
        run = load_flow_run(run_id)
        assert run.deployment_id, "a run of no deployment"
        with get_client(sync_client=True) as client:
            flow = checked(client.read_deployment(run.deployment_id).name)
        run_flow(flow, flow_run=run)


if __name__ == "__main__":
    main(UUID(os.environ["PREFECT__FLOW_RUN_ID"]))
