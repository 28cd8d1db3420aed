"""What is true of a clip, by rule from controls and states: the one action, and the one character
that can be seen."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.doom.places import (
    ACTIONS,
    AMMO,
    ANGLE,
    BACKWARD,
    CHARACTERS,
    FIRST_CHARACTER,
    FORWARD,
    HEIGHT,
    JUMP,
    LEFT,
    LIGHT,
    PER_CHARACTER,
    PIXELS,
    RIGHT,
    TURN_LEFT,
    TURN_RIGHT,
    X,
    Y,
    Z,
)

Rows = NDArray[np.float32]

SEEN_PIXELS, SEEN_HEIGHT, SEEN_LIGHT = 300, 28, 40
"""From here on a character counts as seen; less is too small, or too dark, to tell."""
SEEN_SLIT = 0.12
"""Pixels over the square of the height: below it, something stands before the character."""
SEEN_FRAMES = 9
"""Frames of a clip in which the character must be seen."""
STRAY_PIXELS = 20
"""Pixels of anybody else that spoil a clip."""
MOVED, TURNED, ROSE, STILL, LEVEL = 24.0, 8.0, 16.0, 6.0, 30.0
"""Units that a move must carry, degrees of a turn, units of a jump; what counts as standing; and
how far up or down a move may lead."""
ASTRAY = 0.5
"""How far aside a move may slide, as a share of the way."""
WAYS = {FORWARD: 0.0, BACKWARD: 180.0, LEFT: 90.0, RIGHT: -90.0}


def action_of(controls: Rows, states: Rows) -> str | None:
    """The one action whose button was pressed and that took effect; None if there is none or more
    than one, or if the way was blocked."""
    pressed = [name for name, button in ACTIONS.items() if controls[:, button].max() > 0]
    if len(pressed) != 1:
        return None
    return pressed[0] if _took_effect(ACTIONS[pressed[0]], states) else None


def character_of(states: Rows) -> str | None:
    """The one character that is seen in most frames; None if there is none, or anybody else."""
    seen = [name for name in CHARACTERS if visible_frames(states, name).sum() >= SEEN_FRAMES]
    strays = [
        name
        for name in CHARACTERS
        if name not in seen and _column(states, name, PIXELS).max() >= STRAY_PIXELS
    ]
    return seen[0] if len(seen) == 1 and not strays else None


def visible_frames(states: Rows, character: str) -> NDArray[np.bool_]:
    """In which frames a character is large, bright and free enough to be told."""
    pixels, height, light = (_column(states, character, part) for part in (PIXELS, HEIGHT, LIGHT))
    free = pixels >= SEEN_SLIT * height**2
    return (pixels >= SEEN_PIXELS) & (height >= SEEN_HEIGHT) & (light >= SEEN_LIGHT) & free


def _column(states: Rows, character: str, part: int) -> Rows:
    number = list(CHARACTERS).index(character)
    return states[:, FIRST_CHARACTER + PER_CHARACTER * number + part]


def _took_effect(button: int, states: Rows) -> bool:
    change = states[-1] - states[0]
    way = math.hypot(change[X], change[Y])
    turned = (float(change[ANGLE]) + 180) % 360 - 180
    if button in WAYS:
        return abs(turned) < 1 and abs(change[Z]) < LEVEL and _along(states, WAYS[button])
    if way > STILL:
        return False
    if button in (TURN_LEFT, TURN_RIGHT):
        return turned >= TURNED if button == TURN_LEFT else turned <= -TURNED
    if button == JUMP:
        return bool(states[:, Z].max() - states[0, Z] >= ROSE and abs(change[Z]) < STILL)
    return bool(change[AMMO] < 0)


def _along(states: Rows, way: float) -> bool:
    """Whether the player got ahead in that direction, and not along a wall."""
    across, up = (float(states[-1, axis] - states[0, axis]) for axis in (X, Y))
    heading = math.radians(float(states[0, ANGLE]) + way)
    ahead = across * math.cos(heading) + up * math.sin(heading)
    aside = abs(up * math.cos(heading) - across * math.sin(heading))
    return ahead >= MOVED and aside <= ASTRAY * ahead
