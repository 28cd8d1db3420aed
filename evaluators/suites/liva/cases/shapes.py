"""The shapes that scenes are drawn from, in hundredths of their own boxes, and the palette."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

DATA = files("evaluators.suites.liva") / "data"
Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]
PALETTE: Mapping[str, Colour] = {
    "black": (52, 54, 60),
    "blue": (58, 110, 196),
    "brown": (134, 92, 60),
    "clear": (190, 220, 232),
    "cork": (198, 152, 104),
    "gold": (214, 170, 60),
    "green": (72, 152, 88),
    "grey": (140, 146, 154),
    "leaf": (88, 150, 76),
    "orange": (228, 130, 52),
    "pink": (236, 150, 176),
    "purple": (142, 98, 186),
    "red": (204, 64, 60),
    "soil": (92, 66, 48),
    "steel": (172, 180, 190),
    "water": (132, 186, 222),
    "white": (244, 244, 240),
    "wood": (206, 164, 112),
    "yellow": (240, 202, 76),
}


@dataclass(frozen=True, slots=True)
class ShapePen:
    """Draws on a canvas that is a few times larger than the picture, so that edges are smooth."""

    draw: ImageDraw
    scale: float
    """Canvas pixels a pixel of the picture."""

    def shape(self, name: str, colour: str, box: Box, stroke: float = 1.0) -> None:
        """Draw a shape in its main colour into a box of the picture; `stroke` widens its lines."""
        for part in shapes()[name]["parts"]:
            kind, *numbers, fill = part.split()
            values = [float(number) for number in numbers]
            self._part(kind, values, box, named_colour(fill, PALETTE[colour]), stroke)

    def _part(self, kind: str, values: list[float], box: Box, fill: Colour, stroke: float) -> None:
        edge, outline = shade(fill, 0.72), round(self.scale)
        if kind in ("line", "ring"):
            width, *values = values
            thick = round(width * stroke * self.scale)
        points = self._points(values, box)
        match kind:
            case "box":
                self.draw.rectangle(points, fill=fill, outline=edge, width=outline)
            case "oval":
                self.draw.ellipse(points, fill=fill, outline=edge, width=outline)
            case "chord":
                self.draw.chord(points, 0, 180, fill=fill, outline=edge, width=outline)
            case "poly":
                self.draw.polygon(points, fill=fill, outline=edge, width=outline)
            case "ring":
                self.draw.ellipse(points, outline=fill, width=thick)
            case "line":
                self.draw.line(points, fill=fill, width=thick)
            case _:
                raise ValueError(
                    f"The painter knows no part {kind!r}. Use box, oval, chord, poly, ring or line."
                )

    def _points(self, values: list[float], box: Box) -> list[tuple[float, float]]:
        x0, y0, x1, y1 = box
        pairs = zip(values[::2], values[1::2], strict=True)
        return [
            ((x0 + (x1 - x0) * x / 100) * self.scale, (y0 + (y1 - y0) * y / 100) * self.scale)
            for x, y in pairs
        ]


@cache
def shapes() -> dict[str, dict[str, list[str]]]:
    """All shapes the painter knows."""
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (DATA / "shapes.yaml").read_text("utf-8")
    )
    return loaded


def named_colour(name: str, main: Colour) -> Colour:
    """A colour of the palette, or a thing's own: main, dark or light."""
    shades = {"main": main, "dark": shade(main, 0.78), "light": shade(main, 1.18)}
    return shades.get(name) or PALETTE[name]


def shade(colour: Colour, by: float) -> Colour:
    """A colour made darker or lighter."""
    red, green, blue = (min(255, round(part * by)) for part in colour)
    return red, green, blue
