"""Somebody's world: finds the bright thing in the last frame and pushes it about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InverseRequest,
    WorldCard,
)

SIDE, SPAN = 24, 21


def spot(frames: np.ndarray) -> np.ndarray:
    """Where the bright thing is in the first view."""
    rows, columns = np.nonzero(frames[0, :, :, 0] > 100)
    return np.array([columns.min(), rows.min()]) / SPAN if len(rows) else np.array([0.5, 0.5])


def moved(frame: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The same picture with the thing elsewhere."""
    x, y = np.clip(np.round(where * SPAN), 0, SPAN).astype(int)
    column, row = np.round(spot(frame) * SPAN).astype(int)
    after = frame.copy()
    thing = frame[:, row : row + 3, column : column + 3].copy()
    after[:, row : row + 3, column : column + 3] = 20
    after[:, y : y + 3, x : x + 3] = thing
    return after


def forward(requests: Sequence[ForwardRequest]) -> list[np.ndarray]:
    answers = []
    for request in requests:
        frame, frames = request.context[:, -1], []
        where = spot(frame)
        for action in request.actions:
            where = np.clip(where + action[:2] / 5, 0, 1)
            frames.append(moved(frame, where))
        answers.append(np.stack(frames, axis=1))
    return answers


def inverse(requests: Sequence[InverseRequest]) -> list[np.ndarray]:
    answers = []
    for request in requests:
        path = np.stack([spot(request.frames[:, n]) for n in range(request.frames.shape[1])])
        actions = np.zeros((len(path) - 1, 7), np.float32)
        actions[:, :2] = np.diff(path, axis=0) * 5
        answers.append(actions)
    return answers


def three_views(device: str) -> FunctionWorld:
    """For a robot with three cameras and seven numbers an action."""
    card = WorldCard("stranger", "1", ("agent", "front", "wrist"), SIDE, SIDE)
    assert device == "cpu"
    return FunctionWorld(card, forward, inverse)


def one_view() -> FunctionWorld:
    """For a robot with one camera and two numbers an action."""
    return FunctionWorld(WorldCard("stranger", "1", ("top",), SIDE, SIDE, action_dim=2), forward)
