"""The actions of L-IVA's exam: each in two opposite versions, drawn at a time from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians, sin, tau

from evaluators.suites.liva.exam.stage import TABLE_BASE, Stage, height

BASE = TABLE_BASE
Act = Callable[[Stage, float, bool, float], None]
"""Draws a frame: the stage, the time, whether it is the first version, and where the middle is."""


@dataclass(frozen=True, slots=True)
class StagedAction:
    """Two captions and what is seen when the first or the second is carried out.

    `lit` tells how bright the room is at a time; None is always bright.
    """

    name: str
    captions: tuple[str, str]
    act: Act
    lit: Callable[[float, bool], float] | None = None


def push(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A mug goes to the right or to the left."""
    way = part(time, 0.15, 0.9)
    x = middle - 150 + 300 * (way if first else 1 - way)
    stage.prop("mug", "red", x)
    stage.grip(x - 10, BASE - 60)


def lift(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A bottle goes up or down."""
    way = part(time, 0.2, 0.9)
    base = BASE - 150 * (way if first else 1 - way)
    stage.prop("bottle", "green", middle + 110, base)
    stage.grip(middle + 110, base - 70)


def drop(stage: Stage, time: float, first: bool, middle: float) -> None:
    """An apple goes into a bowl or comes out of it."""
    way = part(time, 0.1, 0.9)
    x, y = carried((middle - 190, BASE), (middle + 70, BASE - 34), way if first else 1 - way, 130)
    stage.prop("apple", "red", x, y)
    stage.prop("bowl", "white", middle + 70)
    stage.grip(x, y - 50)


def choose(stage: Stage, time: float, first: bool, middle: float) -> None:
    """Of two things one is lifted."""
    way, up = part(time, 0.0, 0.4), part(time, 0.45, 0.9)
    places = (middle - 150, middle + 150)
    x = places[0] if first else places[1]
    stage.prop("cup", "blue", places[0], BASE - (140 * up if first else 0))
    stage.prop("lemon", "yellow", places[1], BASE - (0 if first else 140 * up))
    stage.grip(*between((middle, 320), (x, BASE - 50 - 140 * up), way))


def pour(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A jug fills a glass, or is lifted and put down again while the glass stays empty."""
    up = min(part(time, 0.0, 0.25), 1 - part(time, 0.8, 1.0))
    level = part(time, 0.3, 0.75) if first else 0.0
    x, y = middle + 180, BASE - 41 - 140 * up
    if first and 0.3 < time < 0.78:
        stage.line([(middle + 124, y + 6), (middle + 118, BASE - 20)], 8, "orange")
    tumbler(stage, middle + 106, level)
    stage.tilted("jug", "blue", x, y, -48 * up if first else 0)
    stage.grip(x + 36, y)


def lid(stage: Stage, time: float, first: bool, middle: float) -> None:
    """The lid of a box goes up or down."""
    way = part(time, 0.15, 0.85)
    angle = radians(105 * (way if first else 1 - way))
    left, right, top = middle - 70, middle + 70, BASE - 76
    tip = (right - 140 * cos(angle), top - 140 * sin(angle))
    if angle > 0.3:
        stage.box(left + 6, top - 10, right - 6, top + 12, "black")
    stage.box(left, top, right, BASE, "wood")
    stage.line([(right, top), tip], 14, "brown")
    stage.grip(*tip)


def stack(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A red block goes on top of a blue one, or beside it."""
    goal = (middle + 60, BASE - 64) if first else (middle + 190, BASE)
    x, y = carried((middle - 190, BASE), goal, part(time, 0.1, 0.85), 150)
    stage.box(middle + 28, BASE - 64, middle + 92, BASE, "blue")
    stage.box(x - 32, y - 64, x + 32, y, "red")
    stage.grip(x, y - 70)


def tip(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A bottle falls over or is set upright."""
    way = part(time, 0.2, 0.8)
    fallen = way if first else 1 - way
    x, half = middle + 60, height("bottle") / 2
    stage.tilted(
        "bottle", "purple", x + 70 * fallen, BASE - half + (half - 24) * fallen, 90 * fallen
    )
    stage.grip(x - 34 + 110 * fallen, BASE - 96 + 54 * fallen)


def cut(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A knife parts a loaf, or is held over it and the loaf stays whole."""
    down = part(time, 0.1, 0.5) if time < 0.55 else 1 - part(time, 0.6, 0.95)
    gap = 60.0 if first and time > 0.5 else 0.0
    loaf(stage, middle, gap)
    y = BASE - 140 + (118 if first else 24) * down
    stage.prop("knife", "steel", middle + 10, y)
    stage.grip(middle + 54, y - 18)


def lamp(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A lamp goes on or off, and the room with it."""
    on = time > 0.5 if first else time <= 0.5
    x = middle + 150
    if on:
        stage.poly([(x + 8, BASE - 92), (x - 110, BASE), (x + 150, BASE)], "yellow")
    stage.prop("lamp", "green", x)
    near = 1 - abs(2 * part(time, 0.2, 0.8) - 1)
    stage.grip(*between((470, 300), (x - 10, BASE - 20), near))


def wave(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A raised hand waves, or picks up a phone."""
    x = middle + 130
    if first:
        stage.prop("phone", "black", x)
        up = part(time, 0.0, 0.2)
        swing = 40 * sin(2 * tau * time) * up
        stage.grip(*between((488, 292), (560 + swing, 110), up))
    else:
        way, up = part(time, 0.0, 0.35), part(time, 0.4, 0.9)
        stage.prop("phone", "black", x, BASE - 220 * up)
        stage.grip(*between((488, 292), (x, BASE - 40 - 220 * up), way))


def cover(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A cloth goes over a mug until it is hidden, or comes off it."""
    way = part(time, 0.1, 0.9)
    over = way if first else 1 - way
    x, y = carried((middle - 190, BASE - 20), (middle + 60, BASE - 74), over, 70)
    stage.prop("mug", "red", middle + 60)
    drape = 86 * part(over, 0.7, 1.0)
    stage.poly(
        [(x - 62, y), (x + 62, y), (x + 70, y + 26 + drape), (x - 70, y + 26 + drape)], "pink"
    )
    stage.grip(x, y + 4)


def sort(stage: Stage, time: float, first: bool, middle: float) -> None:
    """A ball goes into the basket on the left or into the bucket on the right."""
    goal = (middle - 230 if first else middle + 230, BASE - 40)
    x, y = carried((middle, BASE), goal, part(time, 0.1, 0.9), 150)
    stage.prop("ball", "orange", x, y)
    stage.prop("basket", "wood", middle - 230)
    stage.prop("bucket", "blue", middle + 230)
    if y < BASE - 44:
        stage.prop("ball", "orange", x, y)
    stage.grip(x, y - 44)


def tumbler(stage: Stage, x: float, level: float) -> None:
    """A glass with juice up to a part of its height."""
    stage.poly(
        [(x - 30, BASE - 104), (x + 30, BASE - 104), (x + 24, BASE), (x - 24, BASE)], "white"
    )
    if level > 0:
        top, half = BASE - 6 - 86 * level, 22 + 5 * level
        stage.poly(
            [(x - half, top), (x + half, top), (x + 22, BASE - 6), (x - 22, BASE - 6)], "orange"
        )


def loaf(stage: Stage, x: float, gap: float) -> None:
    """A loaf on a white board, whole or in two."""
    stage.box(x - 130, BASE - 10, x + 130, BASE + 8, "white")
    halves = [(-gap / 2 - 76, -gap / 2), (gap / 2, gap / 2 + 76)] if gap else [(-76.0, 76.0)]
    for left, right in halves:
        stage.rounded(x + left, BASE - 74, x + right, BASE - 10, "cork")
        for notch in range(int(left) + 20, int(right) - 10, 30):
            stage.line([(x + notch - 8, BASE - 64), (x + notch + 8, BASE - 46)], 4, "brown")


def part(time: float, start: float, end: float) -> float:
    """How much of a stretch of time has passed.

    >>> [part(time, 0.25, 0.75) for time in (0.0, 0.5, 1.0)]
    [0.0, 0.5, 1.0]
    """
    return min(1.0, max(0.0, (time - start) / (end - start)))


def between(
    start: tuple[float, float], end: tuple[float, float], way: float
) -> tuple[float, float]:
    """A point on the straight line from one place to another."""
    return start[0] + (end[0] - start[0]) * way, start[1] + (end[1] - start[1]) * way


def carried(
    start: tuple[float, float], end: tuple[float, float], way: float, rise: float
) -> tuple[float, float]:
    """A point on an arch from one place to another."""
    x, y = between(start, end, way)
    return x, y - rise * sin(way * tau / 2)


def _light(time: float, first: bool) -> float:
    return 1.0 if (time > 0.5 if first else time <= 0.5) else 0.45


ACTIONS = (
    StagedAction(
        "push",
        (
            "The person pushes the red mug across the table from the left to the right.",
            "The person pushes the red mug across the table from the right to the left.",
        ),
        push,
    ),
    StagedAction(
        "lift",
        (
            "The person lifts the green bottle from the table up into the air.",
            "The person puts the green bottle down from the air onto the table.",
        ),
        lift,
    ),
    StagedAction(
        "drop",
        (
            "The person puts the red apple from the table into the white bowl.",
            "The person takes the red apple out of the white bowl and puts it on the table.",
        ),
        drop,
    ),
    StagedAction(
        "choose",
        (
            "The person picks up the blue cup, the yellow lemon stays on the table.",
            "The person picks up the yellow lemon, the blue cup stays on the table.",
        ),
        choose,
    ),
    StagedAction(
        "pour",
        (
            "The person pours orange juice from the blue jug until the glass is full.",
            "The person lifts the blue jug and puts it down, the glass stays empty.",
        ),
        pour,
    ),
    StagedAction(
        "lid",
        (
            "The person opens the lid of the closed wooden box.",
            "The person closes the lid of the open wooden box.",
        ),
        lid,
    ),
    StagedAction(
        "stack",
        (
            "The person puts the red block on top of the blue block.",
            "The person puts the red block on the table, to the right of the blue block.",
        ),
        stack,
    ),
    StagedAction(
        "tip",
        (
            "The person tips the standing purple bottle over until it lies on the table.",
            "The person takes the lying purple bottle and sets it upright on the table.",
        ),
        tip,
    ),
    StagedAction(
        "cut",
        (
            "The person cuts the loaf of bread in two with the knife.",
            "The person moves the knife above the loaf of bread, which stays whole.",
        ),
        cut,
    ),
    StagedAction(
        "lamp",
        (
            "The person switches the green lamp on and the dark room becomes bright.",
            "The person switches the green lamp off and the bright room becomes dark.",
        ),
        lamp,
        _light,
    ),
    StagedAction(
        "wave",
        (
            "The person waves with a raised hand and leaves the black phone on the table.",
            "The person picks the black phone up from the table and holds it up.",
        ),
        wave,
    ),
    StagedAction(
        "cover",
        (
            "The person lays the pink cloth over the red mug until it cannot be seen.",
            "The person takes the pink cloth off the red mug, which comes into sight.",
        ),
        cover,
    ),
    StagedAction(
        "sort",
        (
            "The person puts the orange ball into the wooden basket.",
            "The person puts the orange ball into the blue bucket.",
        ),
        sort,
    ),
)
