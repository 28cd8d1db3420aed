"""The scene painter: draws a first frame with a person at a table and the things of a case, always
the same way, and with no word in the picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from evaluators.suites.liva.cases.canvas import HEIGHT, WIDTH, SceneCanvas, row_of
from evaluators.suites.liva.cases.figure import DrawnPerson, draw_arms, draw_body
from evaluators.suites.liva.cases.rooms import draw_room, draw_table
from evaluators.suites.liva.cases.shapes import DATA, Box, shade, shapes

if TYPE_CHECKING:
    from PIL.Image import Image

FLOOR_BASE = 700
FAR_SIZE, NEAR_SIZE = 1.2, 1.75
"""How much larger than in `shapes.yaml` a thing is drawn at the far edge and in front."""

WALL_SIZE, FLOOR_SIZE = 1.35, 1.9
BARE = ("crumbs", "shelfboard")
"""Shapes without a shadow."""


@dataclass(frozen=True, slots=True)
class PaintedObject:
    """A thing in a picture: its id, its shape and colour, where it is, and its box in pixels."""

    id: str
    shape: str
    colour: str
    place: str
    box: Box
    size: float


@dataclass(frozen=True, slots=True)
class PaintedScene:
    """A room, a person and what stands where."""

    scenario: str
    variant: int
    window: str
    table: tuple[float, float]
    figure: DrawnPerson
    things: Mapping[str, str]


def scene(case_id: str) -> PaintedScene:
    """The scene of one of our own cases."""
    fields = _scenes()[case_id]
    return PaintedScene(
        case_id.partition("_case")[0],
        fields["room"],
        fields.get("window", "none"),
        tuple(fields.get("table", (0, 100))),
        DrawnPerson(**fields["person"]),
        fields["things"],
    )


def layout(scene: PaintedScene) -> tuple[PaintedObject, ...]:
    """Where each thing is: `shape colour column place`, and the place is a depth on the table, a
    height on the wall (`wall 40`), the floor, or on another thing (`on NAME`)."""
    placed: dict[str, PaintedObject] = {}
    for name, words in scene.things.items():
        shape, colour, column, *place = words.split()
        placed[name] = _placed(name, shape, colour, float(column), place, placed)
    return tuple(placed.values())


def paint(scene: PaintedScene) -> Image:
    """The picture of a scene."""
    canvas = SceneCanvas.blank((0, 0, 0))
    draw_room(canvas, scene.scenario, scene.variant, scene.window)
    things = layout(scene)
    for thing in _at(things, "wall"):
        _draw(canvas, thing)
    draw_body(canvas, scene.figure, canvas.row(0))
    draw_table(canvas, scene.scenario, scene.variant, *scene.table)
    draw_arms(canvas, scene.figure)
    for thing in sorted(_at(things, "table", "floor"), key=lambda thing: thing.box[3]):
        _draw(canvas, thing)
    for thing in _at(things, "on"):
        _draw(canvas, thing)
    return canvas.picture()


def _placed(
    name: str,
    shape: str,
    colour: str,
    column: float,
    place: list[str],
    placed: Mapping[str, PaintedObject],
) -> PaintedObject:
    match place:
        case ["floor"]:
            base, size, kind = float(FLOOR_BASE), FLOOR_SIZE, "floor"
        case ["wall", height]:
            base, size, kind = float(height) * HEIGHT / 100, WALL_SIZE, "wall"
        case ["on", other]:
            base, size, kind = placed[other].box[1] + 6, placed[other].size, "on"
        case [depth]:
            base, kind = row_of(float(depth)), "table"
            size = FAR_SIZE + (NEAR_SIZE - FAR_SIZE) * float(depth)
        case _:
            raise ValueError(f"The painter knows no place {' '.join(place)!r} for {name}.")
    across, tall = (float(side) * size for side in shapes()[shape]["size"])
    left = column * WIDTH / 100 - across / 2
    return PaintedObject(name, shape, colour, kind, (left, base - tall, left + across, base), size)


def _at(things: tuple[PaintedObject, ...], *places: str) -> Iterator[PaintedObject]:
    return (thing for thing in things if thing.place in places)


def _draw(canvas: SceneCanvas, thing: PaintedObject) -> None:
    """Draw a thing into its box, with a shadow if it stands on something."""
    x0, _, x1, y1 = thing.box
    if thing.place in ("table", "floor") and thing.shape not in BARE:
        canvas.oval(x0 - 6, y1 - 10, x1 + 10, y1 + 8, shade((120, 104, 90), 0.9))
    canvas.pen.shape(thing.shape, thing.colour, thing.box, thing.size)


@cache
def _scenes() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = yaml.safe_load((DATA / "scenes.yaml").read_text("utf-8"))
    return loaded
