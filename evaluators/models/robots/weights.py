"""Weights of eyes and cloned policies as small files: half precision, sizes in the file's own
header."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from evaluators.models.robots.cloning import Clone
from evaluators.models.robots.eyes import TableEyes, TableEyesConfig

WEIGHTS = Path(__file__).parent / "data"


def save_network(network: TableEyes | Clone, path: Path) -> None:
    """One file, all or nothing; loading it gives the network rounded to half precision."""
    config = network.eyes.config if isinstance(network, Clone) else network.config
    tensors = {
        name: (value.half() if value.is_floating_point() else value).contiguous()
        for name, value in network.state_dict().items()
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    save_file(tensors, part, {"sizes": json.dumps(asdict(config))})
    part.replace(path)


def open_eyes(folder: Path, name: str) -> TableEyes:
    """Eyes out of their file."""
    tensors, config = _read(folder / f"{name}.safetensors")
    eyes = TableEyes(config)
    eyes.load_state_dict(tensors)
    return eyes.eval()


def open_clone(folder: Path, name: str) -> Clone:
    """A cloned policy out of its file."""
    tensors, config = _read(folder / f"{name}.safetensors")
    clone = Clone(config)
    clone.load_state_dict(tensors)
    return clone.eval()


def _read(path: Path) -> tuple[dict[str, torch.Tensor], TableEyesConfig]:
    with safe_open(path, "pt") as file:
        sizes = json.loads(file.metadata()["sizes"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    floats = {n: v.float() if v.is_floating_point() else v for n, v in tensors.items()}
    return floats, TableEyesConfig(**sizes)
