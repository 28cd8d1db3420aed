"""One open game: a character is put on the stage, and takes of play are filmed with their truth.

It runs inside the engine's own process; nothing else imports vizdoom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import vizdoom
from numpy.typing import NDArray

from evaluators.worlds.doom.places import (
    AMMO,
    ANGLE,
    BUTTONS,
    CHARACTERS,
    FIRST_CHARACTER,
    HEIGHT,
    LIGHT,
    PER_CHARACTER,
    PIXELS,
    SPEED,
    STATES,
    TICS,
    TURN_LEFT,
    TURN_RIGHT,
    GamePlace,
    X,
    Y,
)
from evaluators.worlds.doom.players import Controls

BUTTON_OF = (
    "MOVE_FORWARD",
    "MOVE_BACKWARD",
    "MOVE_LEFT",
    "MOVE_RIGHT",
    "TURN_LEFT_RIGHT_DELTA",
    "JUMP",
    "ATTACK",
    "SPEED",
)
TURN = BUTTON_OF.index("TURN_LEFT_RIGHT_DELTA")
VARIABLES = ("POSITION_X", "POSITION_Y", "POSITION_Z", "ANGLE", "AMMO2")
ARGUMENTS = (
    "+sv_cheats 1",
    "-nomonsters",
    "+cl_maxdecals 0",
    "+con_midtime 0",
    "+cl_showsecretmessage 0",
    "+sv_noautoaim 1",
)
SPOTS = 40
"""Places of a map that are tried for a character before the stage stays empty."""
ENOUGH = 250
"""Pixels of a character that a place must show."""
WAYS = BUTTON_OF[:4]
ROOM, STEP = 28.0, 4.0
"""Units that must be free on every side of the mark, and how far up or down they may lead."""
BESIDE, CONTRAST = 8, 9.0
"""Pixels beside a character that it is compared with, and how much lighter or darker it must be."""
OFF_AXIS = (12.0, 42.0)
"""Degrees beside the middle of the view at which the character stands when a take begins: nobody
is shot, and the side does not tell what is done next."""


class PlayOver(Exception):
    """The map came to its end, by an exit or a fall, while somebody played."""


class GameStage:
    """ViZDoom on one map, with nobody on it but the player until somebody is put there."""

    def __init__(self, place: GamePlace) -> None:
        self.place, self.game = place, _open(place)
        self.character = ""

    def begin(self, character: str, seed: int) -> bool:
        """Start the map anew and put a character where it can be seen; False if there is no such
        place among those tried."""
        self.rng = np.random.default_rng([seed, 31])
        self.character = CHARACTERS[character]
        self.game.set_seed(int(seed) % 2**31)
        self._anew()
        spots = self._spots()
        return any(self._tried(spots) for _ in range(SPOTS))

    def film(self, controls: Controls) -> tuple[NDArray[np.uint8], NDArray[np.float32]] | None:
        """Go back to the mark, look beside the character, play these controls: frames and states
        before each row of controls takes effect; None if the map came to its end."""
        try:
            return self._filmed(controls)
        except PlayOver:
            return None

    def _filmed(self, controls: Controls) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        self._warp(*self.mark)
        self._aim(float(self.rng.choice([-1.0, 1.0]) * self.rng.uniform(*OFF_AXIS)))
        self._wait(12)
        frames, states = [], []
        for row in controls:
            frame, state = self._look()
            frames.append(frame)
            states.append(state)
            self.game.make_action(_action(row), TICS)
        return np.stack(frames), np.stack(states)

    def close(self) -> None:
        """End the game."""
        self.game.close()

    def _anew(self) -> None:
        self.game.new_episode()
        for command in ("god", "notarget", *self.place.console):
            self.game.send_game_command(command)

    def _tried(self, spots: Sequence[tuple[float, float]]) -> bool:
        try:
            return self._stand(spots)
        except PlayOver:
            self._anew()
            return False

    def _state(self) -> Any:
        state = self.game.get_state()
        if state is None:
            raise PlayOver
        return state

    def _spots(self) -> list[tuple[float, float]]:
        """Where things lie on the map: places that can be stood on."""
        state = self._state()
        return [(o.position_x, o.position_y) for o in state.objects if o.name != self.character]

    def _stand(self, spots: Sequence[tuple[float, float]]) -> bool:
        x, y = spots[int(self.rng.integers(len(spots)))]
        self._warp(x, y)
        self._turn(float(self.rng.uniform(-180, 180)))
        self._wait(4)
        before = {o.id for o in self._named()}
        self.game.send_game_command(f"summon {self.character}")
        self._wait(3)
        fresh = [o for o in self._named() if o.id not in before]
        if not fresh:
            return False
        self.other = (float(fresh[0].position_x), float(fresh[0].position_y))
        return self._step_back()

    def _step_back(self) -> bool:
        variables = self._state().game_variables
        x, y, angle = float(variables[X]), float(variables[Y]), math.radians(variables[ANGLE])
        back = float(self.rng.uniform(10, 150))
        self.mark = (x - back * math.cos(angle), y - back * math.sin(angle))
        self._warp(*self.mark)
        self._wait(8)
        self._aim(0.0)
        self._wait(2)
        column = FIRST_CHARACTER + PER_CHARACTER * self._number() + PIXELS
        return bool(self._look()[1][column] >= ENOUGH) and self._is_free()

    def _is_free(self) -> bool:
        """Whether the player can go every way from the mark, and stays on the level."""
        for button in range(len(WAYS)):
            self._warp(*self.mark)
            self._wait(6)
            start = np.array(self._state().game_variables[:3])
            self.game.make_action([float(number == button) for number in range(len(BUTTON_OF))], 8)
            self._wait(8)
            way = np.array(self._state().game_variables[:3]) - start
            if np.hypot(*way[:2]) < ROOM or abs(way[2]) > STEP:
                return False
        return True

    def _number(self) -> int:
        return list(CHARACTERS.values()).index(self.character)

    def _named(self) -> list[Any]:
        return [o for o in self._state().objects if o.name == self.character]

    def _aim(self, beside: float) -> None:
        """Look so many degrees to the left of where the character stands."""
        variables = self._state().game_variables
        way = math.atan2(self.other[1] - variables[Y], self.other[0] - variables[X])
        self._turn((math.degrees(way) + beside - float(variables[ANGLE]) + 180) % 360 - 180)

    def _turn(self, degrees: float) -> None:
        action = [0.0] * len(BUTTON_OF)
        action[TURN] = -degrees
        self.game.make_action(action, 1)

    def _wait(self, tics: int) -> None:
        self.game.make_action([0.0] * len(BUTTON_OF), tics)

    def _warp(self, x: float, y: float) -> None:
        self.game.send_game_command(f"warp {x:.3f} {y:.3f}")
        self._wait(1)

    def _look(self) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        state = self._state()
        frame, mask = self._cut(state.screen_buffer), self._cut(state.labels_buffer)
        row = np.zeros(STATES, np.float32)
        row[: AMMO + 1] = state.game_variables
        light = frame.max(-1)
        for number, name in enumerate(CHARACTERS.values()):
            values = [label.value for label in state.labels if label.object_name == name]
            if values:
                column = FIRST_CHARACTER + PER_CHARACTER * number
                row[column : column + PER_CHARACTER] = _seen(np.isin(mask, values), light)
        return self._shrunk(frame), row

    def _cut(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        width, height = self.place.crop
        top, left = (picture.shape[0] - height) // 2, (picture.shape[1] - width) // 2
        return np.ascontiguousarray(picture[top : top + height, left : left + width])

    def _shrunk(self, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if not self.place.halved:
            return frame
        height, width = frame.shape[:2]
        squares = frame.reshape(height // 2, 2, width // 2, 2, 3).astype(np.uint16)
        return np.asarray((squares.sum((1, 3)) + 2) // 4, np.uint8)


def _seen(mask: NDArray[np.bool_], light: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Pixels, height of their box and mean brightness of what shows of a character; it is not
    bright where it does not stand out from what is beside it."""
    seen = np.zeros(PER_CHARACTER, np.float32)
    if mask.any():
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        box = slice(rows[0], rows[-1] + 1), slice(max(columns[0] - BESIDE, 0), columns[-1] + BESIDE)
        own, beside = light[box][mask[box]].astype(float), light[box][~mask[box]].astype(float)
        stands_out = abs(np.median(own) - np.median(beside)) >= CONTRAST if beside.size else True
        seen[PIXELS], seen[HEIGHT] = mask.sum(), rows[-1] - rows[0] + 1
        seen[LIGHT] = own.mean() if stands_out else 0.0
    return seen


