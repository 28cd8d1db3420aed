"""Checkpoints of a training run in safetensors: weights, the optimizer's moments, and the losses so
far. One process writes them; all of them read them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from evaluators.models.adapt.processes import ALONE, Processes
from evaluators.models.adapt.sharding import like, whole

MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True, slots=True)
class TrainingCheckpoint:
    """Which run this is and how far it came."""

    run: str
    losses: tuple[float, ...]


class AnotherRun(ValueError):
    """The folder holds the checkpoint of another run; the message says what to do."""


def save_checkpoint(
    folder: Path,
    checkpoint: TrainingCheckpoint,
    changing: Mapping[str, Tensor],
    optimizer: Any,
    processes: Processes = ALONE,
) -> None:
    """Write a checkpoint whole or not at all; the one before stays until the new one is there.

    Every process has to come here: weights that are spread over them are put together first.
    """
    weights = {name: _kept(tensor, processes) for name, tensor in changing.items()}
    moments = _moments(changing, optimizer, processes)
    if processes.is_main:
        _write(folder, checkpoint, weights, moments)
    processes.wait()


def _write(
    folder: Path,
    checkpoint: TrainingCheckpoint,
    weights: dict[str, Tensor],
    moments: dict[str, Tensor],
) -> None:
    from safetensors.torch import save_file

    fresh, place = folder / f"checkpoint.{os.getpid()}", folder / "checkpoint"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_file(weights, fresh / "weights.safetensors")
    save_file(moments, fresh / "optimizer.safetensors")
    (fresh / "run.json").write_text(json.dumps(asdict(checkpoint)), "utf-8")
    old = folder / "checkpoint.old"
    if place.exists():
        shutil.rmtree(old, ignore_errors=True)
        place.rename(old)
    fresh.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    folder: Path, run: str, changing: Mapping[str, Tensor], optimizer: Any
) -> TrainingCheckpoint | None:
    """Bring weights and optimizer to where the run stopped; None if it has not begun."""
    from safetensors.torch import load_file

    place = next(
        (
            candidate
            for candidate in (folder / "checkpoint", folder / "checkpoint.old")
            if candidate.is_dir()
        ),
        None,
    )
    if place is None:
        return None
    record = json.loads((place / "run.json").read_text("utf-8"))
    if record["run"] != run:
        raise AnotherRun(
            f"{folder} holds the checkpoint of a run with other settings"
            f"{_differences(record['run'], run)}. Name another folder."
        )
    weights, moments = (
        load_file(place / "weights.safetensors"),
        load_file(place / "optimizer.safetensors"),
    )
    with torch.no_grad():
        for name, tensor in changing.items():
            tensor.copy_(like(weights[name], tensor))
            optimizer.state[tensor] = {
                part: _placed(part, moments[f"{name}.{part}"], tensor) for part in MOMENTS
            }
    return TrainingCheckpoint(record["run"], tuple(record["losses"]))


def drop_checkpoint(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    for name in ("checkpoint", "checkpoint.old"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _moments(
    changing: Mapping[str, Tensor], optimizer: Any, processes: Processes
) -> dict[str, Tensor]:
    """Copies, since two parameters' step counts may be one tensor."""
    return {
        f"{name}.{part}": _kept(torch.as_tensor(optimizer.state[tensor][part]), processes).clone()
        for name, tensor in changing.items()
        for part in MOMENTS
    }


def _kept(tensor: Tensor, processes: Processes) -> Tensor:
    """A tensor as it is written; who does not write keeps nothing of it."""
    one_piece = whole(tensor.detach())
    return one_piece.cpu().contiguous() if processes.is_main else torch.empty(0)


def _placed(part: str, value: Tensor, tensor: Tensor) -> Tensor:
    return value.cpu() if part == "step" else like(value, tensor)


def _differences(stored: str, wanted: str) -> str:
    """Which settings differ, by their names."""
    try:
        before, now = json.loads(stored), json.loads(wanted)
        names = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    except (ValueError, AttributeError):
        return ""
    return f" ({', '.join(names)})" if names else ""
