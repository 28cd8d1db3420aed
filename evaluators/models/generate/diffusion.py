"""Generators from diffusers folders: text to image and text to video, a seed a sample, no item lost
without a word."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluators.contracts import Json, Outcome, Output, Sample
from evaluators.media import Pixels, sha256_file, write_mp4, write_png
from evaluators.models.generate.adapters import find_weights
from evaluators.models.generate.families import FAMILIES, FROM_WORDS, Modality, family_of
from evaluators.models.generate.loading import check_libraries, load_pipeline, spare_more
from evaluators.models.generate.settings import (
    DECLARED_NOTHING,
    PipelineSettings,
    SamplerSettings,
    arguments_of,
    guide,
    own_choices,
    settle,
)

PIPELINES: dict[str, Modality] = {
    family.pipeline: family.modality for family in FAMILIES if family.form in FROM_WORDS
}
"""The pipeline classes that turn words into pixels, and into what."""

MOST_AT_ONCE = 8
BYTES_A_PIXEL = 8_000
"""Activations of large pipelines in half precision, roughly; a wrong guess costs one more try."""

BUSY = threading.Lock()
"""A pipeline's scheduler has state, so one thread at a time."""


class DiffusionGenerator:
    """Makes one picture or clip a sample from a diffusers folder."""

    def __init__(
        self,
        folder: Path,
        sampling: SamplerSettings = DECLARED_NOTHING,
        *,
        seed: int = 0,
        batch: int = 0,
        device: str = "cpu",
        dtype: str = "",
        shelf: Path | None = None,
        base: str = "",
    ) -> None:
        self.seed, self.device = seed, device
        self.dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self.weights = find_weights(folder, shelf, base)
        self.family = family_of(self.weights.folder, FROM_WORDS)
        self.modality = self.family.modality
        check_libraries(self.family)
        self.sampling = settle(self.family, self.weights.folder, sampling)
        self.batch = batch or fitting_batch(device, self.sampling)
        self.spared: tuple[str, ...] = ()

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """Outputs in the order of the samples; out of memory, half a batch, then a step down the
        ladder of `loading.SPARING`; one by one after an error."""
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
                    size = len(batch) // 2 if out_of_memory(error) else 1
                    continue
                if out_of_memory(error) and self._spare_more():
                    continue
                outputs = [Output(batch[0].id, Outcome.MODEL_FAILED, reason=why_failed(error))]
            yield from outputs
            todo = todo[len(batch) :]

    def _pipeline(self) -> Any:
        return load_pipeline(
            self.weights.folder, self.device, self.dtype, self.weights.adapters, self.family
        )

    def _spare_more(self) -> bool:
        """Whether there was one more way to need less memory; the next try has it."""
        step = spare_more(self._pipeline(), self.device, len(self.spared))
        self.spared = (*self.spared, step) if step else self.spared
        return bool(step)

    def _make(self, batch: Sequence[Sample], folder: Path) -> list[Output]:
        pipeline = self._pipeline()
        guide(pipeline, self.family, self.sampling)
        settings = arguments_of(self.family, self.sampling)
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
            "pipeline": self.family.pipeline,
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
        open_settings = own_choices(self.family, self.weights.folder, self.sampling)
        video = clip if self.modality == "video" else {}
        spared: dict[str, Json] = {"spared_memory": list(self.spared)} if self.spared else {}
        return settings | self.weights.named() | video | open_settings | spared


def sample_seed(base: int, sample_id: str) -> int:
    """A sample's own seed, whatever batch or shard it is in."""
    return int.from_bytes(hashlib.sha256(f"{base}:{sample_id}".encode()).digest()[:8]) >> 1


def fitting_batch(device: str, sampling: PipelineSettings) -> int:
    """How many to make at once: what free memory may hold; it is halved when that was too bold.

    On a CPU one by one: a batch gains nothing there, and its sums round differently.
    """
    if not device.startswith("cuda"):
        return 1
    free, _total = torch.cuda.mem_get_info(torch.device(device))
    pixels = sampling.height * sampling.width * sampling.frames
    return max(1, min(MOST_AT_ONCE, int(free / (pixels * BYTES_A_PIXEL))))


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


def out_of_memory(error: Exception) -> bool:
    """Whether the machine or the device had too little memory."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "t allocate memory" in str(
        error
    )


def device_broke(error: Exception) -> bool:
    """A lost device is our fault, not the model's: the shard is tried again elsewhere."""
    return isinstance(error, getattr(torch, "AcceleratorError", ())) and not out_of_memory(error)


def why_failed(error: Exception) -> str:
    if out_of_memory(error):
        return f"Out of memory with a batch of one: {str(error)[:300]}"
    return f"{type(error).__name__}: {str(error)[:300]}"
