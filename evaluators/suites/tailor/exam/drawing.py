"""A sheet to draw plain scenes on: shapes, words and backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 448, 336
SCALE = 2
"""Drawn twice as large and reduced, so that edges are smooth."""

GROUND = 262
"""Where things stand: the height of the table's or the lawn's middle."""

Colour = tuple[int, int, int]
Point = tuple[float, float]
RED, BLUE, GREEN, YELLOW = (208, 44, 44), (38, 92, 204), (44, 150, 70), (244, 200, 40)
PURPLE, ORANGE, WHITE, BLACK = (130, 70, 180), (240, 138, 36), (250, 250, 248), (34, 34, 38)
STEEL, WOOD, BROWN, SKIN = (160, 168, 178), (176, 126, 78), (112, 74, 44), (232, 188, 156)
GREY, WATER = (128, 132, 138), (250, 170, 40)
WALLS: tuple[Colour, ...] = (
    (232, 226, 212), (214, 228, 232), (226, 216, 230),
    (220, 232, 214), (240, 228, 200), (224, 224, 224),
)  # fmt: skip
TABLES: tuple[Colour, ...] = (
    (196, 156, 112),
    (168, 140, 120),
    (206, 180, 148),
    (150, 160, 168),
    (184, 150, 136),
)
SKIES: tuple[Colour, ...] = ((176, 214, 240), (200, 224, 242), (214, 222, 232), (240, 222, 200))
LAWNS: tuple[Colour, ...] = ((128, 178, 96), (150, 186, 110), (112, 164, 104), (170, 180, 112))


@dataclass(frozen=True)
class Drawing:
    """A picture in work."""

    image: Image
    pen: ImageDraw

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A rectangle with a darker edge."""
        self.pen.rectangle(
            _up(left, top, right, bottom), fill=fill, outline=shade(fill, 0.7), width=SCALE
        )

    def oval(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """An ellipse with a darker edge."""
        self.pen.ellipse(
            _up(left, top, right, bottom), fill=fill, outline=shade(fill, 0.7), width=SCALE
        )

    def blot(self, x: float, y: float, across: float, down: float, fill: Colour) -> None:
        """An ellipse without an edge around a middle."""
        self.pen.ellipse(_up(x - across, y - down, x + across, y + down), fill=fill)

    def dome(self, x: float, y: float, across: float, up: float, fill: Colour) -> None:
        """The upper half of an ellipse around a middle."""
        self.pen.pieslice(_up(x - across, y - up, x + across, y + up), 180, 360, fill=fill)

    def rounded(
        self, left: float, top: float, right: float, bottom: float, radius: float, fill: Colour
    ) -> None:
        """A rectangle with round corners and a darker edge."""
        place = _up(left, top, right, bottom)
        self.pen.rounded_rectangle(
            place, radius * SCALE, fill=fill, outline=shade(fill, 0.7), width=SCALE
        )

    def ring(self, x: float, y: float, radius: float, width: float, fill: Colour) -> None:
        """An open circle."""
        place = _up(x - radius, y - radius, x + radius, y + radius)
        self.pen.ellipse(place, outline=fill, width=round(width * SCALE))

    def poly(self, points: Sequence[Point], fill: Colour) -> None:
        """A polygon with a darker edge."""
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self.pen.polygon(scaled, fill=fill, outline=shade(fill, 0.7), width=SCALE)

    def line(self, points: Sequence[Point], width: float, fill: Colour) -> None:
        """A line with round ends."""
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self.pen.line(scaled, fill=fill, width=round(width * SCALE), joint="curve")
        for x, y in (points[0], points[-1]):
            self.pen.ellipse(
                _up(x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=fill
            )

    def words(self, x: float, y: float, text: str, size: int, fill: Colour = BLACK) -> None:
        """Writing, its middle at a point."""
        from PIL import ImageFont

        font = ImageFont.load_default(size * SCALE)
        self.pen.text((x * SCALE, y * SCALE), text, font=font, fill=fill, anchor="mm")

    def paste(self, picture: Image, left: int, top: int) -> None:
        """A photograph with its upper left corner at a point."""
        width, height = picture.size
        self.image.paste(
            picture.resize((width * SCALE, height * SCALE)), (left * SCALE, top * SCALE)
        )

    def pixels(self) -> Pixels:
        """The finished picture."""
        return np.asarray(self.image.reduce(SCALE), dtype=np.uint8)


def sheet(fill: Colour) -> Drawing:
    """An empty sheet."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), fill)
    return Drawing(image, ImageDraw.Draw(image))


def room(random: np.random.Generator) -> Drawing:
    """A wall with a window or a picture on it, and a table in front."""
    wall, table = pick(random, WALLS), pick(random, TABLES)
    drawing = sheet(wall)
    left = float(random.integers(180, 250))
    if random.integers(2):
        drawing.box(left, 18, left + 64, 82, WHITE)
        drawing.box(left + 5, 23, left + 59, 77, (188, 220, 244))
        drawing.line([(left + 32, 22), (left + 32, 78)], 4, WHITE)
    else:
        drawing.box(left, 24, left + 70, 70, BROWN)
        drawing.box(left + 6, 30, left + 64, 64, pick(random, LAWNS))
    drawing.box(-2, 222, WIDTH + 2, HEIGHT + 2, table)
    drawing.box(-2, 222, WIDTH + 2, 229, shade(table, 0.85))
    return drawing


def garden(random: np.random.Generator) -> Drawing:
    """A lawn under the sky, with a cloud."""
    drawing = sheet(pick(random, SKIES))
    left = float(random.integers(150, 270))
    for x, y, size in ((left, 40, 22), (left + 22, 32, 28), (left + 48, 42, 20)):
        drawing.blot(x, y, size, size * 0.6, WHITE)
    drawing.box(-2, 216, WIDTH + 2, HEIGHT + 2, pick(random, LAWNS))
    return drawing


def screen(drawing: Drawing, left: float, right: float) -> None:
    """A grey folding screen that hides whatever is behind it, from top to bottom."""
    panels = 3
    step = (right - left) / panels
    for panel in range(panels):
        start = left + panel * step
        lean = 6 if panel % 2 else -6
        corners = [
            (start, 20 - lean),
            (start + step, 20 + lean),
            (start + step, 320 + lean),
            (start, 320 - lean),
        ]
        drawing.poly(corners, shade(GREY, 1.12 if panel % 2 else 0.96))


def turn(points: Sequence[Point], centre: Point, degrees: float) -> list[Point]:
    """Points turned clockwise around a centre."""
    c, s = cos(radians(degrees)), sin(radians(degrees))
    return [
        (
            centre[0] + (x - centre[0]) * c - (y - centre[1]) * s,
            centre[1] + (x - centre[0]) * s + (y - centre[1]) * c,
        )
        for x, y in points
    ]


def shade(colour: Colour, by: float) -> Colour:
    """A colour, darker below 1 and lighter above."""
    red, green, blue = (min(255, round(part * by)) for part in colour)
    return red, green, blue


def pick(random: np.random.Generator, colours: Sequence[Colour]) -> Colour:
    """One of several colours."""
    return colours[int(random.integers(len(colours)))]


def _up(*values: float) -> list[float]:
    return [value * SCALE for value in values]
