"""What a handed-in model may ask of our machines: steps, pixels and frames, by the family of its
pipeline. Outputs that were made elsewhere may be as large as the format takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from submissions.format.errors import Problem
from submissions.format.manifest import DeclaredSampling, Manifest


@dataclass(frozen=True, slots=True)
class SamplingBounds:
    """The most of each; `volume` is pixels times frames, and of all outputs together nothing is
    said: that is the submission's time."""

    steps: int
    pixels: int
    volume: int


@dataclass(frozen=True, slots=True)
class OwnSize:
    """What a pipeline makes where the manifest says nothing; of folders of one class the largest
    that is published."""

    width: int
    height: int
    frames: int = 1


BOUNDS = {
    "image": SamplingBounds(steps=200, pixels=2048 * 2048, volume=2048 * 2048),
    "video": SamplingBounds(steps=100, pixels=1920 * 1088, volume=300 * 1280 * 720),
}
"""Above what published pipelines are shown with: 50 steps, 2048x2048, 257 frames of 1216x704."""
LTX_2 = ("LTX2Pipeline", "LTX2ImageToVideoPipeline")
FAMILY_BOUNDS = {
    "SanaPipeline": SamplingBounds(steps=200, pixels=4096 * 4096, volume=4096 * 4096),
    **dict.fromkeys(LTX_2, SamplingBounds(100, 1920 * 1088, volume=481 * 1280 * 720)),
}
"""Families whose authors go further: Sana has a checkpoint for 4096x4096, LTX-2 films up to twenty
seconds at 24 frames. Those with fewer steps need no bounds of their own."""
OWN_SIZE = {"image": OwnSize(1024, 1024), "video": OwnSize(1280, 720, 129)}
FAMILY_SIZE = {
    "HunyuanImagePipeline": OwnSize(2048, 2048),
    "Cosmos2TextToImagePipeline": OwnSize(1360, 768),
    **dict.fromkeys(("CogVideoXPipeline", "CogVideoXImageToVideoPipeline"), OwnSize(1360, 768, 81)),
    "WanImageToVideoPipeline": OwnSize(832, 480, 81),
    "LTXPipeline": OwnSize(704, 512, 161),
    "LTXConditionPipeline": OwnSize(704, 512, 161),
    "LTXImageToVideoPipeline": OwnSize(704, 512, 161),
    **dict.fromkeys(LTX_2, OwnSize(768, 512, 121)),
    "MochiPipeline": OwnSize(848, 480, 19),
    "SkyReelsV2Pipeline": OwnSize(960, 544, 97),
    "SkyReelsV2ImageToVideoPipeline": OwnSize(960, 544, 97),
    "SkyReelsV2DiffusionForcingPipeline": OwnSize(960, 544, 97),
    "HunyuanSkyreelsImageToVideoPipeline": OwnSize(960, 544, 97),
    "EasyAnimatePipeline": OwnSize(512, 512, 49),
    "Kandinsky5T2VPipeline": OwnSize(768, 512, 121),
    "Kandinsky5I2VPipeline": OwnSize(768, 512, 121),
    "AnimateDiffPipeline": OwnSize(512, 512, 16),
    "TextToVideoSDPipeline": OwnSize(576, 320, 16),
    "StableVideoDiffusionPipeline": OwnSize(1024, 576, 25),
}
"""Families whose own size is smaller than that of most, or larger."""
HINT = "Declare fewer steps, a smaller size or fewer frames, or hand in outputs made elsewhere."


def sampling_problems(manifest: Manifest, pipeline: str = "") -> Iterator[Problem]:
    """What a model's declared sampling asks too much of; `pipeline` is the class that runs it,
    where that is known."""
    if manifest.kind != "model":
        return
    modality = "video" if "video" in manifest.modalities else "image"
    bounds = FAMILY_BOUNDS.get(pipeline, BOUNDS[modality])
    steps, size = manifest.sampling.steps, _size(manifest.sampling, pipeline, modality)
    pixels = size.width * size.height
    shown = f"{size.width}x{size.height} pixels{_left_open(manifest.sampling, modality)}"
    if (steps or 0) > bounds.steps:
        yield _problem("steps", f"{steps} steps for each {modality}.", bounds.steps)
    if pixels > bounds.pixels:
        yield _problem("width", f"{shown} for each {modality}.", bounds.pixels)
    elif pixels * size.frames > bounds.volume:
        yield _problem("frames", f"{size.frames} frames of {shown}.", bounds.volume)


def _size(sampling: DeclaredSampling, pipeline: str, modality: str) -> OwnSize:
    """What is declared, and the family's own for what is not."""
    own = FAMILY_SIZE.get(pipeline, OWN_SIZE[modality])
    frames = (sampling.frames or own.frames) if modality == "video" else 1
    return OwnSize(sampling.width or own.width, sampling.height or own.height, frames)


def _left_open(sampling: DeclaredSampling, modality: str) -> str:
    names = ("width", "height", "frames") if modality == "video" else ("width", "height")
    left_open = [name for name in names if getattr(sampling, name) is None]
    return f" (its pipeline's own {', '.join(left_open)})" if left_open else ""


def _problem(field: str, asked: str, limit: int) -> Problem:
    message = f"{asked} At most {limit} are taken from a model that we run."
    return Problem("E_SAMPLING", f"manifest.sampling.{field}", message, HINT, limit)
