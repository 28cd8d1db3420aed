"""A world small enough to follow by eye: a bright dot that goes where it is pushed, and a policy
that looks for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluators.contracts.robot_policy import PolicyView
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InverseRequest,
    WorldCard,
)
from evaluators.suites.sc3.rollouts.driving import DriveConfig, DrivenEpisode

SIDE = 24
VIEWS = ("agent", "front", "wrist")
CONFIG = DriveConfig(limit=40, batch=4)


def picture(where: np.ndarray) -> np.ndarray:
    """Three views of a dot at x, y from 0 to 1, each a little brighter than the one before."""
    x, y = np.clip(np.round(np.asarray(where) * (SIDE - 3)), 0, SIDE - 3).astype(int)
    frames = np.full((3, SIDE, SIDE, 3), 20, np.uint8)
    for view in range(3):
        frames[view, y : y + 3, x : x + 3] = 150 + 40 * view
    return frames


def place(frames: np.ndarray) -> np.ndarray:
    """Where the dot is; the middle if there is none."""
    rows, columns = np.nonzero(frames[0, :, :, 0] > 100)
    if not len(rows):
        return np.array([0.5, 0.5])
    return np.array([columns.min(), rows.min()]) / (SIDE - 3)


def pushed(requests: Sequence[ForwardRequest]) -> list[np.ndarray]:
    """Each action moves the dot by a fifth of its first two numbers."""
    answers = []
    for request in requests:
        where, frames = place(request.context[:, -1]), []
        for action in request.actions:
            where = np.clip(where + action[:2] / 5, 0, 1)
            frames.append(picture(where))
        answers.append(np.stack(frames, axis=1))
    return answers


def read_back(requests: Sequence[InverseRequest]) -> list[np.ndarray]:
    """The moves of the dot, as far as pixels tell."""
    answers = []
    for request in requests:
        path = np.stack([place(request.frames[:, n]) for n in range(request.frames.shape[1])])
        actions = np.zeros((len(path) - 1, 7), np.float32)
        actions[:, :2] = np.diff(path, axis=0) * 5
        answers.append(actions)
    return answers


def dot_world(tau: float | None = None, inverse: bool = True, name: str = "dots") -> FunctionWorld:
    """The world of the dot."""
    card = WorldCard(name, "1", VIEWS, SIDE, SIDE, tau=tau)
    return FunctionWorld(card, pushed, read_back if inverse else None)


class Seeker:
    """Pushes the dot to a corner in small steps that depend on where it sees it."""

    def __init__(self, corner: tuple[float, float] = (1.0, 1.0)) -> None:
        self.corner = np.array(corner)

    def act(self, view: PolicyView) -> np.ndarray:
        chance = np.random.default_rng(view.seed + view.step).normal(0, 0.01, (25, 2))
        actions = np.zeros((25, 7), np.float32)
        actions[:, :2] = (self.corner - place(view.frames)) / 5 + chance
        return actions


def summed(episode: DrivenEpisode, _frames: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The arm by dead reckoning."""
    arm = episode.arm.copy()
    arm[:7] += actions.sum(axis=0)
    return arm


def start(
    name: str = "start-1",
    where: tuple[float, float] = (0.1, 0.2),
    recorded: np.ndarray | None = None,
) -> DrivenEpisode:
    """An episode of policy 1."""
    arm = np.zeros(8, np.float32)
    return DrivenEpisode(name, 1, "to the corner", 3, picture(np.array(where)), arm, recorded)
