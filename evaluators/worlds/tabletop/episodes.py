"""One episode on the table from its start to its end, with as many pictures as are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.worlds.actions import ACTION_WIDTH, Actions, check_actions
from evaluators.worlds.pictures import Size
from evaluators.worlds.tabletop.engine import TableState, Tabletop, TableTruth
from evaluators.worlds.tabletop.planner import EXECUTED
from evaluators.worlds.tabletop.starts import TableStart
from evaluators.worlds.tabletop.trials import TrialNoise
from evaluators.worlds.tabletop.views import NATIVE, Cameras, Frames

LIMIT = 200
"""The most actions of an episode, twelve chunks and a half or 20 s: one object, with time to try
again."""


@dataclass
class TableStage:
    """A table and its cameras, made once and used for many episodes."""

    table: Tabletop
    cameras: Cameras

    @classmethod
    def open(cls, size: Size = NATIVE, grasps: bool = True) -> TableStage:
        """A table with cameras of that size; NoSimulator says what is missing on this machine."""
        table = Tabletop(grasps)
        return cls(table, Cameras(table, size))


@dataclass(frozen=True, slots=True)
class RecordedEpisode:
    """What was seen, done and true: frames [views, T + 1, height, width, RGB], or those of some
    moments; actions [T, 7]; proprioception [T + 1, 8]."""

    start: TableStart
    trial: str
    frames: Frames
    moments: tuple[int, ...]
    actions: Actions
    proprioception: npt.NDArray[np.float32]
    states: tuple[TableState, ...]
    truth: TableTruth

    @property
    def instruction(self) -> str:
        """What the robot was told."""
        return self.start.instruction

    @property
    def visited(self) -> set[tuple[int, int]]:
        """Every object and bin in which it lay at some moment."""
        return {pair for state in self.states for pair in enumerate(state.bins) if pair[1] >= 0}


ActOnState = Callable[[TableState, int], Actions | None]


def record(
    stage: TableStage,
    start: TableStart,
    noise: TrialNoise,
    act: ActOnState,
    limit: int = LIMIT,
    every: int = 1,
) -> RecordedEpisode:
    """An episode that is filmed whole, or at every so manieth action; `act` is asked at every
    replan and told the true state, so it is for practice and replays only; None ends it."""
    states, actions, frames = [stage.table.set(start, noise)], [], [stage.cameras.render()]
    moments = [0]
    chunk: Actions = np.zeros((0, ACTION_WIDTH), np.float32)
    for step in range(limit):
        if step % EXECUTED == 0:
            if (proposed := act(states[-1], step)) is None:
                break
            chunk = check_actions(proposed)
        actions.append(chunk[step % EXECUTED])
        states.append(stage.table.step(actions[-1]))
        if (step + 1) % every == 0:
            frames.append(stage.cameras.render())
            moments.append(step + 1)
    return RecordedEpisode(
        start=start,
        trial=noise.name,
        frames=np.stack(frames, axis=1),
        moments=tuple(moments),
        actions=np.stack(actions),
        proprioception=np.stack([state.proprioception for state in states]),
        states=tuple(states),
        truth=stage.table.truth(),
    )
