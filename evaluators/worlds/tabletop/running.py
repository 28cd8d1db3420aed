"""A policy on the table itself: it looks at every replan, and all that a table knows is written
down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import PolicyView, RobotPolicy
from evaluators.worlds.actions import Actions, check_actions
from evaluators.worlds.tabletop.engine import TableTruth
from evaluators.worlds.tabletop.episodes import LIMIT, TableStage
from evaluators.worlds.tabletop.library import PIXELS
from evaluators.worlds.tabletop.planner import CHUNK, EXECUTED
from evaluators.worlds.tabletop.starts import TableStart
from evaluators.worlds.tabletop.trials import TrialNoise
from evaluators.worlds.tabletop.views import Frames, shrink

ReadArm = Callable[[Frames], npt.NDArray[np.float32]]
"""Proprioception off the pictures [views, height, width, RGB]: the same reader in every source."""


@dataclass(frozen=True, slots=True)
class TableRun:
    """What came of one run: frames [views, T + 1, height, width, RGB], actions, and the truth."""

    start: TableStart
    trial: str
    frames: Frames
    actions: Actions
    truth: TableTruth


def run_policy(
    stage: TableStage,
    start: TableStart,
    noise: TrialNoise,
    policy: RobotPolicy,
    read_arm: ReadArm,
    every: int = 1,
) -> TableRun:
    """The policy acts on what the cameras show; frames are those of every so manieth step, which
    has to divide the steps between two replans."""

    def propose(frames: Frames, step: int) -> Actions:
        view = PolicyView(frames, read_arm(frames), start.instruction, start.seed, step)
        return check_actions(policy.act(view), CHUNK)

    return _run(stage, start, noise, propose, LIMIT, every)


def run_recorded(
    stage: TableStage, start: TableStart, noise: TrialNoise, actions: Actions, every: int = 1
) -> TableRun:
    """The same actions once more, whatever the cameras show."""

    def repeat(_frames: Frames, step: int) -> Actions:
        return actions[step : step + EXECUTED]

    return _run(stage, start, noise, repeat, len(actions), every)


def _run(
    stage: TableStage,
    start: TableStart,
    noise: TrialNoise,
    propose: Callable[[Frames, int], Actions],
    limit: int,
    every: int,
) -> TableRun:
    stage.table.set(start, noise)
    frames, executed = [_seen(stage)], []
    for actions in _chunks(lambda step: propose(frames[-1], step), limit):
        for action in actions:
            executed.append(action)
            stage.table.step(action)
            if len(executed) % every == 0:
                frames.append(_seen(stage))
    film = np.stack(frames, axis=1)
    return TableRun(start, noise.name, film, np.stack(executed), stage.table.truth())


def _chunks(propose: Callable[[int], Actions], limit: int) -> Iterator[Actions]:
    for step in range(0, limit, EXECUTED):
        yield propose(step)[: min(EXECUTED, limit - step)]


def _seen(stage: TableStage) -> Frames:
    return shrink(stage.cameras.render(), PIXELS)
