"""The scene painter: draws a first frame with a person at a table and clearly labelled things,
always the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

DATA = files("evaluators.suites.liva") / "data"
WIDTH, HEIGHT = 832, 480
SCALE = 2
"""Drawn twice as large and reduced, so that edges are smooth."""

TABLE_EDGE, TABLE_BASE, WALL_BASE = 296, 424, 178
PERSON = (366, 466)
"""The columns that the person takes, which stay free on the wall."""

LABEL_SIZE = 13
Colour = tuple[int, int, int]
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
    "steel": (172, 180, 190),
    "white": (244, 244, 240),
    "wood": (206, 164, 112),
    "yellow": (240, 202, 76),
}
ROOMS: Mapping[str, tuple[Colour, Colour, Colour]] = {
    "kitchen": ((226, 236, 232), (188, 150, 108), (90, 120, 170)),
    "workshop": ((214, 206, 192), (160, 124, 84), (110, 90, 74)),
    "garden": ((190, 222, 240), (150, 118, 82), (86, 132, 80)),
    "office": ((236, 230, 220), (120, 96, 78), (70, 84, 110)),
    "laundry": ((222, 228, 240), (214, 214, 210), (150, 90, 120)),
}
"""Wall, table and the person's jumper in each scene family."""


@dataclass(frozen=True, slots=True)
class PaintedObject:
    """A thing in a picture: its id, its shape and colour, and the box it takes in pixels."""

    id: str
    shape: str
    colour: str
    box: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class PaintedScene:
    """What stands where: ids with shape and colour, on the table and on the wall, from left to
    right."""

    scenario: str
    table: Mapping[str, str]
    wall: Mapping[str, str]


def scene(case_id: str) -> PaintedScene:
    """The scene of one of our own cases."""
    objects_by_place = _scenes()[case_id]
    return PaintedScene(
        case_id.partition("_case")[0], objects_by_place["table"], objects_by_place.get("wall", {})
    )


def layout(scene: PaintedScene) -> tuple[PaintedObject, ...]:
    """Where each thing stands: in even columns on the table, left and right of the person on the
    wall."""
    return (
        *_row(scene.table, TABLE_BASE, [(0, WIDTH)]),
        *_row(scene.wall, WALL_BASE, _wall_spans(len(scene.wall))),
    )


def paint(scene: PaintedScene) -> Image:
    """The picture of a scene."""
    from PIL import Image, ImageDraw

    canvas = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE))
    draw = ImageDraw.Draw(canvas)
    _room(draw, scene.scenario)
    for painted in layout(scene):
        draw_object(draw, painted)
        _label(draw, painted)
    small = canvas.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    return small.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def draw_object(draw: ImageDraw, painted: PaintedObject) -> None:
    """Draw a thing into its box, with a shadow if it stands on the table."""
    x0, _, x1, y1 = painted.box
    if y1 == TABLE_BASE:
        draw.ellipse(_up(x0 - 4, y1 - 6, x1 + 4, y1 + 6), fill=(96, 84, 74))
    for part in shapes()[painted.shape]["parts"]:
        kind, *numbers, colour = part.split()
        values = [float(number) for number in numbers]
        _part(draw, kind, values, painted, _colour(colour, PALETTE[painted.colour]))


@cache
def shapes() -> dict[str, dict[str, list[str]]]:
    """All shapes the painter knows."""
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(
        (DATA / "shapes.yaml").read_text("utf-8")
    )
    return loaded


@cache
def _scenes() -> dict[str, dict[str, dict[str, str]]]:
    loaded: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(
        (DATA / "scenes.yaml").read_text("utf-8")
    )
    return loaded


def _wall_spans(count: int) -> list[tuple[int, int]]:
    """One thing hangs on the right; more are spread over both sides of the person."""
    left, right = (40, PERSON[0] - 20), (PERSON[1] + 20, WIDTH - 40)
    return [right] if count < 2 else [left, right]


