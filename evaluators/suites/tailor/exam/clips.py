"""Drawn clips of the exam: a ball falls, a glass is filled, a loaf is cut, a car drives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.tailor.exam.design import Facts, Family, ask
from evaluators.suites.tailor.exam.drawing import (
    BLUE,
    GREEN,
    GROUND,
    ORANGE,
    PURPLE,
    RED,
    WATER,
    WHITE,
    YELLOW,
    Drawing,
    room,
    screen,
)
from evaluators.suites.tailor.exam.objects import (
    ball,
    candle,
    car,
    crate,
    glass,
    jug,
    knife,
    loaf,
    shelf,
)

FRAMES = 16
HIDES = "A grey folding screen may stand in front of one half of the scene."


def falling(facts: Facts, random: np.random.Generator) -> Pixels:
    """Left, a ball that falls from a shelf or stays; right, a box whose lid goes up or down."""
    colour, lid = (ORANGE if facts.second else PURPLE), facts.fourth

    def draw(drawing: Drawing, time: float) -> None:
        shelf(drawing, 96, 110)
        drop = min(1.0, max(0.0, (time - 0.2) / 0.4)) if facts.first else 0.0
        tint = RED if facts.third or time < 0.5 else BLUE
        ball(drawing, 84 + 70 * min(1.0, drop * 2), 88 + (GROUND - 80) * drop**2, tint)
        crate(drawing, 330, GROUND + 24, colour, 110 * (time if lid else 1 - time))

    return _film(facts, random, draw)


def pouring(facts: Facts, random: np.random.Generator) -> Pixels:
    """Left, a glass that is filled or not and stands or tips over; right, a candle."""
    colour = RED if facts.fourth else GREEN

    def draw(drawing: Drawing, time: float) -> None:
        level = 0.85 * min(1.0, time / 0.6) if facts.first else 0.0
        tilt = 0.0 if facts.third else 90 * min(1.0, max(0.0, (time - 0.7) / 0.2))
        spout = jug(drawing, 72, 84, 62 if facts.first and time < 0.65 else 0)
        if facts.first and 0 < time < 0.65:
            drawing.line([spout, (spout[0] + 6, GROUND)], 7, WATER)
        glass(drawing, 136, GROUND + 24, level, tilt)
        burning = facts.second or time < 0.5
        candle(drawing, 340, GROUND + 30, colour, 1 + 0.1 * np.sin(20 * time) if burning else 0.0)

    return _film(facts, random, draw)


def cutting(facts: Facts, random: np.random.Generator) -> Pixels:
    """Left, a knife that comes down on a loaf; right, a car that drives one way or the other."""
    colour = YELLOW if facts.fourth else BLUE

    def draw(drawing: Drawing, time: float) -> None:
        down = min(1.0, time / 0.5) if time < 0.6 else max(0.0, 1 - (time - 0.6) / 0.3)
        gap = 44.0 if facts.first and time > 0.5 else 0.0
        loaf(drawing, 112, GROUND + 28, gap)
        knife(drawing, 112, 138 + 100 * down, "handle" if facts.third else "blade")
        travel = time if facts.second else 1 - time
        drawing.box(228, GROUND + 30, 446, GROUND + 44, WHITE)
        car(drawing, 280 + 104 * travel, GROUND + 34, colour)

    return _film(facts, random, draw)


def _film(
    facts: Facts, random: np.random.Generator, draw: Callable[[Drawing, float], None]
) -> Pixels:
    """Frames of one scene: the same room, and whatever moves at its time from 0 to 1."""
    look = int(random.integers(1 << 30))
    frames = []
    for number in range(FRAMES):
        drawing = room(np.random.default_rng(look))
        draw(drawing, number / (FRAMES - 1))
        if facts.left_hidden:
            screen(drawing, 6, 222)
        if facts.right_hidden:
            screen(drawing, 226, 442)
        frames.append(drawing.pixels())
    return np.stack(frames)


CLIPS = (
    Family(
        "falling",
        "video",
        "A ball is on a shelf on the left, and a box with a lid stands on the right. After a while "
        f"things move. Show what happens to both. {HIDES}",
        (
            ask("motion", "Does the ball fall down from the shelf?"),
            ask("attribute", "Is the box orange?"),
            ask("motion", "Does the ball keep the same colour throughout the clip?", 2),
            ask("state_change", "Is the lid of the box open at the end?"),
        ),
        falling,
    ),
    Family(
        "pouring",
        "video",
        "On the left somebody sets about filling a glass from a jug, on the right stands a candle. "
        f"Show everything from start to end. {HIDES}",
        (
            ask("state_change", "Is there juice in the glass at the end?"),
            ask("state_change", "Does the candle still burn at the end?", 2),
            ask("motion", "Does the glass stay upright throughout the clip?"),
            ask("attribute", "Is the candle red?"),
        ),
        pouring,
    ),
    Family(
        "cutting",
        "video",
        "On the left a hand takes a large knife to a loaf of bread, on the right a toy car drives "
        f"over the table. Film both to the end. {HIDES}",
        (
            ask("state_change", "Is the loaf in two pieces at the end?"),
            ask("motion", "Does the car move from left to right?"),
            ask("affordance", "Is the knife held by its handle?"),
            ask("attribute", "Is the car yellow?"),
        ),
        cutting,
    ),
)
