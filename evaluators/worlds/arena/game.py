"""The arena: a small simulated game with known truth, in which somebody evades, jumps or mounts a
hoverboard.

The camera follows the player, and wall and floor repeat, so that one frame never tells where the
player came from: left and right, up and down, forwards and backwards differ only in how the
surroundings move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.arena.drawing import ArenaScene
from evaluators.worlds.arena.looks import CHARACTERS, SKINS, environment_named

Floats = NDArray[np.float64]
Frames = NDArray[np.uint8]

ACTIONS = (
    "evading backwards",
    "evading forwards",
    "evading left",
    "evading right",
    "jumping down",
    "jumping on the level",
    "jumping up",
    "mounting hoverboard",
)
DIRECTIONS = {
    "evading backwards": (0.0, -1.0),
    "evading forwards": (0.0, 1.0),
    "evading left": (-1.0, 0.0),
    "evading right": (1.0, 0.0),
}
CLIMBS = {"jumping down": -1.0, "jumping on the level": 0.0, "jumping up": 1.0}

CLIP_FRAMES = 14
CLIP_FPS = 10
SESSION_FPS = 60
TURN = CLIP_FRAMES / CLIP_FPS
"""Seconds of one turn: a clip is one turn, a session several."""
PRESSED = 0.3
"""Seconds a button is held."""

SIZE = (300, 180)
LOW_RESOLUTION = (128, 128)

CONTROLS = 16
MOVE_X, MOVE_Y, EVADE, JUMP, MOUNT = 0, 1, 6, 7, 8
STATES = 56
X, Y, HEIGHT, LIFT, ROLL, RIDING, SWAY_X, SWAY_Y, CLOCK = range(9)
FIRST_CHARACTER = 16


@dataclass(frozen=True, slots=True)
class PlayerTurn:
    """What a player does for 1.4 seconds; times are seconds, distances shares of the picture, no
    action is idling."""

    action: str | None
    onset: float = 0.0
    duration: float = 0.8
    distance: float = 0.3
    riding: bool = False


@dataclass(frozen=True, slots=True)
class Play:
    """A whole session: where, who, and turn after turn; the seed settles how the place is
    arranged."""

    environment: str
    character: str
    seed: int
    turns: tuple[PlayerTurn, ...]

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return TURN * len(self.turns)


def play_clip(environment: str, action: str, character: str, seed: int) -> Play:
    """One turn: the action begins in frame 0 to 3 and is over before the last frame."""
    return Play(environment, character, seed, (_turn(np.random.default_rng([seed, 1]), action),))


def play_session(
    environment: str, character: str, actions: Sequence[str | None], seed: int
) -> Play:
    """A session of these actions, one a turn; None is a turn without input."""
    rng = np.random.default_rng([seed, 2])
    return Play(environment, character, seed, tuple(_turn(rng, action) for action in actions))


def draw_labels(number: int, seed: int) -> list[tuple[str, str]]:
    """So many pairs of an action and a character, every label as often as any other, in random
    order."""
    rng = np.random.default_rng([seed, 3])
    actions = rng.permutation([ACTIONS[i % len(ACTIONS)] for i in range(number)])
    characters = rng.permutation([CHARACTERS[i % len(CHARACTERS)] for i in range(number)])
    return [
        (str(action), str(character)) for action, character in zip(actions, characters, strict=True)
    ]


def clip_times() -> Floats:
    """The moments of a clip's fourteen frames."""
    return np.arange(CLIP_FRAMES) / CLIP_FPS


def controls(play: Play, times: Floats) -> Floats:
    """What the controller says at these moments, a row of 16 each."""
    rows = np.zeros((len(times), CONTROLS))
    for row, time in enumerate(times):
        turn, local = _at(play, float(time))
        if turn.action is None or not turn.onset - 1e-9 <= local < turn.onset + PRESSED - 1e-9:
            continue
        if turn.action in DIRECTIONS:
            rows[row, [MOVE_X, MOVE_Y]] = DIRECTIONS[turn.action]
        button = EVADE if turn.action in DIRECTIONS else JUMP if turn.action in CLIMBS else MOUNT
        rows[row, button] = 1.0
    return rows


def states(play: Play, times: Floats) -> Floats:
    """What is true at these moments, a row of 56 each: place, height, lift, roll, riding, camera,
    and who it is."""
    rows = np.zeros((len(times), STATES))
    for row, time in enumerate(times):
        rows[row] = _state(play, float(time))
    return rows


def render(play: Play, times: Floats, size: tuple[int, int] = SIZE) -> Frames:
    """The pictures at these moments: frames, height, width, RGB."""
    scene = scene_of(play, size)
    return np.stack([scene.draw(state) for state in states(play, times)])


def scene_of(play: Play, size: tuple[int, int] = SIZE) -> ArenaScene:
    """The place and the player, ready to be drawn in any state."""
    environment = environment_named(play.environment)
    return ArenaScene(environment, SKINS[environment.game][play.character], play.seed, size)


def _turn(rng: np.random.Generator, action: str | None) -> PlayerTurn:
    onset = int(rng.integers(0, 4)) / CLIP_FPS
    duration, distance, riding = (
        rng.uniform(0.75, 0.9),
        rng.uniform(0.24, 0.36),
        rng.uniform() < 0.3,
    )
    return PlayerTurn(
        action,
        onset,
        float(duration),
        float(distance),
        bool(riding) and action != "mounting hoverboard",
    )


def _at(play: Play, time: float) -> tuple[PlayerTurn, float]:
    number = min(int(time / TURN + 1e-9), len(play.turns) - 1)
    return play.turns[number], time - number * TURN


def _state(play: Play, time: float) -> Floats:
    state = np.zeros(STATES)
    turn, local = _at(play, time)
    for past in play.turns[: int(min(time / TURN + 1e-9, len(play.turns) - 1))]:
        _move(state, past, 1.0)
    share = float(np.clip((local - turn.onset) / turn.duration, 0.0, 1.0))
    _move(state, turn, share * share * (3 - 2 * share))
    under_way = np.sin(np.pi * share)
    state[LIFT] = under_way if turn.action in CLIMBS else 0.0
    state[ROLL] = under_way if turn.action in DIRECTIONS else 0.0
    state[RIDING] = float(turn.riding or (turn.action == "mounting hoverboard" and share > 0.4))
    phase = np.random.default_rng([play.seed, 4]).uniform(0, 2 * np.pi, 2)
    state[[SWAY_X, SWAY_Y]] = 0.012 * np.sin(1.7 * time + phase)
    state[CLOCK] = time
    state[FIRST_CHARACTER + CHARACTERS.index(play.character)] = 1.0
    return state


def _move(state: Floats, turn: PlayerTurn, share: float) -> None:
    if turn.action in DIRECTIONS:
        state[[X, Y]] += turn.distance * share * np.array(DIRECTIONS[turn.action])
    elif turn.action in CLIMBS:
        state[HEIGHT] += turn.distance * share * CLIMBS[turn.action]