def _action(row: NDArray[np.float32]) -> list[float]:
    """A row of controls as the engine's buttons; turning left and right are one axis there."""
    moves = [float(value) for value in row[:TURN_LEFT]]
    turn = float(row[TURN_RIGHT] - row[TURN_LEFT])
    return [*moves, turn, *(float(value) for value in row[TURN_RIGHT + 1 : SPEED + 1])]


def _open(place: GamePlace) -> Any:
    game = vizdoom.DoomGame()
    game.set_doom_game_path(str(Path(vizdoom.__file__).parent / "freedoom2.wad"))
    game.set_doom_map(place.map)
    game.set_screen_resolution(getattr(vizdoom.ScreenResolution, place.screen))
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_labels_buffer_enabled(True)
    game.set_objects_info_enabled(True)
    for switch in ("hud", "messages", "crosshair", "decals", "corpses"):
        getattr(game, f"set_render_{switch}")(False)
    game.set_render_weapon(True)
    game.set_window_visible(False)
    game.set_sound_enabled(False)
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_available_buttons([getattr(vizdoom.Button, name) for name in BUTTON_OF])
    game.set_available_game_variables([getattr(vizdoom.GameVariable, name) for name in VARIABLES])
    for argument in ARGUMENTS:
        game.add_game_args(argument)
    game.set_episode_timeout(10**6)
    game.init()
    assert len(BUTTONS) == len(BUTTON_OF) + 1
    return game
