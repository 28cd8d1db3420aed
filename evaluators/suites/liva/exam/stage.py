"""The stage of L-IVA's exam: the painter's rooms and things, and a person whose hands move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.liva.cases.shapes import PALETTE, Colour, ShapePen, shapes

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 832, 480
SCALE = 2
"""Drawn twice as large and reduced, so that edges are smooth."""

FRAME = (624, 360)
"""The size of a frame."""

TABLE_EDGE, TABLE_BASE = 296, 424
PERSON = (366, 466)
"""The columns that the person takes."""

ROOMS: Mapping[str, tuple[Colour, Colour, Colour]] = {
    "kitchen": ((226, 236, 232), (188, 150, 108), (90, 120, 170)),
    "workshop": ((214, 206, 192), (160, 124, 84), (110, 90, 74)),
    "garden": ((190, 222, 240), (150, 118, 82), (86, 132, 80)),
    "office": ((236, 230, 220), (120, 96, 78), (70, 84, 110)),
    "laundry": ((222, 228, 240), (214, 214, 210), (150, 90, 120)),
}
"""Wall, table and the person's jumper in each scene family."""

SHADOW = (96, 84, 74)

SKIN, HAIR = (226, 182, 150), (84, 60, 46)
Point = tuple[float, float]
SHOULDERS: tuple[Point, Point] = ((PERSON[0] + 6, 196), (PERSON[1] - 6, 196))
RESTING: tuple[Point, Point] = ((PERSON[0] - 22, TABLE_EDGE - 4), (PERSON[1] + 22, TABLE_EDGE - 4))


@dataclass(frozen=True)
class Stage:
    """A frame in work; coordinates are those of the painter's pictures."""

    room: str
    canvas: Image
    pen: ImageDraw

    def prop(self, shape: str, colour: str, x: float, base: float = TABLE_BASE) -> None:
        """One of the painter's things, its lower edge around a point."""
        _draw(self.pen, shape, colour, x, base)

    def tilted(self, shape: str, colour: str, x: float, y: float, degrees: float) -> None:
        """One of the painter's things around a point, turned clockwise."""
        from PIL import Image, ImageDraw

        reach = max(_size(shape))
        layer = Image.new("RGBA", (2 * reach * SCALE, 2 * reach * SCALE))
        _draw(ImageDraw.Draw(layer), shape, colour, reach, reach + _size(shape)[1] // 2)
        turned = layer.rotate(-degrees, Image.Resampling.BICUBIC)
        self.canvas.paste(turned, (round((x - reach) * SCALE), round((y - reach) * SCALE)), turned)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """A rectangle."""
        fill = PALETTE[colour]
        self.pen.rectangle(_up((left, top), (right, bottom)), fill, _dark(fill), 2 * SCALE)

    def rounded(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """A rectangle with round corners."""
        fill, place = PALETTE[colour], _up((left, top), (right, bottom))
        self.pen.rounded_rectangle(place, 20 * SCALE, fill, _dark(fill), 2 * SCALE)

    def poly(self, points: Sequence[Point], colour: str) -> None:
        """A polygon."""
        fill = PALETTE[colour]
        self.pen.polygon(_up(*points), fill, _dark(fill), 2 * SCALE)

    def line(self, points: Sequence[Point], width: float, colour: str) -> None:
        """A line."""
        self.pen.line(_up(*points), PALETTE[colour], round(width * SCALE))

    def idle(self) -> None:
        """Both hands rest on the table."""
        for side in (0, 1):
            self._arm(side, RESTING[side])

    def grip(self, x: float, y: float) -> None:
        """The nearer hand is at a point, the other one rests."""
        side = int(x > WIDTH / 2)
        self._arm(1 - side, RESTING[1 - side])
        self._arm(side, (x, y))

    def pixels(self) -> Pixels:
        """The finished frame."""
        from PIL import Image

        return np.asarray(self.canvas.resize(FRAME, Image.Resampling.BOX), np.uint8)

    def _arm(self, side: int, hand: Point) -> None:
        (x, y), sleeve = SHOULDERS[side], _dark(ROOMS[self.room][2], 0.88)
        self.pen.line(_up((x, y), hand), sleeve, 26 * SCALE)
        for point, radius, fill in (((x, y), 13, sleeve), (hand, 17, SKIN)):
            self._blot(point, radius, fill)

    def _blot(self, point: Point, radius: float, fill: Colour) -> None:
        (x, y), edge = point, _dark(fill, 0.85)
        place = _up((x - radius, y - radius), (x + radius, y + radius))
        self.pen.ellipse(place, fill, edge, SCALE)


def stage(room: str, light: float = 1.0) -> Stage:
    """A room with a person behind a table, without the arms."""
    from PIL import Image, ImageDraw

    wall, table, jumper = (_dark(colour, light) for colour in ROOMS[room])
    canvas = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), wall)
    pen = ImageDraw.Draw(canvas)
    left, right = PERSON
    pen.rounded_rectangle(_up((left - 4, 158), (right + 4, TABLE_EDGE + 8)), 34 * SCALE, jumper)
    pen.rectangle(_up((402, 130), (430, 166)), _dark(SKIN, 0.92))
    pen.ellipse(_up((378, 48), (454, 144)), SKIN)
    pen.pieslice(_up((374, 40), (458, 128)), 180, 360, HAIR)
    for eye in (398, 428):
        pen.ellipse(_up((eye, 94), (eye + 7, 102)), (50, 50, 56))
    pen.arc(_up((402, 106), (430, 126)), 20, 160, (150, 84, 78), 3 * SCALE)
    pen.rectangle(_up((0, TABLE_EDGE), (WIDTH, HEIGHT)), table)
    pen.rectangle(_up((0, TABLE_EDGE), (WIDTH, TABLE_EDGE + 6)), _dark(table, 0.82))
    return Stage(room, canvas, pen)


def height(shape: str) -> int:
    """How tall one of the painter's things is."""
    return _size(shape)[1]


def _size(shape: str) -> tuple[int, int]:
    across, tall = (int(side) for side in shapes()[shape]["size"])
    return across, tall


def _draw(draw: ImageDraw, shape: str, colour: str, x: float, base: float) -> None:
    """Draw a thing around a column, with a shadow if it stands on the table."""
    across, tall = _size(shape)
    left, bottom = round(x - across / 2), round(base)
    if bottom == TABLE_BASE:
        place = _up((left - 4, bottom - 6), (left + across + 4, bottom + 6))
        draw.ellipse(place, fill=SHADOW)
    ShapePen(draw, SCALE).shape(shape, colour, (left, bottom - tall, left + across, bottom))


def _dark(colour: Colour, by: float = 0.7) -> Colour:
    red, green, blue = (round(part * by) for part in colour)
    return red, green, blue


def _up(*points: Point) -> list[Point]:
    return [(x * SCALE, y * SCALE) for x, y in points]
