"""What a handed-in model may ask of our machines: steps, pixels and frames, by the kind of outputs
it makes. Outputs that were made elsewhere may be as large as the format takes them."""

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


BOUNDS = {
    "image": SamplingBounds(steps=200, pixels=2048 * 2048, volume=2048 * 2048),
    "video": SamplingBounds(steps=100, pixels=1920 * 1088, volume=300 * 1280 * 720),
}
"""Above what published pipelines are shown with: 50 steps, 2048x2048, 257 frames of 1216x704."""
HINT = "Declare fewer steps, a smaller size or fewer frames, or hand in outputs made elsewhere."


def sampling_problems(manifest: Manifest) -> Iterator[Problem]:
    """What a model's declared sampling asks too much of."""
    if manifest.kind != "model":
        return
    modality = "video" if "video" in manifest.modalities else "image"
    bounds = BOUNDS[modality]
    sampling = manifest.sampling
    pixels = (sampling.height or 0) * (sampling.width or 0)
    sides = [side for side in (sampling.height, sampling.width) if side]
    if (sampling.steps or 0) > bounds.steps:
        yield _problem("steps", f"{sampling.steps} steps for each {modality}.", bounds.steps)
    if pixels > bounds.pixels or any(side * side > 4 * bounds.pixels for side in sides):
        size = f"{sampling.width or 'any'}x{sampling.height or 'any'}"
        yield _problem("width", f"{size} pixels for each {modality}.", bounds.pixels)
    elif modality == "video" and _volume(sampling) > bounds.volume:
        asked = f"{sampling.frames} frames of {sampling.width}x{sampling.height} pixels."
        yield _problem("frames", asked, bounds.volume)


def _volume(sampling: DeclaredSampling) -> int:
    return (sampling.height or 0) * (sampling.width or 0) * (sampling.frames or 0)


def _problem(field: str, asked: str, limit: int) -> Problem:
    message = f"{asked} At most {limit} are taken from a model that we run."
    return Problem("E_SAMPLING", f"manifest.sampling.{field}", message, HINT, limit)
