"""Pairs for the ratings: one scene twice, sound and spoiled, in its looks or in its physics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.tailor.exam.clips import CLIPS
from evaluators.suites.tailor.exam.design import Family, facts
from evaluators.suites.tailor.exam.photographs import PHOTOGRAPHS
from evaluators.suites.tailor.exam.physics import SCENES
from evaluators.suites.tailor.exam.pictures import PICTURES

REALISM, QUALITY = "physical_realism", "perceptual_quality"
ROWS = ("nnyy", "ynyn")
"""The rows of the table whose scenes are shown clean and spoiled."""

BLOCK = 16
Spoil = Callable[[Pixels, np.random.Generator], Pixels]
Draw = Callable[[bool, np.random.Generator], Pixels]
"""From whether it is the sound version, and a look drawn at random, to frames."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A scene in two versions, and which of the two ratings tells them apart."""

    name: str
    rating: str
    modality: str
    prompt: str
    draw: Draw


def twins() -> Iterator[Twin]:
    """All pairs: spoiled pictures and clips first, then scenes against physics."""
    for number, family in enumerate((PHOTOGRAPHS, *PICTURES[1:], *CLIPS)):
        for row, spoil in zip(ROWS, SPOILS[family.modality][number % 2], strict=True):
            draw = _spoiled(family, row, spoil)
            yield Twin(f"{family.name} {row}", QUALITY, family.modality, family.prompt, draw)
    for scene in SCENES:
        yield Twin(scene.happen.__name__, REALISM, scene.modality, scene.prompt, scene.draw)


def _spoiled(family: Family, row: str, spoil: Spoil) -> Draw:
    def draw(sound: bool, random: np.random.Generator) -> Pixels:
        frames = family.draw(facts(row), random)
        return frames if sound else spoil(frames, random)

    return draw


def noisy(frames: Pixels, random: np.random.Generator) -> Pixels:
    """Strong noise in each pixel."""
    noise = random.normal(0, 90, frames.shape)
    return np.clip(frames + noise, 0, 255).astype(np.uint8)


def blurred(frames: Pixels, _random: np.random.Generator) -> Pixels:
    """So blurred that outlines are lost."""
    from PIL import Image, ImageFilter

    soft = ImageFilter.GaussianBlur(14)
    return np.stack([np.asarray(Image.fromarray(frame).filter(soft), np.uint8) for frame in frames])


def torn(frames: Pixels, random: np.random.Generator) -> Pixels:
    """Half of the blocks come from elsewhere in wrong colours, other ones in each frame."""
    spoiled = frames.copy()
    down, across = frames.shape[1] // BLOCK, frames.shape[2] // BLOCK
    for frame in spoiled:
        whole = frame.copy()
        for _ in range(down * across // 2):
            (y, v), (x, u) = (
                random.integers(down, size=2) * BLOCK,
                random.integers(across, size=2) * BLOCK,
            )
            block = whole[v : v + BLOCK, u : u + BLOCK]
            frame[y : y + BLOCK, x : x + BLOCK] = np.roll(block, int(random.integers(1, 3)), axis=2)
    return spoiled


SPOILS: dict[str, tuple[tuple[Spoil, Spoil], tuple[Spoil, Spoil]]] = {
    "image": ((noisy, blurred), (torn, noisy)),
    "video": ((torn, blurred), (blurred, torn)),
}
"""What spoils the two scenes of a family, in turns; noise in a clip would swell its file."""
