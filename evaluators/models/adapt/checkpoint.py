"""Checkpoints of a training run in safetensors: weights, the optimizer's moments, and the losses so
far."""

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

MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True, slots=True)
class TrainingCheckpoint:
    """Which run this is and how far it came."""

    run: str
    losses: tuple[float, ...]


class AnotherRun(ValueError):
    """The folder holds the checkpoint of another run; the message says what to do."""


def save_checkpoint(
    folder: Path, checkpoint: TrainingCheckpoint, changing: Mapping[str, Tensor], optimizer: Any
) -> None:
    """Write a checkpoint whole or not at all; the one before stays until the new one is there."""
    from safetensors.torch import save_file

    fresh, place = folder / f"checkpoint.{os.getpid()}", folder / "checkpoint"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_file(
        {name: tensor.detach().contiguous() for name, tensor in changing.items()},
        fresh / "weights.safetensors",
    )
    save_file(_moments(changing, optimizer), fresh / "optimizer.safetensors")
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
            f"{folder} holds the checkpoint of a run with other settings. Name another folder."
        )
    weights, moments = (
        load_file(place / "weights.safetensors"),
        load_file(place / "optimizer.safetensors"),
    )
    with torch.no_grad():
        for name, tensor in changing.items():
            tensor.copy_(weights[name])
            optimizer.state[tensor] = {
                part: moments[f"{name}.{part}"].to(_home(part, tensor)) for part in MOMENTS
            }
    return TrainingCheckpoint(record["run"], tuple(record["losses"]))


def drop_checkpoint(folder: Path) -> None:
    """Remove what only an unfinished run needs."""
    for name in ("checkpoint", "checkpoint.old"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _moments(changing: Mapping[str, Tensor], optimizer: Any) -> dict[str, Tensor]:
    """Copies, since two parameters' step counts may be one tensor."""
    values_by_part = {
        (name, part): optimizer.state[tensor][part]
        for name, tensor in changing.items()
        for part in MOMENTS
    }
    return {
        f"{name}.{part}": torch.as_tensor(value).clone()
        for (name, part), value in values_by_part.items()
    }


def _home(part: str, tensor: Tensor) -> torch.device:
    return torch.device("cpu") if part == "step" else tensor.device
