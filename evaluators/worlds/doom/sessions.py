"""Recorded sessions: one player, one character, several takes of play with what was true in each
frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.doom.places import CHARACTERS, FRAMES
from evaluators.worlds.doom.players import PLAYERS, take_controls


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """What is to be recorded; the same order gives the same bytes.

    A take is `lead` frames without input and then fourteen in which the player acts.
    """

    environment: str
    seed: int
    takes: int = 12
    lead: int = 0

    @property
    def character(self) -> str:
        """Who is met in it."""
        return list(CHARACTERS)[self.seed % len(CHARACTERS)]

    @property
    def player(self) -> str:
        """Who plays it."""
        return PLAYERS[self.seed // len(CHARACTERS) % len(PLAYERS)].name


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """What was recorded: frames [take, frame, height, width, 3], controls and states a row a
    frame; a session without takes found no place for its character."""

    order: SessionOrder
    frames: NDArray[np.uint8]
    controls: NDArray[np.float32]
    states: NDArray[np.float32]

    def clip(self, take: int) -> NDArray[np.uint8]:
        """The last fourteen frames of a take."""
        return self.frames[take, -FRAMES:]


def record_on(stage: Any, order: SessionOrder) -> PlayedSession:
    """Record a session on an open stage of its environment."""
    controls = planned_controls(order)
    filmed = []
    if stage.begin(order.character, order.seed):
        for take in controls:
            shots = stage.film(take)
            if shots is None:
                break
            filmed.append(shots)
    if not filmed:
        width, height = stage.place.size
        empty = np.zeros((0, controls.shape[1], height, width, 3), np.uint8)
        return PlayedSession(order, empty, controls[:0], np.zeros((0, 0, 0), np.float32))
    frames, states = (np.stack(parts) for parts in zip(*filmed, strict=True))
    return PlayedSession(order, frames, controls[: len(filmed)], states)


def planned_controls(order: SessionOrder) -> NDArray[np.float32]:
    """What the player of a session does in each take, a row a frame."""
    player = next(habits for habits in PLAYERS if habits.name == order.player)
    rng = np.random.default_rng([order.seed, 32])
    return np.stack(list(take_controls(player, rng, order.takes, order.lead)))
