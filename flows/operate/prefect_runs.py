"""Prefect's runs, for the watchdog and the intake: start one once, mark a dead one crashed, list
who holds a slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from infra.tables import now

OPEN = ("PENDING", "RUNNING", "CANCELLING")
"""States in which a run holds a slot and nobody but its worker can end it."""
WAITING = ("SCHEDULED",)
TO_COME = (*WAITING, *OPEN)
"""States in which a run is still to do its work."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that holds a slot."""

    id: str
    name: str
    state: str
    since: datetime
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RequestedRun:
    """The run that a key stands for; `over` when it had ended already, so that this key starts
    nothing any more."""

    id: str
    over: bool


@contextmanager
def _client() -> Iterator[Any]:
    from prefect import get_client

    with get_client(sync_client=True) as client:
        yield client


def start(deployment: str, parameters: Mapping[str, Any], key: str) -> RequestedRun:
    """Ask for a run of a deployment; the same key is the same run, however often it is asked
    for."""
    with _client() as client:
        target = client.read_deployment_by_name(deployment)
        run = client.create_flow_run_from_deployment(
            target.id, parameters=dict(parameters), idempotency_key=key
        )
        return RequestedRun(str(run.id), run.state is not None and run.state.is_final())


def crash(run_id: str, why: str) -> bool:
    """Mark a run crashed, which frees its slots; False when it had ended already or is not
    known."""
    from prefect.exceptions import ObjectNotFound
    from prefect.states import Crashed

    with _client() as client:
        try:
            run = client.read_flow_run(UUID(run_id))
        except ObjectNotFound:
            return False
        if run.state is None or run.state.is_final():
            return False
        client.set_flow_run_state(run.id, Crashed(message=why), force=True)
        return True


def open_runs(states: Sequence[str] = OPEN) -> list[OpenRun]:
    """Runs of deployments that hold a slot just now, or are in other states."""
    from prefect.client.schemas.filters import FlowRunFilter

    in_states = FlowRunFilter.model_validate({"state": {"type": {"any_": list(states)}}})
    runs: list[OpenRun] = []
    with _client() as client:
        while page := client.read_flow_runs(flow_run_filter=in_states, limit=200, offset=len(runs)):
            runs += [_open(run) for run in page]
    return [run for run in runs if run.name]


def evaluations(states: Sequence[str]) -> set[str]:
    """The submissions about which there is a run in one of these states."""
    return {str(run.parameters.get("submission_id", "")) for run in open_runs(states)}


def slots(pool: str) -> int | None:
    """How many runs a pool takes at once; None without a limit, or where there is no such pool."""
    from prefect.exceptions import ObjectNotFound

    with _client() as client:
        try:
            limit: int | None = client.read_work_pool(pool).concurrency_limit
        except ObjectNotFound:
            return None
    return limit


def _open(run: Any) -> OpenRun:
    state = run.state
    since = state.timestamp if state else now()
    name = str(run.deployment_id or "")
    return OpenRun(str(run.id), name, state.type.value if state else "", since, run.parameters)
