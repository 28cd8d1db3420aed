"""Rows that always stand on the board and must do badly: outputs made without looking at what the
prompt asks."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from evaluators.contracts import Sample, Yardstick
from evaluators.media import Pixels, read_frames, write_mp4, write_png
from evaluators.suites.tailor.scenes import idle, success

WIDTH, HEIGHT = 256, 192
FRAMES, FPS = 8, 8.0
MARGIN = 8
Draw = Callable[[Sample], Pixels]
Change = Callable[[Sample, Pixels], Pixels]


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row made from nothing but the sample; a clip is the picture, or pictures, one after
    another."""

    name: str
    title: str
    draw: Draw


@dataclass(frozen=True, slots=True)
class Changed:
    """A row made by spoiling the clips of somebody else."""

    name: str
    title: str
    change: Change


def black(_sample: Sample) -> Pixels:
    """Nothing at all: one black frame."""
    return np.zeros((1, HEIGHT, WIDTH, 3), np.uint8)


def noise(sample: Sample) -> Pixels:
    """Uniform noise, other in each frame, the same for the same sample."""
    return _generator(sample).integers(0, 256, (FRAMES, HEIGHT, WIDTH, 3), np.uint8)


def card(sample: Sample) -> Pixels:
    """The prompt itself, black on white: a judge that reads instead of looking would be taken
    in."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    letter = max(1, int(draw.textlength("n")))
    lines = textwrap.fill(sample.prompt, (WIDTH - 2 * MARGIN) // letter)
    draw.multiline_text((MARGIN, MARGIN), lines, fill="black")
    return np.asarray(image, np.uint8)[None]


def static(_sample: Sample, frames: Pixels) -> Pixels:
    """The first frame for the whole length of the clip."""
    return np.repeat(frames[:1], len(frames), axis=0)


def shuffled(sample: Sample, frames: Pixels) -> Pixels:
    """The same frames in another order."""
    order = _generator(sample).permutation(len(frames))
    if (order == np.arange(len(frames))).all():
        order = np.roll(order, 1)
    return frames[order]


DRAWN = (
    DrawnRow("black", "Black", black),
    DrawnRow("noise", "Uniform noise", noise),
    DrawnRow("card", "Text card with the prompt", card),
    DrawnRow("idle", "Idle scene: things by name, nothing happens", idle),
    DrawnRow("success", "Success drawn, also for the impossible", success),
)
CHANGED = (
    Changed("static", "First frame, held still", static),
    Changed("shuffled", "Frames in another order", shuffled),
)


def yardsticks() -> tuple[Yardstick, ...]:
    """Every sanity row, one for pictures and one for clips; two of them make sense for clips
    only."""
    both = ("image", "video")
    drawn = (
        Yardstick(f"{row.title} ({_called(m)})", "sanity", m, partial(_drawn, row))
        for row in DRAWN
        for m in both
    )
    swapped = (
        Yardstick(f"Another prompt's {_called(m)}", "sanity", m, _swapped, spoils=True)
        for m in both
    )
    changed = (
        Yardstick(f"{row.title} (clip)", "sanity", "video", partial(_changed, row), True)
        for row in CHANGED
    )
    return (*drawn, *swapped, *changed)


def _called(modality: str) -> str:
    return "picture" if modality == "image" else "clip"


def _drawn(
    row: DrawnRow, samples: Sequence[Sample], _outputs: Mapping[str, Path], folder: Path
) -> dict[str, Path]:
    return draw_row(row, samples, folder)


def _changed(
    row: Changed, samples: Sequence[Sample], outputs: Mapping[str, Path], folder: Path
) -> dict[str, Path]:
    return change_row(row, samples, outputs, folder)


def _swapped(
    samples: Sequence[Sample], outputs: Mapping[str, Path], _folder: Path
) -> dict[str, Path]:
    return of_another_prompt(samples, outputs)


def draw_row(row: DrawnRow, samples: Sequence[Sample], folder: Path) -> dict[str, Path]:
    """Write a drawn row: one file a sample, a PNG or an mp4."""
    return {sample.id: _write(sample, row.draw(sample), folder) for sample in samples}


def change_row(
    row: Changed, samples: Sequence[Sample], outputs: Mapping[str, Path], folder: Path
) -> dict[str, Path]:
    """Write a changed row from the clips given; pictures have no frames to change and are left
    out."""
    clips = [
        sample for sample in samples if sample.facets.modality == "video" and sample.id in outputs
    ]
    return {
        sample.id: _write(sample, row.change(sample, read_frames(outputs[sample.id])), folder)
        for sample in clips
    }


def of_another_prompt(samples: Sequence[Sample], outputs: Mapping[str, Path]) -> dict[str, Path]:
    """Give each sample the output of one of another task, same setting and modality, each output
    used once."""
    swapped: dict[str, Path] = {}
    strata: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        if sample.id in outputs:
            strata.setdefault((sample.facets.setting, sample.facets.modality), []).append(sample)
    for members in strata.values():
        largest = max(
            sum(member.cluster == sample.cluster for member in members) for sample in members
        )
        by_task = sorted(members, key=lambda sample: sample.cluster)
        donors = by_task[largest:] + by_task[:largest]
        swapped.update(
            (sample.id, outputs[donor.id])
            for sample, donor in zip(by_task, donors, strict=True)
            if sample.cluster != donor.cluster
        )
    return swapped


def _write(sample: Sample, frames: Pixels, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if sample.facets.modality == "image":
        return write_png(frames[0], folder / f"{sample.id}.png")
    clip = np.repeat(frames, FRAMES, axis=0) if len(frames) == 1 else frames
    return write_mp4(clip, folder / f"{sample.id}.mp4", FPS)


def _generator(sample: Sample) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(sha256(sample.id.encode()).digest()[:8]))
