"""How a policy reads the view from above: where the named object is, and where the other one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from evaluators.worlds.bussing.starts import BIN_NAMES, COLOURS, OBJECTS
from evaluators.worlds.bussing.views import Canvas, empty_top, pixel_places
from evaluators.worlds.pictures import Size

SHARP = 45.0
"""How far a pixel may be from a mixture of object and table, in grey levels, before it hardly
counts."""

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PerceivedObjects:
    """Where the named object and the other one are, and the colour of each."""

    named: tuple[float, float]
    distractor: tuple[float, float]
    named_colour: tuple[float, float, float]
    distractor_colour: tuple[float, float, float]


class NotUnderstood(ValueError):
    """The instruction names no object or bin of this bench."""


def parse_instruction(instruction: str) -> tuple[str, int]:
    """The object and the bin of an instruction.

    >>> parse_instruction("put the blue bowl into the trash can")
    ('blue bowl', 1)
    """
    match = re.fullmatch(r"put the (.+) into the (.+)", instruction)
    if not match or match[1] not in OBJECTS or match[2] not in BIN_NAMES:
        raise NotUnderstood(
            f"The instruction {instruction!r} is none of this bench. Say: put the OBJECT into the "
            "BIN."
        )
    return match[1], BIN_NAMES.index(match[2])


def perceive(top: Picture, name: str) -> PerceivedObjects:
    """Find the named object by its colour, and of all others the one that stands out most."""
    cover = _cover(top)
    named = OBJECTS.index(name)
    mass = cover.sum(axis=(1, 2))
    near = cover[named] > 0.3
    distractor_cover = np.where(near[None], 0.0, cover)
    distractor_cover[named] = 0.0
    distractor = int(distractor_cover.sum(axis=(1, 2)).argmax())
    return PerceivedObjects(
        _middle(cover[named], top, mass[named]),
        _middle(distractor_cover[distractor], top, distractor_cover[distractor].sum()),
        COLOURS[named],
        COLOURS[distractor],
    )


def _cover(top: Picture) -> Canvas:
    """How much of each pixel each kind of object covers: [objects, height, width]."""
    size = Size(top.shape[0], top.shape[1])
    empty = _empty(size)
    colours = np.array(COLOURS, np.float32)[:, None, None]
    towards = colours - empty
    off = top.astype(np.float32) - empty
    share = np.clip((off * towards).sum(-1) / np.maximum((towards**2).sum(-1), 1.0), 0, 1)
    miss = np.linalg.norm(off - share[..., None] * towards, axis=-1)
    weight: Canvas = share * np.exp(-((miss / SHARP) ** 2)) * (share > 0.25)
    return weight.astype(np.float32)


@cache
def _empty(size: Size) -> Canvas:
    return empty_top(size)


def _middle(weight: Canvas, top: Picture, mass: float) -> tuple[float, float]:
    """The centre of the strongest spot; the table's middle when there is none."""
    if mass < 1e-3:
        return 0.5, 0.4
    x, y = pixel_places(Size(top.shape[0], top.shape[1]))
    peak = np.unravel_index(int(_blurred(weight).argmax()), weight.shape)
    near = np.hypot(x - x[peak], y - y[peak]) < 0.13
    spot = weight * near
    total = max(float(spot.sum()), 1e-6)
    return float((spot * x).sum() / total), float((spot * y).sum() / total)


def _blurred(weight: Canvas) -> Canvas:
    padded = np.pad(weight, 1)
    shape = weight.shape
    parts = [padded[i : i + shape[0], j : j + shape[1]] for i in range(3) for j in range(3)]
    summed: Canvas = np.sum(parts, axis=0)
    return summed
