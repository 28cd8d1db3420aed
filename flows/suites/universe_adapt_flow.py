"""Adapting a judge as a run on a GPU worker: the same work as `armillary universe adapt`, asked for
on the Prefect server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow

from flows.durable.lease import flow_run_lease
from flows.suites.universe_adapt import AdaptationRequest
from flows.suites.universe_adapt import adapt as train
from infra.settings import Settings


@flow(name="adapt", retries=0, persist_result=False)
def adapt(
    data: str,
    to: str,
    base: str = "",
    plan: dict[str, Any] | None = None,
    frames: str = "uniform-8",
    held_out: float = 0.2,
    team: str = "this board",
    name: str = "",
    base_id: str = "",
    epochs: float | None = None,
) -> dict[str, float]:
    """Train an adapter into a folder that the workers share; a killed run goes on from it. Returns
    its held-out cells.

    `plan` holds the trainer's settings by name, as in {"strategy": "lora", "steps": 2000}.
    """
    from evaluators.models.adapt.train import TrainingPlan

    folder, settings = Path(to), Settings()
    wish = AdaptationRequest(
        Path(base) if base else None,
        Path(data),
        folder,
        frames,
        held_out,
        team,
        name or folder.name,
        base_id,
        settings.shelf,
        epochs,
    )
    with flow_run_lease("adapt"):
        return train(wish, TrainingPlan(**(plan or {})), settings.device).held_out
