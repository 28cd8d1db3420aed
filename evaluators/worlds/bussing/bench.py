"""A simulated table-bussing bench: a gripper, two objects, two bins, and the exact truth of what
happened.

Everything is an array over episodes, so that a thousand of them take a step together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.worlds.bussing.starts import BINS, Start

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

MOST_STEP = 0.06
MOST_TURN = 0.3
FINGER_STEP = 0.5
LOW, GRASP, REACH = 0.12, 0.08, 0.25
"""How low the hand must be to grip, how near to hold an object, how near to be said to try."""

LIFTED, BIN_RADIUS, CEILING = 0.2, 0.14, 0.8


@dataclass(frozen=True, slots=True)
class BenchState:
    """The state of some episodes: hand, turn, finger width, objects, what is held, what was tried
    and lifted."""

    hand: Floats
    turn: Floats
    width: Floats
    objects: Floats
    held: Ints
    tried: Ints
    lifted: Flags


def set_table(starts: Sequence[Start]) -> BenchState:
    """The table as the starts describe it, nothing touched."""
    count = len(starts)
    objects = np.zeros((count, 2, 3))
    objects[:, :, :2] = np.array([start.places for start in starts], float).reshape(count, 2, 2)
    return BenchState(
        hand=np.array([start.hand for start in starts], float).reshape(count, 3),
        turn=np.zeros(count),
        width=np.ones(count),
        objects=objects,
        held=np.full(count, -1),
        tried=np.full(count, -1),
        lifted=np.zeros((count, 2), np.bool_),
    )


def step(table: BenchState, actions: npt.NDArray[np.floating], grasp: float = GRASP) -> BenchState:
    """One tenth of a second: move, turn, open or close; a closing hand may hold, an opening one
    lets go."""
    moved = np.clip(actions[:, :3], -MOST_STEP, MOST_STEP)
    hand = np.clip(table.hand + moved, 0.0, (1.0, 1.0, CEILING))
    turn = table.turn + np.clip(actions[:, 5], -MOST_TURN, MOST_TURN)
    width = table.width + np.clip(
        np.clip(actions[:, 6], 0, 1) - table.width, -FINGER_STEP, FINGER_STEP
    )
    closes, opens = (width < 0.5) & (table.width >= 0.5), (width >= 0.5) & (table.width < 0.5)
    table = replace(table, hand=hand, turn=turn, width=width)
    return _carry(_grip(_let_go(table, opens), closes, grasp))


def run(
    table: BenchState, actions: npt.NDArray[np.floating], grasp: float = GRASP
) -> list[BenchState]:
    """The states after each of the actions [episodes, steps, 7]; a hand that grips 0 far never
    holds anything."""
    states = []
    for number in range(actions.shape[1]):
        table = step(table, actions[:, number], grasp)
        states.append(table)
    return states


def arm_after(starts: Sequence[Start], actions: npt.NDArray[np.floating]) -> Floats:
    """Where the commanded actions bring the arm: x, y, z, turn, width. It needs no picture: joints
    are read out."""
    table = set_table(starts)
    for number in range(actions.shape[1]):
        table = step(table, actions[:, number])
    return np.concatenate([table.hand, table.turn[:, None], table.width[:, None]], axis=1)


def outcomes(table: BenchState, starts: Sequence[Start]) -> tuple[ObjectOutcome, ...]:
    """What holds in each episode as it stands now."""
    return tuple(
        ObjectOutcome(*(bool(value) for value in row)) for row in criteria_met(table, starts)
    )


def criteria_met(table: BenchState, starts: Sequence[Start]) -> Flags:
    """Which criteria hold, [episodes, 3].

    Language: the first object the hand closed on is the one named. Lifting: that object left the
    table in the hand. Placing: it lies, let go, in the bin of the instruction.
    """
    rows, touched = np.arange(len(starts)), table.tried >= 0
    named = np.array([start.named for start in starts], np.int64)
    bins = np.array([BINS[start.bin_of(start.named)] for start in starts], float).reshape(-1, 2)
    first = np.maximum(table.tried, 0)
    lifted = touched & table.lifted[rows, first]
    in_bin = np.linalg.norm(table.objects[rows, first, :2] - bins, axis=1) < BIN_RADIUS
    placed = lifted & in_bin & (table.held != table.tried)
    return np.stack([touched & (table.tried == named), lifted, placed], axis=1)


def _let_go(table: BenchState, opens: Flags) -> BenchState:
    loose = opens & (table.held >= 0)
    objects = table.objects.copy()
    rows = np.flatnonzero(loose)
    objects[rows, table.held[rows], 2] = 0.0
    return replace(table, objects=objects, held=np.where(loose, -1, table.held))


def _grip(table: BenchState, closes: Flags, grasp: float) -> BenchState:
    """The nearest object counts as tried when it is within reach, and as held when the hand is
    right above it."""
    distance = np.linalg.norm(table.objects[:, :, :2] - table.hand[:, None, :2], axis=2)
    nearest = distance.argmin(axis=1)
    gap = distance[np.arange(len(nearest)), nearest]
    low = closes & (table.hand[:, 2] < LOW)
    tried = np.where(low & (gap < REACH) & (table.tried < 0), nearest, table.tried)
    return replace(
        table,
        tried=tried,
        held=np.where(low & (gap < grasp) & (table.held < 0), nearest, table.held),
    )


def _carry(table: BenchState) -> BenchState:
    objects, lifted = table.objects.copy(), table.lifted.copy()
    rows = np.flatnonzero(table.held >= 0)
    objects[rows, table.held[rows]] = table.hand[rows]
    lifted[rows, table.held[rows]] |= table.hand[rows, 2] > LIFTED
    return replace(table, objects=objects, lifted=lifted)
