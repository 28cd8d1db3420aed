"""Diffusers pipelines from folders: safetensors only, the last one stays in the process, memory
used as the device allows."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from evaluators.contracts import CannotProduce
from evaluators.models.generate.adapters import attach
from evaluators.models.generate.families import PipelineFamily
from evaluators.models.generate.placing import placing_of

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True, slots=True)
class PipelineKey:
    """What makes a loaded pipeline the same one; `changed` is when its folder was."""

    folder: Path
    changed: int
    device: str
    dtype: str
    adapters: tuple[Path, ...]
    family: PipelineFamily | None


_loaded: dict[PipelineKey, Any] = {}
"""The pipeline that stays in this process, one at most."""


def load_pipeline(
    folder: Path,
    device: str = "cpu",
    dtype: str = "fp32",
    adapters: tuple[Path, ...] = (),
    family: PipelineFamily | None = None,
) -> Any:
    """The pipeline of a folder as the class that the family is called by; without a family, as the
    class that it names. Another one that was loaded before is gone before this one is read."""
    changed = (folder / "model_index.json").stat().st_mtime_ns
    files = tuple(file.resolve() for file in adapters)
    key = PipelineKey(folder.resolve(), changed, device, dtype, files, family)
    if key not in _loaded:
        unload()
        _loaded[key] = _load(folder.resolve(), device, dtype, files, family)
    return _loaded[key]


def unload() -> None:
    """Let go of the pipeline and of the device's memory."""
    _loaded.clear()
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _load(
    folder: Path,
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
    if family and family.tiled_vae:
        pipeline.vae.enable_tiling()
    return place(pipeline, device)


def check_libraries(family: PipelineFamily) -> None:
    """A library that a pipeline will not run without is the operator's to install."""
    if missing := " ".join(name for name in family.needs if find_spec(name) is None):
        raise CannotProduce(
            f"{family.called} does not run without other libraries. pip install {missing}."
        )


def place(pipeline: Any, device: str) -> Any:
    """The pipeline where it computes, as the plan for this machine's free memory says."""
    if device == "cpu":
        return pipeline.to("cpu")
    chosen = placing_of(part_bytes(pipeline), free_bytes(device))
    if chosen.kind != "whole":
        spare_memory(pipeline)
    if chosen.kind == "whole":
        return pipeline.to(device)
    if chosen.kind == "spread":
        return spread(pipeline, chosen.gpus)
    put_on(pipeline, device, chosen.kind)
    return pipeline


def free_bytes(device: str) -> tuple[int, ...]:
    """Free memory of the GPU, and of the other ones that this process may use where none is named
    by number: one process a GPU is told which."""
    first = torch.cuda.mem_get_info(torch.device(device))[0]
    if ":" in device:
        return (first,)
    others = range(1, torch.cuda.device_count())
    return (first, *(torch.cuda.mem_get_info(number)[0] for number in others))


def put_on(pipeline: Any, device: str, kind: str) -> None:
    """Keep parts in main memory: a part at a time on the GPU, or a layer at a time."""
    if kind == "offload":
        pipeline.enable_model_cpu_offload(device=device)
    else:
        pipeline.enable_group_offload(
            torch.device(device), torch.device("cpu"), offload_type="leaf_level", use_stream=True
        )


def spread(pipeline: Any, gpus: Mapping[str, int]) -> Any:
    """Each part on the GPU that the plan gives it; what passes between parts follows the part."""
    from accelerate.hooks import AlignDevicesHook, add_hook_to_module

    for name, number in gpus.items():
        part = getattr(pipeline, name).to(f"cuda:{number}")
        add_hook_to_module(part, AlignDevicesHook(f"cuda:{number}", io_same_device=True))
    return pipeline


SPARING = ("tiles", "offload", "group")
"""What is tried, one after the other, when a batch of one does not fit."""


def spare_more(pipeline: Any, device: str, steps: int) -> str:
    """Take one more step down the ladder for a pipeline that is out of memory, after so many; what
    it was, empty where there is none left. On a CPU there is one: tiles."""
    ladder = SPARING if device != "cpu" else SPARING[:1]
    if steps >= len(ladder):
        return ""
    if ladder[steps] == "tiles":
        spare_memory(pipeline)
    else:
        pipeline.remove_all_hooks()
        pipeline.to("cpu")
        put_on(pipeline, device, ladder[steps])
    if device != "cpu":
        torch.cuda.empty_cache()
    return ladder[steps]


def spare_memory(pipeline: Any) -> None:
    """Let the VAE decode in tiles and one sample at a time, where it can."""
    vae = getattr(pipeline, "vae", None)
    for name in ("enable_tiling", "enable_slicing"):
        if hasattr(vae, name):
            getattr(vae, name)()


def part_bytes(pipeline: Any) -> dict[str, int]:
    """What the weights of each part take."""
    return {
        name: sum(weights.numel() * weights.element_size() for weights in part.parameters())
        for name, part in pipeline.components.items()
        if isinstance(part, torch.nn.Module)
    }


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
