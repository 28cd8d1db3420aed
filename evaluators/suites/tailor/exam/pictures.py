"""Drawn pictures of the exam: a cut rope, a laid table, a garden."""

from __future__ import annotations

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
    YELLOW,
    Drawing,
    garden,
    room,
    screen,
)
from evaluators.suites.tailor.exam.objects import (
    broom,
    glass,
    hammer,
    jar,
    ladder,
    person,
    rope,
    scissors,
    tree,
    umbrella,
)

HIDES = "A grey folding screen may stand in front of one half of the scene."


def workbench(facts: Facts, random: np.random.Generator) -> Pixels:
    """A rope on a board to the left, a tool to the right."""
    drawing = room(random)
    rope(drawing, 112, GROUND + _shift(random), RED if facts.first else BLUE, cut=facts.third)
    tool = scissors if facts.second else hammer
    tool(drawing, 334 + _shift(random), GROUND, YELLOW if facts.fourth else PURPLE)
    return _finished(drawing, facts)


def table(facts: Facts, random: np.random.Generator) -> Pixels:
    """A glass to the left, on the table or in the air, and a jar to the right."""
    drawing = room(random)
    glass(
        drawing,
        108 + _shift(random),
        GROUND + 20 if facts.third else 168,
        0.85 if facts.first else 0.0,
    )
    jar(
        drawing,
        334 + _shift(random),
        GROUND + 20,
        BLUE if facts.second else ORANGE,
        "SALT" if facts.fourth else "RICE",
    )
    return _finished(drawing, facts)


def orchard(facts: Facts, random: np.random.Generator) -> Pixels:
    """A tree to the left, with or without a ladder; to the right, a person who holds something."""
    drawing = garden(random)
    wrong = int(random.choice([1, 5]))
    tree(drawing, 124, GROUND + 10, 3 if facts.first else wrong)
    if facts.third:
        ladder(drawing, 30, GROUND + 24)
    hand = person(drawing, 352 + _shift(random), GROUND + 24, RED if facts.fourth else GREEN)
    hold = umbrella if facts.second else broom
    hold(drawing, hand)
    return _finished(drawing, facts)


def _shift(random: np.random.Generator) -> float:
    return float(random.integers(-8, 9))


def _finished(drawing: Drawing, facts: Facts) -> Pixels:
    if facts.left_hidden:
        screen(drawing, 6, 222)
    if facts.right_hidden:
        screen(drawing, 226, 442)
    return drawing.pixels()[None]


PICTURES = (
    Family(
        "rope",
        "image",
        "Somebody in a workshop was going to cut a rope that lies on a board on the left of the "
        f"table. Picture the rope and, on the right, the tool as they are at the end. {HIDES}",
        (
            ask("attribute", "Is the rope red?"),
            ask("entity", "Is the tool on the right a pair of scissors?"),
            ask("state_change", "Is the rope in two separate pieces?"),
            ask("attribute", "Is the handle of the tool yellow?", 2),
        ),
        workbench,
    ),
    Family(
        "table",
        "image",
        "A glass on the left and a storage jar on the right, at the end of breakfast in a "
        f"kitchen. {HIDES}",
        (
            ask("state_change", "Is there juice in the glass?"),
            ask("attribute", "Is the jar blue?"),
            ask("scene", "Does the glass stand on the table?"),
            ask("attribute", "Does the label of the jar say SALT?", 2),
        ),
        table,
    ),
    Family(
        "orchard",
        "image",
        "An apple tree on the left of a lawn. On the right stands a person with something in the "
        f"hand that may be of use for picking apples. {HIDES}",
        (
            ask("entity", "Are there exactly three apples on the tree?"),
            ask("affordance", "Is the person holding an umbrella?"),
            ask("scene", "Does a ladder lean against the tree?"),
            ask("attribute", "Is the shirt of the person red?"),
        ),
        orchard,
    ),
)
