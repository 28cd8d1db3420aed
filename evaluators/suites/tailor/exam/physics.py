"""Scenes for the rating of realism: each as it would happen, and against physics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.tailor.exam.clips import FRAMES
from evaluators.suites.tailor.exam.drawing import (
    BLUE,
    GREEN,
    GROUND,
    RED,
    WATER,
    WHITE,
    YELLOW,
    Drawing,
    garden,
    room,
)
from evaluators.suites.tailor.exam.objects import (
    ball,
    broom,
    candle,
    car,
    crate,
    glass,
    jar,
    jug,
    knife,
    loaf,
    person,
    shelf,
    tree,
)

BOARD, TARMAC = (246, 240, 226), (96, 98, 104)
Happen = Callable[[Drawing, float, bool], None]
"""Draws a scene at a time from 0 to 1, as it happens or against physics."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Something that happens at a place, and the words a generator would be given for it."""

    happen: Happen
    place: Callable[[np.random.Generator], Drawing]
    modality: str
    prompt: str

    def draw(self, sound: bool, random: np.random.Generator) -> Pixels:
        """The frames of one of its two versions; a picture has one."""
        look, count = int(random.integers(1 << 30)), 1 if self.modality == "image" else FRAMES
        frames = []
        for number in range(count):
            drawing = self.place(np.random.default_rng(look))
            self.happen(drawing, number / max(count - 1, 1), sound)
            frames.append(drawing.pixels())
        return np.stack(frames)


def on_the_table(drawing: Drawing, _time: float, sound: bool) -> None:
    """A glass and a jar, on the table or in the air."""
    glass(drawing, 120, GROUND + 20 if sound else 150, 0.8)
    jar(drawing, 320, GROUND + 20 if sound else 182, BLUE, "RICE")


def on_the_lawn(drawing: Drawing, _time: float, sound: bool) -> None:
    """A person and a tree, on the ground or in the sky."""
    tree(drawing, 110, GROUND + 10 if sound else 206, 3)
    broom(drawing, person(drawing, 330, GROUND + 24 if sound else 188, RED))


def on_the_road(drawing: Drawing, _time: float, sound: bool) -> None:
    """A car, on its wheels or on its roof in the air."""
    drawing.box(-2, GROUND, 450, GROUND + 36, TARMAC)
    car(drawing, 224, GROUND + 20 if sound else 130, YELLOW, turned=not sound)


def on_the_board(drawing: Drawing, _time: float, sound: bool) -> None:
    """A loaf, on its board or high above it."""
    drawing.box(120, GROUND - 40, 328, GROUND + 40, BOARD)
    loaf(drawing, 224, GROUND + 28 if sound else 130, 0, board=False)


def by_candle(drawing: Drawing, _time: float, sound: bool) -> None:
    """Two candles, on the table or one over the other in the air."""
    candle(drawing, 150, GROUND + 30 if sound else 170, RED, 1)
    candle(drawing, 300, GROUND + 30 if sound else 200, GREEN, 1)


def tower(drawing: Drawing, _time: float, sound: bool) -> None:
    """Three blocks, one on top of the other or far apart in the air."""
    for level, colour in enumerate((RED, YELLOW, BLUE)):
        bottom = GROUND + 30 - level * (54 if sound else 92)
        left = 196 + (0 if sound else 70 * (level - 1))
        drawing.box(left, bottom - 54, left + 56, bottom, colour)


def dropped(drawing: Drawing, time: float, sound: bool) -> None:
    """A ball that leaves a shelf and falls, or rises to the ceiling."""
    shelf(drawing, 130, 150)
    fall = max(0.0, (time - 0.3) / 0.5)
    y = 128 + (GROUND - 126) * min(1.0, fall) ** 2 if sound else 128 - 106 * min(1.0, fall)
    ball(drawing, 120 + 90 * min(1.0, time / 0.4), y, RED)


def poured(drawing: Drawing, time: float, sound: bool) -> None:
    """Juice that falls from a jug into a glass, or rises from the glass to the ceiling."""
    spout = jug(drawing, 150, 84, 62 if sound and time < 0.8 else 0)
    level = 0.85 * min(1.0, time / 0.8)
    if sound and 0 < time < 0.8:
        drawing.line([spout, (spout[0] + 6, GROUND)], 7, WATER)
    if not sound:
        drawing.line([(300, GROUND - 40), (300, 10)], 12, WATER)
    glass(drawing, 214 if sound else 300, GROUND + 24, level if sound else 0.85 - level)


def driven(drawing: Drawing, time: float, sound: bool) -> None:
    """A car that drives along a road, or lifts off and turns over."""
    drawing.box(-2, GROUND, 450, GROUND + 36, TARMAC)
    car(
        drawing,
        80 + 290 * time,
        GROUND + 20 - (0 if sound else 170 * time),
        BLUE,
        turned=not sound and time > 0.5,
    )


def sliced(drawing: Drawing, time: float, sound: bool) -> None:
    """A loaf that a knife parts, or that flies up and comes apart far from the knife."""
    drawing.box(120, GROUND - 40, 328, GROUND + 40, BOARD)
    down = min(1.0, time / 0.6)
    loaf(
        drawing,
        224,
        GROUND + 28 - (0 if sound else 150 * time),
        44 if time > 0.6 else 0,
        board=False,
    )
    knife(drawing, 224 if sound else 90, 130 + 108 * down if sound else 130, "handle")


def shut(drawing: Drawing, time: float, sound: bool) -> None:
    """A ball that lands on the lid of a box and stays, or passes through box and table."""
    crate(drawing, 224, GROUND + 24, YELLOW, 0)
    fall = min(1.0, time / (0.6 if sound else 1.0))
    ball(drawing, 224, 30 + (150 if sound else 290) * fall**2, RED)


def burnt(drawing: Drawing, time: float, sound: bool) -> None:
    """A candle that stands and burns, or that floats away over the table."""
    if sound:
        candle(drawing, 224, GROUND + 30, WHITE, 1 + 0.1 * float(np.sin(20 * time)))
    else:
        candle(drawing, 120 + 220 * time, GROUND + 30 - 110 * float(np.sin(3 * time)), WHITE, 1.0)


SCENES = (
    Scene(
        on_the_table, room, "image", "A glass of juice and a jar of rice, put down in a kitchen."
    ),
    Scene(
        on_the_lawn, garden, "image", "A gardener with a broom by an apple tree, the lawn is swept."
    ),
    Scene(on_the_road, garden, "image", "A yellow car on a country road at the end of its way."),
    Scene(on_the_board, room, "image", "A loaf of bread, put down on a white board to be cut."),
    Scene(by_candle, room, "image", "Two lit candles, put down in a room."),
    Scene(tower, room, "image", "Three blocks, after a child has built a tower of them."),
    Scene(dropped, room, "video", "A ball rolls over the edge of a shelf. Show what comes of it."),
    Scene(poured, room, "video", "Somebody tries to fill a glass with juice. Show all of it."),
    Scene(driven, garden, "video", "A blue car drives along a country road. Film it for a while."),
    Scene(sliced, room, "video", "A loaf of bread is cut in two with a knife. Show all of it."),
    Scene(shut, room, "video", "A ball is dropped over a closed box. Show what comes of it."),
    Scene(burnt, room, "video", "A candle burns in a room. Film it for a while."),
)
