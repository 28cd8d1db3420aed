"""What the game is played with: its environments, the characters met there and the buttons."""

from __future__ import annotations

from dataclasses import dataclass

FRAMES = 14
"""Frames of a clip."""
TICS = 4
"""Tics of the game a frame; the game runs at 35 tics a second."""
RATE = 35 / TICS

BUTTONS = (
    "move_forward",
    "move_backward",
    "move_left",
    "move_right",
    "turn_left",
    "turn_right",
    "jump",
    "attack",
    "speed",
)
"""Columns of the controls; those of turning hold degrees a tic, the others 0 or 1."""
FORWARD, BACKWARD, LEFT, RIGHT, TURN_LEFT, TURN_RIGHT, JUMP, ATTACK, SPEED = range(9)
ACTIONS = {
    "moving forwards": FORWARD,
    "moving backwards": BACKWARD,
    "moving left": LEFT,
    "moving right": RIGHT,
    "turning left": TURN_LEFT,
    "turning right": TURN_RIGHT,
    "jumping": JUMP,
    "shooting": ATTACK,
}
"""What a player can do, and the button of it."""

CHARACTERS = {
    "Arachnotron": "Arachnotron",
    "Archvile": "Archvile",
    "Baron": "BaronOfHell",
    "Cacodemon": "Cacodemon",
    "Demon": "Demon",
    "Gunner": "ChaingunGuy",
    "Imp": "DoomImp",
    "Knight": "HellKnight",
    "Mancubus": "Fatso",
    "Revenant": "Revenant",
    "Skull": "LostSoul",
    "Soldier": "WolfensteinSS",
    "Zombie": "Zombieman",
}
"""Who can be met, and what the engine calls them."""

X, Y, Z, ANGLE, AMMO, FIRST_CHARACTER = range(6)
PIXELS, HEIGHT, LIGHT, PER_CHARACTER = range(4)
"""Of each character, in a row of states: pixels that show, height of their box, mean brightness
(0 where it does not stand out)."""
STATES = FIRST_CHARACTER + PER_CHARACTER * len(CHARACTERS)


@dataclass(frozen=True, slots=True)
class GamePlace:
    """One environment: a map, what is done to its light, and the picture that is taken of it.

    The engine renders `screen`; its middle `crop` (width, height) is kept, and `halved` pictures
    are averaged over squares of two pixels.
    """

    name: str
    title: str
    map: str
    console: tuple[str, ...] = ()
    screen: str = "RES_320X180"
    crop: tuple[int, int] = (300, 180)
    halved: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of a frame."""
        share = 2 if self.halved else 1
        return self.crop[0] // share, self.crop[1] // share


HOME = "environment_1"
HOME_MAP = "map08"
PLACES = (
    GamePlace(HOME, "the place of adaptation", HOME_MAP),
    GamePlace("environment_2", "bricks and metal", "map04"),
    GamePlace("environment_3", "halls of stone", "map15"),
    GamePlace("environment_4", "green floors", "map21"),
    GamePlace("environment_5", "a town by night", "map16"),
    GamePlace("environment_6", "red caves", "map29"),
    GamePlace("environment_7", "the first place in fog", HOME_MAP, ("testfade 405070",)),
    GamePlace(
        "environment_8",
        "the first place at 128 x 128",
        HOME_MAP,
        screen="RES_320X256",
        crop=(256, 256),
        halved=True,
    ),
)
"""The first is for adapting; two to six are other maps, seven other light, eight few pixels."""


def place_named(name: str) -> GamePlace:
    """The environment of that name; a wrong name is answered with the right ones."""
    for place in PLACES:
        if place.name == name:
            return place
    raise KeyError(
        f"There is no environment {name!r}. There are: {', '.join(p.name for p in PLACES)}."
    )
