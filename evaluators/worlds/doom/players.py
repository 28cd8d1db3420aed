"""The players whose sessions are recorded: each has habits of its own, drawn out by a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.doom.places import (
    ACTIONS,
    BUTTONS,
    FRAMES,
    JUMP,
    SPEED,
    TURN_LEFT,
    TURN_RIGHT,
)

Controls = NDArray[np.float32]
"""One row a frame, one column a button."""


@dataclass(frozen=True, slots=True)
class PlayerHabits:
    """How somebody plays: what they like to do, for how many frames, how fast, how tidily.

    `steps` are frames of a move, `hold` those of anything else. `runs` is the chance of running,
    `turn` the range of degrees a tic, `idle` the chance of doing nothing for a whole clip and
    `mixes` that of doing two things in one.
    """

    name: str
    likes: tuple[str, ...]
    steps: tuple[int, int]
    hold: tuple[int, int]
    runs: float
    turn: tuple[float, float]
    idle: float = 0.05
    mixes: float = 0.05


PLAYERS = (
    PlayerHabits("walker", ("moving forwards", "turning left"), (3, 5), (6, 8), 0.0, (0.6, 1.0)),
    PlayerHabits(
        "runner", ("moving forwards", "moving backwards"), (2, 3), (3, 5), 1.0, (1.2, 1.8)
    ),
    PlayerHabits("dancer", ("moving left", "moving right"), (2, 4), (4, 7), 0.5, (0.8, 1.4)),
    PlayerHabits("lookout", ("turning left", "turning right"), (2, 5), (5, 8), 0.2, (0.5, 1.0)),
    PlayerHabits("gunner", ("shooting", "jumping"), (2, 4), (4, 8), 0.3, (0.8, 1.6)),
    PlayerHabits("anybody", tuple(ACTIONS), (2, 5), (3, 8), 0.3, (0.5, 1.8), idle=0.1, mixes=0.1),
)
LIKING = 0.25
"""How often a player does what it likes; otherwise it does anything."""


def take_controls(
    player: PlayerHabits, rng: np.random.Generator, takes: int, lead: int = 0
) -> Iterator[Controls]:
    """Controls of so many takes: `lead` frames without input, then fourteen with what is done."""
    for _ in range(takes):
        controls = np.zeros((lead + FRAMES, len(BUTTONS)), np.float32)
        for action in _chosen(player, rng):
            _press(controls[lead:], ACTIONS[action], player, rng)
        yield controls


def _chosen(player: PlayerHabits, rng: np.random.Generator) -> list[str]:
    luck = rng.uniform()
    number = 0 if luck < player.idle else 2 if luck < player.idle + player.mixes else 1
    names = player.likes if rng.uniform() < LIKING else tuple(ACTIONS)
    return [str(name) for name in rng.choice(names, number)]


def _press(controls: Controls, button: int, player: PlayerHabits, rng: np.random.Generator) -> None:
    """Hold a button from frame 1, 2 or 3 on; it is let go some frames before the clip ends."""
    shortest, longest = player.steps if button < TURN_LEFT else player.hold
    onset, hold = int(rng.integers(1, 4)), int(rng.integers(shortest, longest + 1))
    held = slice(onset, onset + (min(hold, 2) if button == JUMP else hold))
    turns = button in (TURN_LEFT, TURN_RIGHT)
    controls[held, button] = rng.uniform(*player.turn) if turns else 1.0
    if rng.uniform() < player.runs and not turns:
        controls[held, SPEED] = 1.0
