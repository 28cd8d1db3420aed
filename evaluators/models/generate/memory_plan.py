"""How much memory a pipeline's folder wants, told from its configs alone: no weights are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from evaluators.models.generate.families import PipelineFamily
from evaluators.models.generate.placing import ROOM_FOR_WEIGHTS, placing_of

GIGABYTE = 10**9
CARDS = (8, 12, 16, 24, 32, 40, 48, 80, 96, 141, 192)
"""Gigabytes of the GPUs that people have."""


@dataclass(frozen=True, slots=True)
class PartSize:
    """A part of a pipeline that has weights."""

    name: str
    parameters: int
    bytes_a_parameter: int = 2

    @property
    def gigabytes(self) -> float:
        """What its weights take as they are loaded on a GPU."""
        return self.parameters * self.bytes_a_parameter / GIGABYTE


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The parts of a pipeline, and those whose config is not in its folder."""

    parts: tuple[PartSize, ...]
    missing: tuple[str, ...] = ()

    @property
    def gigabytes(self) -> float:
        """All weights, each part in the precision that it is run in."""
        return sum(part.gigabytes for part in self.parts)

    @property
    def whole(self) -> int | None:
        """The smallest card that holds all parts at once, with room to compute."""
        return _card(self.gigabytes)

    @property
    def offloaded(self) -> int | None:
        """The smallest card for one part at a time."""
        return _card(max((part.gigabytes for part in self.parts), default=0.0))

    @property
    def two(self) -> int | None:
        """The smallest card of which two hold all parts at once, one part on one card."""
        sizes = {part.name: int(part.gigabytes * GIGABYTE) for part in self.parts}
        fitting = (
            card
            for card in CARDS
            if placing_of(sizes, [card * GIGABYTE] * 2).kind in ("whole", "spread")
        )
        return next(fitting, None)

    def __str__(self) -> str:
        """The plan in a sentence."""
        sizes = ", ".join(f"{part.name} {part.gigabytes:.1f}" for part in self.parts)
        unknown = f"; not in the folder: {', '.join(self.missing)}" if self.missing else ""
        return f"{self._fits()}; weights {self.gigabytes:.1f} GB in bf16 ({sizes}){unknown}"

    def _fits(self) -> str:
        if self.offloaded is None:
            return (
                f"its largest part fits no card of up to {CARDS[-1]} GB; it runs a layer at a time "
                "(group offload), slowly"
            )
        if self.whole == self.offloaded:
            return f"fits a {self.whole} GB card"
        larger = f", a {self.whole} GB card without" if self.whole else ""
        together = f", two {self.two} GB cards" if self.two and self.two != self.whole else ""
        return f"fits a {self.offloaded} GB card with model offload{larger}{together}"


def plan_of(folder: Path, family: PipelineFamily) -> MemoryPlan:
    """Build every part of a pipeline without weights and count."""
    index = json.loads((folder / "model_index.json").read_text("utf-8"))
    parts, missing = [], []
    for name, value in index.items():
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str):
            continue
        kind = _model_class(*value)
        if kind is None:
            continue
        if not (folder / name / "config.json").is_file():
            missing.append(name)
            continue
        wide = name == "vae" and family.wide_vae
        count = sum(weights.numel() for weights in build_empty(folder / name, kind).parameters())
        parts.append(PartSize(name, count, 4 if wide else 2))
    return MemoryPlan(tuple(parts), tuple(missing))


def build_empty(folder: Path, kind: Any) -> Any:
    """A model of the size that a config tells, on the device that holds no numbers."""
    with torch.device("meta"):
        if hasattr(kind, "load_config"):
            return kind.from_config(kind.load_config(folder, local_files_only=True))
        return kind(kind.config_class.from_pretrained(folder, local_files_only=True))


def _model_class(library: str, name: str) -> Any:
    """The class of a part that has weights; None for tokenizers, schedulers and the like."""
    import diffusers
    import transformers

    libraries: dict[str, Any] = {"transformers": transformers, "diffusers": diffusers}
    packages: Any = diffusers.pipelines
    kind = getattr(libraries.get(library) or getattr(packages, library, None), name, None)
    return kind if isinstance(kind, type) and issubclass(kind, torch.nn.Module) else None


def _card(gigabytes: float) -> int | None:
    return next((card for card in CARDS if gigabytes <= card * ROOM_FOR_WEIGHTS), None)
