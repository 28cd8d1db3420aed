"""The things that the exam's scenes are made of, each drawn where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evaluators.suites.tailor.exam.drawing import (
    BLACK,
    BROWN,
    GREEN,
    ORANGE,
    RED,
    SKIN,
    STEEL,
    WATER,
    WHITE,
    WOOD,
    YELLOW,
    Colour,
    Drawing,
    Point,
    shade,
    turn,
)

CRUST = (206, 142, 72)
Grip = Literal["handle", "blade"]


def rope(drawing: Drawing, x: float, y: float, colour: Colour, *, cut: bool) -> None:
    """A thick rope lying across a board, in one piece or in two with a wide gap."""
    drawing.box(x - 92, y - 30, x + 92, y + 34, (236, 222, 196))
    pieces = [(x - 78, x - 22), (x + 22, x + 78)] if cut else [(x - 78, x + 78)]
    for left, right in pieces:
        drawing.line([(left, y), (right, y)], 15, shade(colour, 0.65))
        drawing.line([(left, y), (right, y)], 12, colour)
        for start in range(int(left), int(right) - 3, 9):
            drawing.line([(start, y + 5), (start + 5, y - 5)], 2, shade(colour, 0.7))


def scissors(drawing: Drawing, x: float, y: float, handle: Colour) -> None:
    """Open scissors, points up."""
    for side in (-1, 1):
        blade = [(x - 4 * side, y + 4), (x + 4 * side, y - 2), (x + 20 * side, y - 66)]
        drawing.poly(blade, (196, 202, 210))
        drawing.line([(x, y), (x - 14 * side, y + 24)], 7, handle)
        drawing.ring(x - 18 * side, y + 38, 17, 7, handle)
    drawing.oval(x - 4, y - 4, x + 4, y + 4, BLACK)


def hammer(drawing: Drawing, x: float, y: float, handle: Colour) -> None:
    """A hammer, head up."""
    drawing.box(x - 6, y - 40, x + 6, y + 56, handle)
    drawing.poly(
        [(x - 32, y - 62), (x + 22, y - 62), (x + 36, y - 50), (x + 22, y - 40), (x - 32, y - 40)],
        STEEL,
    )


def glass(drawing: Drawing, x: float, bottom: float, level: float, tilt: float = 0.0) -> None:
    """A tall glass with juice up to a part of its height, tipped to the left by an angle."""

    def turned(points: Sequence[Point]) -> list[Point]:
        return turn(points, (x - 24, bottom), -tilt)

    rim = [(x - 32, bottom - 100), (x + 32, bottom - 100)]
    drawing.poly(turned([*rim, (x + 24, bottom), (x - 24, bottom)]), (232, 244, 250))
    if level > 0:
        half = 23 + 8 * level
        top = bottom - 4 - 90 * level
        drawing.poly(
            turned([(x - half, top), (x + half, top), (x + 22, bottom - 4), (x - 22, bottom - 4)]),
            WATER,
        )
    drawing.line(turned(rim), 3, (150, 180, 196))


def jar(drawing: Drawing, x: float, bottom: float, colour: Colour, label: str) -> None:
    """A storage jar with a lid and a label."""
    drawing.box(x - 46, bottom - 104, x + 46, bottom, colour)
    drawing.box(x - 40, bottom - 122, x + 40, bottom - 102, shade(colour, 0.6))
    drawing.box(x - 38, bottom - 80, x + 38, bottom - 36, WHITE)
    drawing.words(x, bottom - 58, label, 24)


def tree(drawing: Drawing, x: float, bottom: float, apples: int) -> None:
    """A tree with so many large red apples."""
    drawing.box(x - 12, bottom - 90, x + 12, bottom, BROWN)
    for dx, dy, radius in ((-38, -120, 44), (38, -120, 44), (0, -158, 48), (0, -112, 46)):
        drawing.blot(x + dx, bottom + dy, radius, radius, (58, 134, 66))
    places = ((-48, -134), (46, -134), (0, -172), (-2, -122), (34, -92))
    for dx, dy in places[:apples]:
        drawing.oval(x + dx - 12, bottom + dy - 12, x + dx + 12, bottom + dy + 12, RED)
        drawing.line([(x + dx, bottom + dy - 12), (x + dx + 3, bottom + dy - 18)], 3, BROWN)


def ladder(drawing: Drawing, x: float, bottom: float) -> None:
    """A ladder that leans to the right."""
    foot, top = (x, bottom), (x + 52, bottom - 104)
    for dx in (0, 24):
        drawing.line([(foot[0] + dx, foot[1]), (top[0] + dx, top[1])], 6, YELLOW)
    for rung in range(1, 6):
        share = rung / 6
        left = foot[0] + (top[0] - foot[0]) * share
        height = foot[1] + (top[1] - foot[1]) * share
        drawing.line([(left, height), (left + 24, height)], 5, YELLOW)


def person(drawing: Drawing, x: float, bottom: float, shirt: Colour) -> Point:
    """A standing figure with an arm stretched to the left; gives the place of its hand."""
    hand = (x - 52, bottom - 96)
    for dx in (-11, 11):
        drawing.line([(x + dx, bottom - 62), (x + dx, bottom - 5)], 15, (60, 64, 84))
        drawing.oval(x + dx - 14, bottom - 8, x + dx + 9, bottom + 3, BLACK)
    drawing.line([(x + 20, bottom - 118), (x + 32, bottom - 72)], 12, shade(shirt, 0.85))
    drawing.oval(x + 25, bottom - 74, x + 39, bottom - 60, SKIN)
    drawing.box(x - 25, bottom - 126, x + 25, bottom - 56, shirt)
    drawing.line([(x - 18, bottom - 116), hand], 12, shade(shirt, 0.85))
    drawing.oval(x - 19, bottom - 170, x + 19, bottom - 126, SKIN)
    drawing.dome(x, bottom - 154, 20, 20, BROWN)
    for dx in (-8, 6):
        drawing.oval(x + dx - 2, bottom - 152, x + dx + 3, bottom - 147, BLACK)
    return hand


def fist(drawing: Drawing, x: float, y: float) -> None:
    """A closed hand."""
    drawing.oval(x - 10, y - 9, x + 10, y + 9, SKIN)


def umbrella(drawing: Drawing, hand: Point) -> None:
    """An open umbrella over a hand."""
    x, y = hand
    drawing.line([(x, y + 16), (x, y - 84)], 4, BLACK)
    drawing.dome(x, y - 60, 56, 48, (110, 60, 150))
    for dx in (-37, 0, 37):
        drawing.dome(x + dx, y - 59, 19, 9, (150, 100, 190))
    drawing.line([(x, y - 108), (x, y - 116)], 4, BLACK)
    fist(drawing, x, y)


def broom(drawing: Drawing, hand: Point) -> None:
    """A broom that stands on the ground beside a hand."""
    x, y = hand
    drawing.line([(x, y - 64), (x, y + 66)], 6, WOOD)
    drawing.poly([(x - 12, y + 62), (x + 12, y + 62), (x + 26, y + 98), (x - 26, y + 98)], YELLOW)
    for dx in (-14, -5, 5, 14):
        drawing.line([(x + dx * 0.6, y + 68), (x + dx, y + 96)], 2, BROWN)
    drawing.box(x - 13, y + 54, x + 13, y + 64, RED)
    fist(drawing, x, y)


def ball(drawing: Drawing, x: float, y: float, colour: Colour, radius: float = 22) -> None:
    """A ball with a light spot."""
    drawing.oval(x - radius, y - radius, x + radius, y + radius, colour)
    drawing.blot(x - radius * 0.3, y - radius * 0.4, radius * 0.2, radius * 0.2, shade(colour, 1.5))


def shelf(drawing: Drawing, x: float, y: float) -> None:
    """A board on the wall with two brackets."""
    drawing.box(x - 62, y, x + 34, y + 10, WOOD)
    for dx in (-50, 16):
        drawing.line([(x + dx, y + 10), (x + dx, y + 28)], 5, BROWN)


def crate(drawing: Drawing, x: float, bottom: float, colour: Colour, lid: float) -> None:
    """A box whose lid stands at an angle: 0 is shut, 110 is wide open."""
    hinge = (x + 58, bottom - 72)
    drawing.box(x - 58, bottom - 72, x + 58, bottom, colour)
    if lid > 20:
        drawing.box(x - 52, bottom - 72, x + 52, bottom - 58, shade(colour, 0.35))
    plank = turn(
        [
            (x - 62, bottom - 84),
            (x + 60, bottom - 84),
            (x + 60, bottom - 72),
            (x - 62, bottom - 72),
        ],
        hinge,
        lid,
    )
    drawing.poly(plank, shade(colour, 0.75))
    drawing.box(x - 10, bottom - 46, x + 10, bottom - 30, YELLOW)


def jug(drawing: Drawing, x: float, y: float, tilt: float) -> Point:
    """A jug with its spout to the right, tilted around its middle; gives the place of the spout."""
    centre = (x, y)
    handle = [(x - 24, y - 24), (x - 48, y - 16), (x - 46, y + 16), (x - 24, y + 22)]
    drawing.line(turn(handle, centre, tilt), 8, (90, 140, 190))
    body = [
        (x - 26, y - 36),
        (x + 26, y - 36),
        (x + 42, y - 44),
        (x + 30, y - 18),
        (x + 32, y + 40),
        (x - 32, y + 40),
    ]
    drawing.poly(turn(body, centre, tilt), (120, 170, 214))
    return turn([(x + 42, y - 44)], centre, tilt)[0]


def candle(drawing: Drawing, x: float, bottom: float, colour: Colour, flame: float) -> None:
    """A thick candle on a plate, with a flame of a height; at 0 it does not burn."""
    drawing.oval(x - 46, bottom - 10, x + 46, bottom + 8, STEEL)
    drawing.box(x - 22, bottom - 96, x + 22, bottom - 2, colour)
    drawing.line([(x, bottom - 96), (x, bottom - 106)], 3, BLACK)
    if flame > 0:
        top = bottom - 106 - 42 * flame
        drawing.poly(
            [(x - 13, bottom - 110), (x, top), (x + 13, bottom - 110), (x, bottom - 100)], ORANGE
        )
        drawing.poly([(x - 6, bottom - 108), (x, top + 18), (x + 6, bottom - 108)], YELLOW)


def loaf(drawing: Drawing, x: float, bottom: float, gap: float, *, board: bool = True) -> None:
    """A loaf of bread on a white board, whole or with its halves so far apart."""
    if board:
        drawing.box(x - 104, bottom - 68, x + 104, bottom + 12, (246, 240, 226))
    halves = (
        [(x - 58 - gap / 2, x - gap / 2), (x + gap / 2, x + 58 + gap / 2)]
        if gap
        else [(x - 58, x + 58)]
    )
    for left, right in halves:
        drawing.rounded(left, bottom - 54, right, bottom - 4, 14, CRUST)
        for notch in range(int(left) + 18, int(right) - 12, 28):
            drawing.line(
                [(notch - 5, bottom - 48), (notch + 7, bottom - 34)], 3, shade(CRUST, 0.75)
            )
    if gap:
        for side in (-1, 1):
            drawing.box(
                x + side * gap / 2 - 4,
                bottom - 52,
                x + side * gap / 2 + 4,
                bottom - 6,
                (250, 226, 176),
            )


def knife(drawing: Drawing, x: float, edge: float, grip: Grip) -> None:
    """A large knife, its edge down, with a hand on the handle or on the blade."""
    drawing.poly(
        [(x - 78, edge - 22), (x + 26, edge - 26), (x + 26, edge), (x - 60, edge)], (206, 212, 220)
    )
    drawing.box(x + 26, edge - 26, x + 82, edge - 10, BLACK)
    hand = (x + 54, edge - 18) if grip == "handle" else (x - 32, edge - 14)
    drawing.line([hand, (hand[0] + 34, hand[1] - 90)], 18, GREEN)
    drawing.oval(hand[0] - 15, hand[1] - 14, hand[0] + 15, hand[1] + 14, SKIN)
    for dx in (-7, 0, 7):
        drawing.line(
            [(hand[0] + dx, hand[1] + 2), (hand[0] + dx, hand[1] + 11)], 2, shade(SKIN, 0.75)
        )


def car(drawing: Drawing, x: float, bottom: float, colour: Colour, *, turned: bool = False) -> None:
    """A small car that drives to the right; turned, it lies on its roof."""

    def place(points: Sequence[Point]) -> list[Point]:
        return [(px, 2 * (bottom - 26) - py) for px, py in points] if turned else list(points)

    body = [(-50, 14), (-50, 34), (50, 30), (50, 14)]
    roof = [(-30, 34), (-18, 58), (18, 58), (32, 32)]
    window = [(-18, 37), (-12, 52), (14, 52), (22, 36)]
    for outline, fill in ((roof, colour), (window, (206, 230, 244)), (body, colour)):
        drawing.poly(place([(x + dx, bottom - dy) for dx, dy in outline]), fill)
    for dx in (-28, 28):
        ((wx, wy),) = place([(x + dx, bottom - 12)])
        drawing.oval(wx - 12, wy - 12, wx + 12, wy + 12, BLACK)
        drawing.oval(wx - 5, wy - 5, wx + 5, wy + 5, STEEL)
    ((lx, ly),) = place([(x + 47, bottom - 24)])
    drawing.oval(lx - 4, ly - 4, lx + 4, ly + 4, YELLOW)
