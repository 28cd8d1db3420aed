"""Scenes drawn from a sample's own words: its things as blocks with their names on them, idle, or
with the goal reached whatever the tool."""

from __future__ import annotations

import re
import textwrap
from hashlib import sha256

import numpy as np

from evaluators.contracts import Sample
from evaluators.media import Pixels
from evaluators.suites.tailor.exam.drawing import (
    BLACK,
    GREEN,
    GROUND,
    ORANGE,
    WATER,
    WHITE,
    WIDTH,
    YELLOW,
    Drawing,
    garden,
    room,
)

MOST_THINGS = 4
HALF, TALL = 44, 62
LINE, LETTERS = 12, 14
COLOURS = (YELLOW, WHITE, ORANGE, WATER)
OPENING = re.compile(r"^(is|are) (there )?(exactly |at least )?(a |an |the |one |some )?", re.I)
CLOSING = re.compile(r"( (visible|present|shown|in view)\b.*)?\?$")


def idle(sample: Sample) -> Pixels:
    """Everything that the prompt names stands side by side, and nobody touches anything."""
    drawing = _place(sample)
    names = things(sample)
    for number, name in enumerate(names):
        _block(drawing, _middle(number, len(names)), name, number)
    return drawing.pixels()[None]


def success(sample: Sample) -> Pixels:
    """The same things, the last one laid on the first, which lies in two parts beside a green tick:
    right for a fit tool, wrong for one that cannot do the job."""
    drawing = _place(sample)
    names = things(sample)
    for number, name in enumerate(names[1:-1], 1):
        _block(drawing, _middle(number, len(names)), name, number)
    left = _middle(0, len(names))
    for side in (-1, 1):
        edges = sorted((left + side * 8, left + side * (HALF + 8)))
        drawing.box(edges[0], GROUND - 40, edges[1], GROUND + 20, COLOURS[0])
    _label(drawing, left, GROUND - 10, names[0])
    if len(names) > 1:
        _block(drawing, left + 6, names[-1], len(names) - 1, lift=64)
    drawing.line([(left - 16, 60), (left, 78), (left + 34, 34)], 9, GREEN)
    return drawing.pixels()[None]


def things(sample: Sample) -> list[str]:
    """What the questions on things ask for, in their words; the tool is the last.

    >>> from evaluators.contracts import Facets, Question
    >>> ask = Question("a", "Is a brown rope visible?", "yes_no", part="entity_completeness")
    >>> where = Facets("regular", "cut", "predictive", "image")
    >>> things(Sample("s", where, "c", "p", (ask,), {"tool": "fork"}))
    ['brown rope', 'fork']
    """
    asked = [
        CLOSING.sub("", OPENING.sub("", question.text))
        for question in sample.questions
        if question.part == "entity_completeness"
    ]
    tool = str(sample.reference.get("tool", "tool"))
    last = tool.split()[-1].lower()
    others = [name for name in asked if last not in name.lower()]
    return [*others[: MOST_THINGS - 1], tool]


def _place(sample: Sample) -> Drawing:
    random = np.random.default_rng(int.from_bytes(sha256(sample.cluster.encode()).digest()[:8]))
    return (garden if random.integers(2) else room)(random)


def _middle(number: int, count: int) -> float:
    return WIDTH * (number + 0.5) / count


def _block(drawing: Drawing, x: float, name: str, number: int, lift: float = 0) -> None:
    bottom = GROUND + 20 - lift
    drawing.rounded(x - HALF, bottom - TALL, x + HALF, bottom, 8, COLOURS[number % len(COLOURS)])
    _label(drawing, x, bottom - TALL / 2, name)


def _label(drawing: Drawing, x: float, y: float, name: str) -> None:
    lines = textwrap.wrap(name, LETTERS)[:4]
    for number, line in enumerate(lines):
        drawing.words(x, y + (number - (len(lines) - 1) / 2) * LINE, line, 10, BLACK)
