"""Photographs of the exam: two of five lie side by side, one perhaps upside down, grey or covered.

Licences, as scikit-image 0.26 documents them, in whose wheel the files come: the cat (Stefan van
der Walt), the cup of coffee (Rachel Michetti) and the photographer (Lav Varshney) are CC0; the
astronaut (NASA) and the rocket (SpaceX) are in the public domain. Each is cut to a square and
reduced to 192 pixels.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.tailor.exam.design import Facts, Family, ask
from evaluators.suites.tailor.exam.drawing import TABLES, WHITE, Drawing, pick, sheet

if TYPE_CHECKING:
    from PIL.Image import Image

DATA = files(__package__) / "data"
SIDE = 192
TOP = 72
PEOPLE = ("astronaut", "photographer")
OTHERS = ("cat", "rocket")
"""What can be upside down beyond doubt."""


def desk(facts: Facts, random: np.random.Generator) -> Pixels:
    """Two photographs on a desk."""
    drawing = sheet(pick(random, TABLES))
    left = _photograph(str(random.choice(PEOPLE if facts.first else OTHERS)))
    right = _photograph(
        "coffee" if facts.second else str(random.choice(("cat", "rocket", "astronaut")))
    )
    _lay(drawing, left.rotate(180) if facts.third else left, 20, hidden=facts.left_hidden)
    _lay(
        drawing,
        right if facts.fourth else right.convert("L").convert("RGB"),
        236,
        hidden=facts.right_hidden,
    )
    return drawing.pixels()[None]


def _lay(drawing: Drawing, photograph: Image, left: int, *, hidden: bool) -> None:
    drawing.box(left - 6, TOP - 6, left + SIDE + 6, TOP + SIDE + 6, WHITE)
    drawing.paste(photograph, left, TOP)
    if hidden:
        drawing.box(left - 12, TOP - 16, left + SIDE + 12, TOP + SIDE + 16, (252, 250, 240))
        fold, edge = left + SIDE - 16, left + SIDE + 12
        drawing.poly([(fold, TOP - 16), (edge, TOP + 12), (fold, TOP + 12)], (222, 218, 204))


@cache
def _photograph(name: str) -> Image:
    from PIL import Image

    with (DATA / f"{name}.png").open("rb") as file, Image.open(file) as image:
        return image.convert("RGB")


PHOTOGRAPHS = Family(
    "photographs",
    "image",
    "Two photographs of the same size lie side by side on a desk, seen from above. A sheet of "
    "plain paper may cover one of them.",
    (
        ask("entity", "Is there a person in the photograph on the left?"),
        ask("entity", "Does the photograph on the right show a cup?", 2),
        ask("scene", "Is the photograph on the left upside down?"),
        ask(
            "attribute", "Is the photograph on the right in colour rather than in black and white?"
        ),
    ),
    desk,
)
