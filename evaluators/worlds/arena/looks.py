"""How the simulated arena looks: its environments, and what its characters wear in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Colour: TypeAlias = tuple[int, int, int]
Shape = Literal["disc", "square", "diamond", "cross", "ring", "triangle"]
Hat = Literal["none", "cone", "horns", "brim"]

COLOURS: dict[str, Colour] = {
    "red": (222, 48, 48),
    "yellow": (240, 214, 40),
    "green": (40, 190, 70),
    "cyan": (60, 214, 224),
    "blue": (56, 74, 230),
    "magenta": (222, 60, 200),
}
HATS: tuple[Hat, ...] = ("none", "cone", "horns", "brim")

CHARACTERS = (
    "Nidhoggr",
    "Makulu",
    "Prism",
    "Niqa",
    "Kulu",
    "Ansel",
    "Nika",
    "Keybladejay",
    "Gizmo",
    "Brusar",
    "Buttercup",
    "Wreiko",
    "Cass",
)


@dataclass(frozen=True, slots=True)
class Skin:
    """What a character wears; a skin is told from another by body, head and hat together."""

    body: str
    head: str
    hat: Hat


@dataclass(frozen=True, slots=True)
class Environment:
    """One place of the arena; the landmark hangs on the wall, the marking lies on the floor."""

    name: str
    title: str
    game: Literal["arena", "practice"]
    wall: Colour
    floor: Colour
    landmark: Colour
    landmark_shape: Shape
    marking: Colour
    marking_shape: Shape
    bands: int = 3
    clutter: int = 3
    hud: Colour = (235, 235, 235)


def _skins(step: int, shift: int) -> dict[str, Skin]:
    """Thirteen skins of which no two are alike, each part of a skin worn by several characters."""
    colours = tuple(COLOURS)
    skins = {}
    for number, name in enumerate(CHARACTERS):
        body = (number * step + shift) % 6
        head = (body + 1 + shift + number // 6 * 2) % 6
        skins[name] = Skin(colours[body], colours[head], HATS[(number + number // 4 + shift) % 4])
    return skins


SKINS: dict[str, dict[str, Skin]] = {"arena": _skins(5, 1), "practice": _skins(1, 0)}
"""By game: a name means another look in the practice rooms than in the arena, so that looks have to
be learned."""

HOME = "environment_1"
"""Where judges are adapted."""

ENVIRONMENTS: tuple[Environment, ...] = (
    Environment(
        "environment_1",
        "Glass Court",
        "arena",
        (38, 62, 74),
        (92, 86, 70),
        (250, 246, 225),
        "ring",
        (236, 148, 52),
        "triangle",
    ),
    Environment(
        "environment_2",
        "Salt Terrace",
        "arena",
        (96, 72, 60),
        (56, 66, 88),
        (220, 240, 250),
        "diamond",
        (30, 26, 30),
        "disc",
    ),
    Environment(
        "environment_3",
        "Moss Yard",
        "arena",
        (44, 66, 40),
        (110, 96, 82),
        (250, 190, 90),
        "square",
        (240, 240, 232),
        "cross",
        clutter=6,
    ),
    Environment(
        "environment_4",
        "Night Dock",
        "arena",
        (24, 24, 44),
        (52, 52, 60),
        (200, 200, 250),
        "cross",
        (226, 170, 66),
        "diamond",
        bands=5,
    ),
    Environment(
        "environment_5",
        "Copper Hall",
        "arena",
        (104, 58, 34),
        (64, 50, 46),
        (244, 232, 170),
        "triangle",
        (210, 240, 236),
        "square",
    ),
    Environment(
        "environment_6",
        "Cloud Deck",
        "arena",
        (120, 132, 150),
        (84, 92, 104),
        (30, 34, 60),
        "disc",
        (250, 250, 250),
        "ring",
        clutter=1,
    ),
    Environment(
        "environment_7",
        "Ember Pit",
        "arena",
        (66, 30, 30),
        (40, 34, 36),
        (255, 206, 150),
        "square",
        (170, 210, 160),
        "disc",
        bands=4,
        clutter=5,
    ),
    Environment(
        "practice_1",
        "Slate Room",
        "practice",
        (60, 66, 84),
        (70, 62, 56),
        (245, 245, 245),
        "disc",
        (24, 24, 26),
        "square",
    ),
    Environment(
        "practice_2",
        "Clay Room",
        "practice",
        (90, 60, 50),
        (86, 92, 96),
        (250, 220, 160),
        "square",
        (245, 245, 240),
        "diamond",
        bands=4,
    ),
    Environment(
        "practice_3",
        "Pine Room",
        "practice",
        (36, 58, 50),
        (74, 70, 50),
        (255, 236, 214),
        "diamond",
        (240, 170, 70),
        "disc",
        clutter=5,
    ),
    Environment(
        "practice_4",
        "Plum Room",
        "practice",
        (62, 42, 70),
        (58, 60, 70),
        (220, 236, 214),
        "cross",
        (250, 246, 220),
        "square",
        bands=2,
    ),
    Environment(
        "practice_5",
        "Sand Room",
        "practice",
        (120, 106, 78),
        (74, 82, 96),
        (30, 30, 40),
        "disc",
        (250, 200, 130),
        "cross",
        clutter=1,
    ),
    Environment(
        "practice_6",
        "Iron Room",
        "practice",
        (44, 46, 50),
        (96, 100, 104),
        (246, 180, 90),
        "square",
        (28, 28, 50),
        "disc",
    ),
    Environment(
        "practice_7",
        "Chalk Room",
        "practice",
        (140, 142, 136),
        (100, 92, 86),
        (40, 28, 28),
        "diamond",
        (245, 245, 250),
        "square",
        bands=5,
    ),
    Environment(
        "practice_8",
        "Dusk Room",
        "practice",
        (40, 36, 62),
        (84, 62, 66),
        (240, 214, 230),
        "cross",
        (236, 236, 190),
        "diamond",
        clutter=4,
    ),
)


def environment_named(name: str) -> Environment:
    """The environment of that name; a wrong name is answered with the right ones."""
    for environment in ENVIRONMENTS:
        if environment.name == name:
            return environment
    raise KeyError(
        f"There is no environment {name!r}. There are: {', '.join(e.name for e in ENVIRONMENTS)}."
    )