def _row(
    looks_by_name: Mapping[str, str], base: int, spans: list[tuple[int, int]]
) -> Iterator[PaintedObject]:
    if not looks_by_name:
        return
    per_span = -(-len(looks_by_name) // len(spans))
    for number, (name, look) in enumerate(looks_by_name.items()):
        start, end = spans[number // per_span]
        middle = start + (end - start) * (2 * (number % per_span) + 1) // (2 * per_span)
        shape, colour = look.split()
        width, height = (int(side) for side in shapes()[shape]["size"])
        yield PaintedObject(
            name,
            shape,
            colour,
            (middle - width // 2, base - height, middle + width - width // 2, base),
        )


def _room(draw: ImageDraw, scenario: str) -> None:
    wall, table, jumper = ROOMS[scenario]
    draw.rectangle(_up(0, 0, WIDTH, HEIGHT), fill=wall)
    draw.rectangle(_up(0, 186, WIDTH, 190), fill=_shade(wall, 0.9))
    _person(draw, jumper)
    draw.rectangle(_up(0, TABLE_EDGE, WIDTH, HEIGHT), fill=table)
    draw.rectangle(_up(0, TABLE_EDGE, WIDTH, TABLE_EDGE + 6), fill=_shade(table, 0.82))
    for left in (PERSON[0] - 34, PERSON[1] + 6):
        draw.rounded_rectangle(
            _up(left, TABLE_EDGE - 12, left + 30, TABLE_EDGE + 16), 14 * SCALE, fill=(226, 182, 150)
        )


def _person(draw: ImageDraw, jumper: Colour) -> None:
    """A plain figure facing us: head, jumper, both arms resting on the table's edge."""
    left, right = PERSON
    skin = (226, 182, 150)
    draw.rounded_rectangle(_up(left - 4, 158, right + 4, TABLE_EDGE + 8), 34 * SCALE, fill=jumper)
    for side in (left - 30, right + 8):
        draw.rounded_rectangle(
            _up(side, 190, side + 24, TABLE_EDGE), 12 * SCALE, fill=_shade(jumper, 0.88)
        )
    draw.rectangle(_up(402, 130, 430, 166), fill=_shade(skin, 0.92))
    draw.ellipse(_up(378, 48, 454, 144), fill=skin)
    draw.pieslice(_up(374, 40, 458, 128), 180, 360, fill=(84, 60, 46))
    for eye in (398, 428):
        draw.ellipse(_up(eye, 94, eye + 7, 102), fill=(50, 50, 56))
    draw.arc(_up(402, 106, 430, 126), 20, 160, fill=(150, 84, 78), width=3 * SCALE)


def _part(
    draw: ImageDraw, kind: str, values: list[float], painted: PaintedObject, fill: Colour
) -> None:
    edge = _shade(fill, 0.72)
    if kind in ("line", "ring"):
        width, *values = values
        stroke = round(width * SCALE)
    points = _points(values, painted.box)
    match kind:
        case "box":
            draw.rectangle(points, fill=fill, outline=edge, width=SCALE)
        case "oval":
            draw.ellipse(points, fill=fill, outline=edge, width=SCALE)
        case "chord":
            draw.chord(points, 0, 180, fill=fill, outline=edge, width=SCALE)
        case "poly":
            draw.polygon(points, fill=fill, outline=edge, width=SCALE)
        case "ring":
            draw.ellipse(points, outline=fill, width=stroke)
        case "line":
            draw.line(points, fill=fill, width=stroke)
        case _:
            raise ValueError(
                f"The painter knows no part {kind!r}. Use box, oval, chord, poly, ring or line."
            )


def _points(values: list[float], box: tuple[int, int, int, int]) -> list[tuple[float, float]]:
    x0, y0, x1, y1 = box
    pairs = zip(values[::2], values[1::2], strict=True)
    return [
        ((x0 + (x1 - x0) * x / 100) * SCALE, (y0 + (y1 - y0) * y / 100) * SCALE) for x, y in pairs
    ]


def _label(draw: ImageDraw, painted: PaintedObject) -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(LABEL_SIZE * SCALE)
    text = painted.id.replace("_", " ")
    middle, top = (painted.box[0] + painted.box[2]) / 2 * SCALE, (painted.box[3] + 12) * SCALE
    width = draw.textlength(text, font=font) / 2 + 4 * SCALE
    place = (middle - width, top - 2 * SCALE, middle + width, top + (LABEL_SIZE + 5) * SCALE)
    draw.rounded_rectangle(place, 4 * SCALE, fill=(255, 255, 252))
    draw.text((middle, top), text, font=font, fill=(40, 42, 48), anchor="ma")


def _colour(name: str, main: Colour) -> Colour:
    shades = {"main": main, "dark": _shade(main, 0.78), "light": _shade(main, 1.18)}
    return shades.get(name) or PALETTE[name]


def _shade(colour: Colour, by: float) -> Colour:
    red, green, blue = (min(255, round(part * by)) for part in colour)
    return red, green, blue


def _up(*values: int) -> list[int]:
    return [value * SCALE for value in values]
