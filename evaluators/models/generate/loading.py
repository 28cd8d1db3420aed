"""Diffusers pipelines from folders: safetensors only, the last one stays in the process, memory
used as the device allows."""

from __future__ import annotations

import inspect
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from evaluators.contracts import CannotProduce
from evaluators.models.generate.adapters import attach
from evaluators.models.generate.families import PipelineFamily

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
ROOM_FOR_WEIGHTS = 0.75
"""The part of free memory that weights may take; activations get what is left."""


def load_pipeline(
    folder: Path,
    device: str = "cpu",
    dtype: str = "fp32",
    adapters: tuple[Path, ...] = (),
    family: PipelineFamily | None = None,
) -> Any:
    """The pipeline of a folder as the class that the family is called by; without a family, as the
    class that it names."""
    changed = (folder / "model_index.json").stat().st_mtime_ns
    files = tuple(file.resolve() for file in adapters)
    return _load(folder.resolve(), changed, device, dtype, files, family)


@lru_cache(maxsize=1)
def _load(
    folder: Path,
    _changed: int,
    device: str,
    dtype: str,
    adapters: tuple[Path, ...],
    family: PipelineFamily | None,
) -> Any:
    import diffusers

    library: Any = diffusers
    kind = getattr(library, family.runs_as) if family and family.runs_as else None
    read: Any = (kind or library.DiffusionPipeline).from_pretrained
    precision: Any = DTYPES[dtype]
    if family and family.wide_vae and dtype != "fp32":
        precision = {"default": DTYPES[dtype], "vae": torch.float32}
    pipeline = read(folder, local_files_only=True, use_safetensors=True, dtype=precision)
    pipeline.set_progress_bar_config(disable=True)
    _spare_ftfy(pipeline)
    _name_text_model(pipeline)
    attach(pipeline, adapters)
    return place(pipeline, device)


def check_libraries(family: PipelineFamily) -> None:
    """A library that a pipeline will not run without is the operator's to install."""
    if missing := " ".join(name for name in family.needs if find_spec(name) is None):
        raise CannotProduce(
            f"{family.called} does not run without other libraries. pip install {missing}."
        )


def place(pipeline: Any, device: str) -> Any:
    """The pipeline where it computes: whole on the CPU; on a GPU whole if it fits, else a part at a
    time with a VAE that works in tiles."""
    if device == "cpu":
        return pipeline.to("cpu")
    free, _total = torch.cuda.mem_get_info(torch.device(device))
    if weight_bytes(pipeline) <= free * ROOM_FOR_WEIGHTS:
        return pipeline.to(device)
    spare_memory(pipeline)
    pipeline.enable_model_cpu_offload(device=device)
    return pipeline


def spare_memory(pipeline: Any) -> None:
    """Let the VAE decode in tiles and one sample at a time, where it can."""
    vae = getattr(pipeline, "vae", None)
    for name in ("enable_tiling", "enable_slicing"):
        if hasattr(vae, name):
            getattr(vae, name)()


def weight_bytes(pipeline: Any) -> int:
    """What the weights of all parts take."""
    parts = [part for part in pipeline.components.values() if isinstance(part, torch.nn.Module)]
    return sum(
        weights.numel() * weights.element_size() for part in parts for weights in part.parameters()
    )


def _spare_ftfy(pipeline: Any) -> None:
    """Some pipelines call ftfy without asking for it; plain ASCII, which ftfy leaves alone, goes
    without."""
    module = inspect.getmodule(type(pipeline))
    if (
        module is not None
        and hasattr(module, "is_ftfy_available")
        and not module.is_ftfy_available()
    ):
        vars(module).setdefault("ftfy", SimpleNamespace(fix_text=_plain_ascii))


def _name_text_model(pipeline: Any) -> None:
    """Some pipelines reach into CLIP by a name that transformers 5 has not: there the encoder is
    its own text model."""
    encoder = getattr(pipeline, "text_encoder", None)
    if type(encoder).__name__ == "CLIPTextModel" and not hasattr(encoder, "text_model"):
        vars(encoder)["text_model"] = encoder


def _plain_ascii(text: str) -> str:
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        raise RuntimeError(
            "This prompt is not plain ASCII, which its pipeline cleans with ftfy. pip install ftfy."
        )
    return text
