"""A large canvas in the coordinates of the picture, reduced at the end so that edges are smooth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.suites.liva.cases.shapes import Colour, ShapePen, shade

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 1280, 720
SCALE = 2
EDGE = 392
"""The height of the table's far edge."""

FAR, NEAR = 424, 690
"""Where things stand at depth 0, at the far edge, and at depth 1."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class SceneCanvas:
    """Draws plain figures; a row is a depth on the table from 0 (far) to 1 (near)."""

    image: Image
    draw: ImageDraw

    @classmethod
    def blank(cls, colour: Colour) -> SceneCanvas:
        """A canvas of one colour."""
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), colour)
        return cls(image, ImageDraw.Draw(image))

    def picture(self) -> Image:
        """The finished picture, in few colours so that its file is small."""
        from PIL import Image

        small = self.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        return small.quantize(160, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)

    @property
    def pen(self) -> ShapePen:
        """Draws the shapes of things."""
        return ShapePen(self.draw, SCALE)

    def column(self, hundredths: float) -> float:
        """A column by its share of the width."""
        return hundredths * WIDTH / 100

    def row(self, depth: float) -> float:
        """The height at which something of a depth stands on the table."""
        return row_of(depth)

    def rect(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        """A rectangle."""
        self.draw.rectangle(_up((x0, y0), (x1, y1)), fill)

    def framed(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        """A rectangle with a darker edge."""
        self.draw.rectangle(_up((x0, y0), (x1, y1)), fill, shade(fill, 0.78), 2 * SCALE)

    def rounded(
        self, x0: float, y0: float, x1: float, y1: float, radius: float, fill: Colour
    ) -> None:
        """A rectangle with round corners."""
        self.draw.rounded_rectangle(_up((x0, y0), (x1, y1)), radius * SCALE, fill)

    def oval(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        """An ellipse."""
        self.draw.ellipse(_up((x0, y0), (x1, y1)), fill)

    def circle(self, x: float, y: float, radius: float, width: float, fill: Colour) -> None:
        """The line of a circle."""
        place = _up((x - radius, y - radius), (x + radius, y + radius))
        self.draw.ellipse(place, outline=fill, width=round(width * SCALE))

    def half(
        self, x0: float, y0: float, x1: float, y1: float, start: float, end: float, fill: Colour
    ) -> None:
        """A piece of an ellipse between two angles."""
        self.draw.chord(_up((x0, y0), (x1, y1)), start, end, fill)

    def bow(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        """The lower bow of an ellipse."""
        self.draw.arc(_up((x0, y0), (x1, y1)), 20, 160, fill, 4 * SCALE)

    def poly(self, points: Sequence[Point], fill: Colour) -> None:
        """A polygon."""
        self.draw.polygon(_up(*points), fill)

    def limb(self, points: Sequence[Point], width: float, fill: Colour) -> None:
        """A thick line with round ends and joints."""
        self.draw.line(_up(*points), fill, round(width * SCALE), joint="curve")
        for x, y in points:
            self.oval(x - width / 2, y - width / 2, x + width / 2, y + width / 2, fill)


def row_of(depth: float) -> float:
    """The height at which something of a depth stands on the table."""
    return FAR + (NEAR - FAR) * depth


def _up(*points: Point) -> list[Point]:
    return [(x * SCALE, y * SCALE) for x, y in points]
