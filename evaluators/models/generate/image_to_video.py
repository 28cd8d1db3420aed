"""Image-to-video models from diffusers folders: a frame and a caption in, a clip out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluators.agents.video_model import GeneratorFailed, Notes
from evaluators.media import read_image, write_mp4
from evaluators.models.generate.adapters import find_weights
from evaluators.models.generate.diffusion import (
    BUSY,
    DEFAULTS,
    SamplerSettings,
    as_pixels,
    class_of,
    device_broke,
    load_pipeline,
    settings_of,
    why_failed,
)

PIPELINES = (
    "WanImageToVideoPipeline",
    "CogVideoXImageToVideoPipeline",
    "LTXImageToVideoPipeline",
    "LTX2ImageToVideoPipeline",
    "HunyuanVideoImageToVideoPipeline",
    "HunyuanSkyreelsImageToVideoPipeline",
    "SkyReelsV2ImageToVideoPipeline",
    "Kandinsky5I2VPipeline",
    "I2VGenXLPipeline",
)
"""The pipeline classes that take an image and words under the settings we record."""


class DiffusionVideo:
    """Films with a diffusers pipeline in this process. `revision` tells one set of weights from
    another."""

    def __init__(
        self,
        folder: Path,
        sampling: SamplerSettings = DEFAULTS,
        *,
        revision: str = "",
        device: str = "cpu",
        dtype: str = "",
        shelf: Path | None = None,
        base: str = "",
    ) -> None:
        self.sampling, self.device = sampling, device
        self.dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self.weights = find_weights(folder, shelf, base)
        self.pipeline_class = class_of(self.weights.folder, PIPELINES, "image-to-video")
        self._revision = revision

    @property
    def name(self) -> str:
        """The pipeline, its weights and how it samples."""
        chosen = self.sampling
        how = (
            f"{chosen.steps} steps, guidance {chosen.guidance:g}, {chosen.width}x{chosen.height}, "
            f"{chosen.frames}"
        )
        base = f" on {self.weights.base} {self.weights.revision[:12]}" if self.weights.base else ""
        return (
            f"{self.pipeline_class} {self._revision}{base}, {how} frames at {chosen.fps:g}, "
            f"{self.dtype}"
        )

    @property
    def profile(self) -> str:
        """What a caption writer has to know."""
        seconds = self.sampling.frames / self.sampling.fps
        return (
            f"{self.pipeline_class.removesuffix('Pipeline')}, clips of {seconds:.1f} seconds, "
            "English captions"
        )

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> Path:  # noqa: ARG002
        """Film one clip; whatever the model does wrong is a GeneratorFailed, a lost device is
        not."""
        try:
            pixels = np.asarray(self._frames(frame, caption, seed))
        except Exception as error:
            if device_broke(error):
                raise
            raise GeneratorFailed(why_failed(error)) from error
        if not np.isfinite(pixels).all():
            raise GeneratorFailed(
                "The pipeline returned pixels that are not numbers. Try another precision."
            )
        return write_mp4(as_pixels(pixels), to, self.sampling.fps)

    def _frames(self, frame: Path, caption: str, seed: int) -> Any:
        from PIL import Image

        pipeline = load_pipeline(
            self.weights.folder, self.device, self.dtype, self.weights.adapters
        )
        settings = settings_of(pipeline, self.pipeline_class, "video", self.sampling)
        size = (self.sampling.width, self.sampling.height)
        image = Image.fromarray(read_image(frame)).resize(size, Image.Resampling.LANCZOS)
        # Noise is drawn on the CPU, so that one seed means one noise on every device.
        noise = torch.Generator("cpu").manual_seed(seed)
        with BUSY, torch.inference_mode():
            result = pipeline(
                image=image, prompt=caption, generator=noise, output_type="np", **settings
            )
        return result.frames[0]
