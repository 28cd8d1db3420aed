"""Image-to-video models from diffusers folders: a frame and a caption in, a clip out."""

from __future__ import annotations

from dataclasses import dataclass
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
    as_pixels,
    device_broke,
    out_of_memory,
    why_failed,
)
from evaluators.models.generate.families import classes_of, family_of
from evaluators.models.generate.loading import check_libraries, load_pipeline, spare_more
from evaluators.models.generate.settings import (
    DECLARED_NOTHING,
    SamplerSettings,
    arguments_of,
    configured,
    guide,
    settle,
)

PIPELINES = classes_of("image_to_video")
"""The pipeline classes that take an image, and words where they read them."""


@dataclass(frozen=True, slots=True)
class CaptionReader:
    """What a family's text encoder reads: languages, and about how many tokens of a caption."""

    languages: str
    tokens: int


CAPTIONS = {
    "WanImageToVideoPipeline": CaptionReader("English or Chinese", 512),
    "SkyReelsV2ImageToVideoPipeline": CaptionReader("English or Chinese", 512),
    "SkyReelsV2DiffusionForcingImageToVideoPipeline": CaptionReader("English or Chinese", 512),
    "CogVideoXImageToVideoPipeline": CaptionReader("English", 226),
    "LTXImageToVideoPipeline": CaptionReader("English", 128),
    "LTX2ImageToVideoPipeline": CaptionReader("English", 1024),
    "HunyuanVideoImageToVideoPipeline": CaptionReader("English or Chinese", 256),
    "HunyuanSkyreelsImageToVideoPipeline": CaptionReader("English", 256),
    "Kandinsky5I2VPipeline": CaptionReader("English or Russian", 512),
    "I2VGenXLPipeline": CaptionReader("English", 77),
    "LTXConditionPipeline": CaptionReader("English", 256),
    "HunyuanVideo15ImageToVideoPipeline": CaptionReader("English or Chinese", 1000),
    "CosmosVideoToWorldPipeline": CaptionReader("English", 512),
    "Cosmos2VideoToWorldPipeline": CaptionReader("English", 512),
    "Cosmos2_5_PredictBasePipeline": CaptionReader("English", 512),
}


class DiffusionVideo:
    """Films with a diffusers pipeline in this process. `revision` tells one set of weights from
    another."""

    def __init__(
        self,
        folder: Path,
        sampling: SamplerSettings = DECLARED_NOTHING,
        *,
        revision: str = "",
        device: str = "cpu",
        dtype: str = "",
        shelf: Path | None = None,
        base: str = "",
    ) -> None:
        self.device = device
        self.dtype = dtype or ("fp32" if device == "cpu" else "bf16")
        self.weights = find_weights(folder, shelf, base)
        self.family = family_of(self.weights.folder, ("image_to_video",))
        check_libraries(self.family)
        self.sampling = settle(self.family, self.weights.folder, sampling)
        self._revision = revision
        self._spared = 0

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
            f"{self.family.called} {self._revision}{base}, {how} frames at {chosen.fps:g}, "
            f"{self.dtype}{self._own()}"
        )

    def _own(self) -> str:
        """Which of these nobody declared, and the noise shift that then counts."""
        if not self.sampling.left_open:
            return ""
        shift = configured(self.weights.folder, "scheduler", "flow_shift")
        shifted = "" if shift is None else f", flow shift {shift:g}"
        return f"{shifted}, the pipeline's own {', '.join(self.sampling.left_open)}"

    @property
    def profile(self) -> str:
        """What a caption writer has to know."""
        if not self.family.reads_words:
            captions = "no language, since it reads none"
        else:
            reader = CAPTIONS[self.family.called]
            captions = f"{reader.languages}, at most about {reader.tokens} tokens"
        return profile_of(
            self.family.called.removesuffix("Pipeline"),
            self.sampling.frames / self.sampling.fps,
            f"{self.sampling.width}x{self.sampling.height}",
            captions,
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
            array = np.asarray(self._frames_within_memory(fitted, caption, seed))
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

    def _pipeline(self) -> Any:
        return load_pipeline(
            self.weights.folder, self.device, self.dtype, self.weights.adapters, self.family
        )

    def _frames_within_memory(self, fitted: FittedFrame, caption: str, seed: int) -> Any:
        """The frames; out of memory, a step down the ladder of `loading.SPARING` and once more."""
        while True:
            try:
                return self._frames(fitted, caption, seed)
            except Exception as error:
                if not out_of_memory(error) or not spare_more(
                    self._pipeline(), self.device, self._spared
                ):
                    raise
            self._spared += 1

    def _frames(self, fitted: FittedFrame, caption: str, seed: int) -> Any:
        from PIL import Image

        pipeline = self._pipeline()
        guide(pipeline, self.family, self.sampling)
        settings = arguments_of(self.family, self.sampling)
        if self.family.reads_words:
            settings["prompt"] = caption
        image = Image.fromarray(fitted.pixels)
        # Noise is drawn on the CPU, so that one seed means one noise on every device.
        noise = torch.Generator("cpu").manual_seed(seed)
        with BUSY, torch.inference_mode():
            result = pipeline(image=image, generator=noise, output_type="np", **settings)
        return result.frames[0]
