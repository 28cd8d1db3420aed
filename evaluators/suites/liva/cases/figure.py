"""The person in a drawn scene: looks, and a pose in which both hands lie on the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.suites.liva.cases.shapes import PALETTE, Colour, shade

if TYPE_CHECKING:
    from evaluators.suites.liva.cases.canvas import SceneCanvas

Point = tuple[float, float]
SKINS: tuple[Colour, ...] = (
    (244, 208, 180),
    (226, 182, 150),
    (196, 146, 110),
    (150, 104, 76),
    (104, 72, 54),
)
HAIRS: Mapping[str, Colour] = {
    "black": (44, 38, 38),
    "brown": (92, 62, 44),
    "fair": (206, 166, 96),
    "grey": (172, 170, 168),
    "red": (156, 76, 40),
}
POSES: Mapping[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "rest": ((-150, 0.12), (150, 0.12)),
    "forward": ((-96, 0.36), (96, 0.36)),
    "left": ((-290, 0.2), (130, 0.1)),
    "right": ((-130, 0.1), (290, 0.2)),
    "wide": ((-230, 0.3), (230, 0.3)),
    "close": ((-52, 0.2), (58, 0.24)),
}
"""Where the hands lie, the one on the picture's left first: columns from the body, and depth."""

EYE, MOUTH = (50, 46, 48), (150, 84, 78)
HEAD = 152


@dataclass(frozen=True, slots=True)
class DrawnPerson:
    """How a person looks, where it stands (hundredths of the width) and what it does."""

    at: float
    skin: int
    hair: str
    style: str
    top: str
    pose: str
    glasses: bool = False


def draw_body(canvas: SceneCanvas, figure: DrawnPerson, edge: float) -> None:
    """Head and body of a person behind a table whose far edge is at a height."""
    x, skin = canvas.column(figure.at), SKINS[figure.skin]
    top = PALETTE[figure.top]
    if figure.style == "long":
        canvas.rounded(x - 66, HEAD - 50, x + 66, HEAD + 120, 50, HAIRS[figure.hair])
    canvas.rounded(x - 98, 238, x + 98, edge + 40, 60, top)
    canvas.rect(x - 24, HEAD + 50, x + 24, 256, shade(skin, 0.92))
    canvas.oval(x - 34, 236, x + 34, 268, shade(skin, 0.92))
    _head(canvas, figure, x, skin)


def draw_arms(canvas: SceneCanvas, figure: DrawnPerson) -> None:
    """Both arms, from the shoulders to hands that lie on the table."""
    x, skin = canvas.column(figure.at), SKINS[figure.skin]
    sleeve = shade(PALETTE[figure.top], 0.9)
    for side, (offset, depth) in zip((-1, 1), POSES[figure.pose], strict=True):
        shoulder = (x + side * 80, 278.0)
        hand = (x + offset, canvas.row(depth))
        elbow = _elbow(shoulder, hand, side)
        canvas.limb((shoulder, elbow, _between(elbow, hand, 0.72)), 40, sleeve)
        canvas.limb((_between(elbow, hand, 0.68), hand), 26, skin)
        canvas.oval(hand[0] - 24, hand[1] - 16, hand[0] + 24, hand[1] + 18, skin)
        for finger in (-14, -4, 6, 16):
            top = (hand[0] + finger, hand[1] + 4)
            canvas.limb((top, (top[0] + 1, top[1] + 18)), 8, skin)


def hands(figure: DrawnPerson, width: float) -> tuple[float, float]:
    """The columns of both hands in a picture of a width."""
    middle = figure.at * width / 100
    left, right = POSES[figure.pose]
    return middle + left[0], middle + right[0]


def _head(canvas: SceneCanvas, figure: DrawnPerson, x: float, skin: Colour) -> None:
    hair = HAIRS[figure.hair]
    canvas.oval(x - 60, HEAD - 8, x - 44, HEAD + 22, shade(skin, 0.92))
    canvas.oval(x + 44, HEAD - 8, x + 60, HEAD + 22, shade(skin, 0.92))
    if figure.style == "curly":
        for dx, dy in ((-46, -34), (-22, -58), (10, -62), (38, -44), (54, -14), (-56, -8)):
            canvas.oval(x + dx - 28, HEAD + dy - 26, x + dx + 28, HEAD + dy + 26, hair)
    if figure.style == "bun":
        canvas.oval(x - 24, HEAD - 112, x + 24, HEAD - 66, hair)
    canvas.oval(x - 52, HEAD - 66, x + 52, HEAD + 68, skin)
    if figure.style == "beard":
        canvas.half(x - 52, HEAD - 30, x + 52, HEAD + 72, 10, 170, hair)
        canvas.oval(x - 22, HEAD + 22, x + 22, HEAD + 50, skin)
    if figure.style != "bald":
        canvas.half(x - 55, HEAD - 74, x + 55, HEAD + 36, 180, 360, hair)
        canvas.half(x - 46, HEAD - 44, x + 46, HEAD + 24, 180, 360, skin)
    _face(canvas, figure, x)


def _face(canvas: SceneCanvas, figure: DrawnPerson, x: float) -> None:
    for eye in (-22, 22):
        canvas.oval(x + eye - 5, HEAD - 6, x + eye + 5, HEAD + 6, EYE)
        if figure.glasses:
            canvas.circle(x + eye, HEAD, 16, 3, EYE)
    if figure.glasses:
        canvas.limb(((x - 6, HEAD - 2), (x + 6, HEAD - 2)), 3, EYE)
    canvas.limb(((x, HEAD + 6), (x - 5, HEAD + 20), (x + 4, HEAD + 22)), 3, shade(EYE, 2.2))
    canvas.bow(x - 18, HEAD + 22, x + 18, HEAD + 46, MOUTH)


def _elbow(shoulder: Point, hand: Point, side: int) -> Point:
    middle = _between(shoulder, hand, 0.5)
    return middle[0] + side * 34, middle[1] + 12


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
