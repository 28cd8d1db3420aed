"""Generators from diffusers folders: text to image and text to video, a seed a sample, no item lost
without a word."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import torch

from evaluators.contracts import Json, Outcome, Output, Sample
from evaluators.media import Pixels, sha256_file, write_mp4, write_png
from evaluators.models.generate.adapters import attach, find_weights

Modality = Literal["image", "video"]

PIPELINES: dict[str, Modality] = {
    **dict.fromkeys(
        (
            "StableDiffusionPipeline",
            "StableDiffusionXLPipeline",
            "StableDiffusion3Pipeline",
            "FluxPipeline",
            "Flux2Pipeline",
            "Flux2KleinPipeline",
            "QwenImagePipeline",
            "QwenImage21Pipeline",
            "ZImagePipeline",
            "LatentConsistencyModelPipeline",
            "PixArtAlphaPipeline",
            "PixArtSigmaPipeline",
            "SanaPipeline",
            "SanaSprintPipeline",
            "AuraFlowPipeline",
            "HunyuanDiTPipeline",
            "CogView4Pipeline",
            "Lumina2Pipeline",
            "HiDreamImagePipeline",
            "ChromaPipeline",
            "Krea2Pipeline",
            "Kandinsky5T2IPipeline",
        ),
        "image",
    ),
    **dict.fromkeys(
        (
            "WanPipeline",
            "HunyuanVideoPipeline",
            "CogVideoXPipeline",
            "LTXPipeline",
            "LTX2Pipeline",
            "MochiPipeline",
            "CosmosTextToWorldPipeline",
            "SkyReelsV2Pipeline",
            "AllegroPipeline",
            "EasyAnimatePipeline",
            "Kandinsky5T2VPipeline",
        ),
        "video",
    ),
}
"""The pipeline classes that turn words into pixels under the settings we record, and into what."""

TRUE_GUIDANCE = frozenset({"QwenImagePipeline", "QwenImage21Pipeline"})
"""These call the guidance scale `true_cfg_scale` and apply it only beside a negative prompt."""

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}

MOST_AT_ONCE = 8
BYTES_A_PIXEL = 8_000
"""Activations of large pipelines in half precision, roughly; a wrong guess costs one more try."""

BUSY = threading.Lock()
"""A pipeline's scheduler has state, so one thread at a time."""


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """The sampler's settings; `frames` and `fps` are for clips only."""

    steps: int = 30
    guidance: float = 5.0
    height: int = 512
    width: int = 512
    frames: int = 49
    fps: float = 16.0


DEFAULTS = SamplerSettings()


def sampling_of(declared: Mapping[str, Any]) -> SamplerSettings:
    """What a manifest declares; what it leaves open stays at the default."""
    settings = {name: declared[name] for name in SamplerSettings.__dataclass_fields__}
    return SamplerSettings(**{name: value for name, value in settings.items() if value is not None})


class DiffusionGenerator:
    """Makes one picture or clip a sample from a diffusers folder."""

    def __init__(
        self,
        folder: Path,
        sampling: SamplerSettings = DEFAULTS,
        *,
        seed: int = 0,
        batch: int = 0,
        device: str = "cpu",
        dtype: str = "",
        shelf: Path | None = None,
        base: str = "",
    ) -> None:
        self.sampling, self.seed, self.device = sampling, seed, device
        self.dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self.weights = find_weights(folder, shelf, base)
        self.pipeline_class, self.modality = detect(self.weights.folder)
        self.batch = batch or fitting_batch(device, sampling, self.modality)

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """Outputs in the order of the samples; half a batch when out of memory, one by one after an
        error."""
        folder.mkdir(parents=True, exist_ok=True)
        todo, size = list(samples), self.batch
        while todo:
            batch = todo[:size]
            try:
                outputs = self._make(batch, folder)
            except Exception as error:
                if device_broke(error):
                    raise
                if len(batch) > 1:
                    size = len(batch) // 2 if _out_of_memory(error) else 1
                    continue
                outputs = [Output(batch[0].id, Outcome.MODEL_FAILED, reason=why_failed(error))]
            yield from outputs
            todo = todo[len(batch) :]

    def _make(self, batch: Sequence[Sample], folder: Path) -> list[Output]:
        pipeline = load_pipeline(
            self.weights.folder, self.device, self.dtype, self.weights.adapters
        )
        settings = settings_of(pipeline, self.pipeline_class, self.modality, self.sampling)
        seeds = [sample_seed(self.seed, sample.id) for sample in batch]
        # Noise is drawn on the CPU, so that one seed means one noise on every device.
        noise = [torch.Generator("cpu").manual_seed(seed) for seed in seeds]
        with BUSY, torch.inference_mode():
            result = pipeline(
                prompt=[s.prompt for s in batch], generator=noise, output_type="np", **settings
            )
        blocked = getattr(result, "nsfw_content_detected", None) or [False] * len(batch)
        arrays = result.images if self.modality == "image" else result.frames
        return [
            self._keep(sample, array, bool(stop), seed, folder)
            for sample, array, stop, seed in zip(batch, arrays, blocked, seeds, strict=True)
        ]

    def _keep(self, sample: Sample, array: Any, blocked: bool, seed: int, folder: Path) -> Output:
        record = self._record(seed)
        if blocked:
            reason = "The pipeline's own safety filter blocked this output."
            return Output(sample.id, Outcome.BLOCKED, record=record, reason=reason)
        array = np.asarray(array)
        if not np.isfinite(array).all():
            reason = "The pipeline returned pixels that are not numbers. Try another precision."
            return Output(sample.id, Outcome.MODEL_FAILED, record=record, reason=reason)
        file, media_facts = _write(
            as_pixels(array), folder / sample.id, self.modality, self.sampling.fps
        )
        return Output(
            sample.id, Outcome.SCORED, file, {**record, **media_facts, "sha256": sha256_file(file)}
        )

    def _record(self, seed: int) -> dict[str, Json]:
        """What is needed to make this output again."""
        from diffusers import __version__

        settings: dict[str, Json] = {
            "pipeline": self.pipeline_class,
            "modality": self.modality,
            "seed": seed,
            "base_seed": self.seed,
            "steps": self.sampling.steps,
            "guidance": self.sampling.guidance,
            "height": self.sampling.height,
            "width": self.sampling.width,
            "dtype": self.dtype,
            "device": self.device,
            "diffusers": __version__,
        }
        clip: dict[str, Json] = {"frames": self.sampling.frames, "fps": self.sampling.fps}
        return settings | self.weights.named() | (clip if self.modality == "video" else {})


