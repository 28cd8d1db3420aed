"""Image-to-video models from diffusers folders: a frame and a caption in, a clip out."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluators.agents.film import FittedFrame, fit_frame, write_film
from evaluators.agents.video_model import FilmedClip, GeneratorFailed, Notes, profile_of
from evaluators.media import read_image, write_png
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


@dataclass(frozen=True, slots=True)
class CaptionReader:
    """What a family's text encoder reads: languages, and about how many tokens of a caption."""

    languages: str
    tokens: int


CAPTIONS = {
    "WanImageToVideoPipeline": CaptionReader("English or Chinese", 512),
    "SkyReelsV2ImageToVideoPipeline": CaptionReader("English or Chinese", 512),
    "CogVideoXImageToVideoPipeline": CaptionReader("English", 226),
    "LTXImageToVideoPipeline": CaptionReader("English", 128),
    "LTX2ImageToVideoPipeline": CaptionReader("English", 1024),
    "HunyuanVideoImageToVideoPipeline": CaptionReader("English or Chinese", 256),
    "HunyuanSkyreelsImageToVideoPipeline": CaptionReader("English", 256),
    "Kandinsky5I2VPipeline": CaptionReader("English or Russian", 512),
    "I2VGenXLPipeline": CaptionReader("English", 77),
}
VAE_SCALE = 8
"""Pixels a side for a cell of latents, where a pipeline gives its size in cells."""


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
        own_size: bool = False,
    ) -> None:
        self.device = device
        self.dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self.weights = find_weights(folder, shelf, base)
        self.pipeline_class = class_of(self.weights.folder, PIPELINES, "image-to-video")
        size = _own_size(self.pipeline_class, self.weights.folder) if own_size else None
        self.sampling = replace(sampling, width=size[0], height=size[1]) if size else sampling
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
        reader = CAPTIONS[self.pipeline_class]
        return profile_of(
            self.pipeline_class.removesuffix("Pipeline"),
            self.sampling.frames / self.sampling.fps,
            f"{self.sampling.width}x{self.sampling.height}",
            f"{reader.languages}, at most about {reader.tokens} tokens",
        )

    def make(
        self,
        frame: Path,
        caption: str,
        seed: int,
        to: Path,
        notes: Notes,  # noqa: ARG002
    ) -> FilmedClip:
        """Film one clip and keep its last frame as it was made; whatever the model does wrong is a
        GeneratorFailed, a lost device is not."""
        fitted = fit_frame(read_image(frame), self.sampling.width, self.sampling.height)
        try:
            array = np.asarray(self._frames(fitted, caption, seed))
        except Exception as error:
            if device_broke(error):
                raise
            raise GeneratorFailed(why_failed(error)) from error
        if not np.isfinite(array).all():
            raise GeneratorFailed(
                "The pipeline returned pixels that are not numbers. Try another precision."
            )
        pixels = as_pixels(array)
        last = write_png(pixels[-1], to.with_suffix(".png"))
        return FilmedClip(write_film(pixels, to, self.sampling.fps), last, fitted.rule)

    def _frames(self, fitted: FittedFrame, caption: str, seed: int) -> Any:
        from PIL import Image

        pipeline = load_pipeline(
            self.weights.folder, self.device, self.dtype, self.weights.adapters
        )
        settings = settings_of(pipeline, self.pipeline_class, "video", self.sampling)
        image = Image.fromarray(fitted.pixels)
        # Noise is drawn on the CPU, so that one seed means one noise on every device.
        noise = torch.Generator("cpu").manual_seed(seed)
        with BUSY, torch.inference_mode():
            result = pipeline(
                image=image, prompt=caption, generator=noise, output_type="np", **settings
            )
        return result.frames[0]


def _own_size(pipeline_class: str, folder: Path) -> tuple[int, int] | None:
    """The width and height that a pipeline films at when it is told none, None where it does not
    say."""
    import diffusers

    takes = inspect.signature(getattr(diffusers, pipeline_class).__call__).parameters
    sides = tuple(takes[name].default for name in ("width", "height"))
    if all(isinstance(side, int) for side in sides):
        return sides[0], sides[1]
    file = folder / "transformer" / "config.json"
    config = json.loads(file.read_text()) if file.is_file() else {}
    width, height = config.get("sample_width"), config.get("sample_height")
    if isinstance(width, int) and isinstance(height, int):
        return width * VAE_SCALE, height * VAE_SCALE
    return None