def detect(folder: Path) -> tuple[str, Modality]:
    """The pipeline class of a folder and what it makes; an error for anything not in the table."""
    name = class_of(folder, PIPELINES, "text-to-image or text-to-video")
    return name, PIPELINES[name]


def class_of(folder: Path, classes: Collection[str], kind: str) -> str:
    """The pipeline class that a folder names, if it is a known one."""
    index = folder / "model_index.json"
    if not index.is_file():
        raise ValueError(
            f"{folder} has no model_index.json. Give a folder written by a diffusers "
            "save_pretrained()."
        )
    name = str(json.loads(index.read_text()).get("_class_name"))
    if name not in classes:
        raise ValueError(
            f"{name} in {index} is not a known {kind} pipeline. Known are: "
            f"{', '.join(sorted(classes))}."
        )
    return name


def sample_seed(base: int, sample_id: str) -> int:
    """A sample's own seed, whatever batch or shard it is in."""
    return int.from_bytes(hashlib.sha256(f"{base}:{sample_id}".encode()).digest()[:8]) >> 1


def fitting_batch(device: str, sampling: SamplerSettings, modality: Modality) -> int:
    """How many to make at once: what free memory may hold; it is halved when that was too bold.

    On a CPU one by one: a batch gains nothing there, and its sums round differently.
    """
    if not device.startswith("cuda"):
        return 1
    free, _total = torch.cuda.mem_get_info(torch.device(device))
    pixels = sampling.height * sampling.width * (sampling.frames if modality == "video" else 1)
    return max(1, min(MOST_AT_ONCE, int(free / (pixels * BYTES_A_PIXEL))))


def load_pipeline(
    folder: Path, device: str = "cpu", dtype: str = "fp32", adapters: tuple[Path, ...] = ()
) -> Any:
    """The pipeline of a folder, from safetensors only; the last one loaded stays in the process."""
    changed = (folder / "model_index.json").stat().st_mtime_ns
    return _load(
        folder.resolve(), changed, device, dtype, tuple(file.resolve() for file in adapters)
    )


@lru_cache(maxsize=1)
def _load(folder: Path, _changed: int, device: str, dtype: str, adapters: tuple[Path, ...]) -> Any:
    from diffusers import DiffusionPipeline

    read: Any = DiffusionPipeline.from_pretrained
    pipeline = read(folder, local_files_only=True, use_safetensors=True, dtype=DTYPES[dtype])
    pipeline.set_progress_bar_config(disable=True)
    _spare_ftfy(pipeline)
    attach(pipeline, adapters)
    if device == "cpu":
        return pipeline.to("cpu")
    pipeline.enable_model_cpu_offload(device=device)
    return pipeline


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


def _plain_ascii(text: str) -> str:
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        raise RuntimeError(
            "This prompt is not plain ASCII, which its pipeline cleans with ftfy. pip install ftfy."
        )
    return text


def settings_of(
    pipeline: Any, name: str, modality: Modality, sampling: SamplerSettings
) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "num_inference_steps": sampling.steps,
        "height": sampling.height,
        "width": sampling.width,
    }
    if name in TRUE_GUIDANCE:
        settings |= {"true_cfg_scale": sampling.guidance, "negative_prompt": " "}
    else:
        settings |= {"guidance_scale": sampling.guidance}
    if modality == "video":
        settings |= {"num_frames": sampling.frames}
    takes = inspect.signature(type(pipeline).__call__).parameters
    if unknown := sorted(settings.keys() - takes.keys()):
        raise ValueError(
            f"{name} does not take {', '.join(unknown)}, so its record would not be true."
        )
    return settings


def as_pixels(array: Any) -> Pixels:
    return np.asarray((np.clip(array, 0.0, 1.0) * 255).round(), dtype=np.uint8)


def _write(
    pixels: Pixels, stem: Path, modality: Modality, fps: float
) -> tuple[Path, dict[str, Json]]:
    """Write the file and tell its true size, which a pipeline may have rounded."""
    target = stem.with_name(f"{stem.name}.{'png' if modality == 'image' else 'mp4'}")
    height, width = pixels.shape[-3], pixels.shape[-2]
    if modality == "image":
        return write_png(pixels, target), {"height": height, "width": width}
    return write_mp4(pixels, target, fps), {"height": height, "width": width, "frames": len(pixels)}


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "t allocate memory" in str(
        error
    )


def device_broke(error: Exception) -> bool:
    """A lost device is our fault, not the model's: the shard is tried again elsewhere."""
    return isinstance(error, getattr(torch, "AcceleratorError", ())) and not _out_of_memory(error)


def why_failed(error: Exception) -> str:
    if _out_of_memory(error):
        return f"Out of memory with a batch of one: {str(error)[:300]}"
    return f"{type(error).__name__}: {str(error)[:300]}"
