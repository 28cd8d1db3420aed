"""From where things seem to be to the next 25 actions: the hand-written control that some policies
and the practice share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluators.worlds.actions import ACTION_WIDTH, Actions
from evaluators.worlds.tabletop.engine import (
    BIN_CENTRES,
    BIN_HALF,
    REST_HEIGHTS,
    TABLE_TOP,
    Floats,
    TableState,
)

CHUNK, EXECUTED = 25, 16
METRES, RADIANS = 0.026, 0.2
"""How far one action of size 1 brings the hand in the end."""

HOVER, CARRY = TABLE_TOP + 0.25, TABLE_TOP + 0.29
GRASP_HEIGHTS = TABLE_TOP + np.array((0.095, 0.041, 0.115, 0.066))
RELEASE_HEIGHTS = TABLE_TOP + np.array((0.125, 0.085, 0.135, 0.095))
NEAR, NEARLY_TURNED, OVER_BIN = 0.025, 0.2, 0.045
"""Metres and radians within which the hand goes down on an object, and metres from a bin's middle
within which it goes down there."""

LOWEST, FALLEN = TABLE_TOP + 0.035, 0.02
OPEN, CLOSED = -1.0, 1.0


@dataclass(frozen=True, slots=True)
class SeenTable:
    """Where things seem to be: the hand and its turn, the objects and their yaws, whether something
    is held."""

    hand: Floats
    turn: Floats
    objects: Floats
    yaws: Floats
    holds: bool


@dataclass(frozen=True, slots=True)
class Errand:
    """What the planner is after; the rest is how it errs: beside the object, letting go on the way,
    or believing that the bins are somewhere else."""

    named: int
    bin: int
    beside: tuple[float, float] = (0.0, 0.0)
    lets_go: bool = False
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def place(self) -> Floats:
        """Where it believes the middle of the bin."""
        return np.asarray(BIN_CENTRES[self.bin] + np.array(self.shift))


@dataclass(frozen=True, slots=True)
class Stretch:
    """A straight piece of the way: how far, how much to turn, in how many actions, hand open or
    closed."""

    move: Floats
    turn: Floats
    gripper: float
    actions: int

    def rows(self) -> Iterator[list[float]]:
        """The actions, each a clipped share of the way."""
        count = max(1, self.actions)
        step = np.concatenate([self.move / METRES, self.turn / RADIANS]) / count
        row = [*np.clip(step, -1.0, 1.0).tolist(), self.gripper]
        yield from (row for _ in range(count))


def seen(state: TableState) -> SeenTable:
    """What the simulator knows: for practice only, never for a policy that is evaluated."""
    holds = state.held >= 0
    return SeenTable(state.hand, state.hand_turn, state.objects, state.yaws, holds)


def plan(scene: SeenTable, errand: Errand) -> Actions:
    """The next actions; each plan comes to rest by the last action that is executed."""
    target = scene.objects[errand.named]
    if scene.holds:
        legs = _bring(scene, errand)
    elif _in_bin(target, errand.place):
        legs = _withdraw(scene)
    elif _is_over(scene, errand):
        legs = _grasp(scene, errand)
    else:
        legs = _approach(scene, errand)
    rows = [row for leg in legs for row in leg.rows()]
    rest = [0.0] * (ACTION_WIDTH - 1) + [rows[-1][-1]]
    return np.array((rows + [rest] * CHUNK)[:CHUNK], np.float32)


def _approach(scene: SeenTable, errand: Errand) -> list[Stretch]:
    """Up and over the object, the hand open and turned as the object lies."""
    target = scene.objects[errand.named, :2] + errand.beside
    rise = max(0.0, HOVER - scene.hand[2])
    over = np.array((*(target - scene.hand[:2]), 0.0))
    turn = _aligned(scene, errand.named)
    settle = np.array((0.0, 0.0, min(0.0, HOVER - scene.hand[2])))
    first = (
        Stretch(np.array((0.0, 0.0, rise)), np.zeros(3), OPEN, _count(rise))
        if rise > 0.02
        else None
    )
    used = first.actions if first else 0
    way = Stretch(over + settle, turn, OPEN, min(_count(np.abs(over).max()), EXECUTED - 2 - used))
    return [leg for leg in (first, way) if leg]


def _is_over(scene: SeenTable, errand: Errand) -> bool:
    """Near enough above the object, and turned as it lies."""
    off = scene.hand[:2] - scene.objects[errand.named, :2] - errand.beside
    turned = abs(_aligned(scene, errand.named)[2]) < NEARLY_TURNED
    return bool(np.linalg.norm(off) < NEAR and turned)


def _grasp(scene: SeenTable, errand: Errand) -> list[Stretch]:
    """The last millimetres from above, down, and closed. What has fallen over is gripped lower."""
    target = scene.objects[errand.named] + (*errand.beside, 0.0)
    upright, named = GRASP_HEIGHTS[errand.named], errand.named
    fallen = target[2] < TABLE_TOP + REST_HEIGHTS[named] - FALLEN
    down = (max(LOWEST, target[2]) if fallen else upright) - scene.hand[2]
    over = np.array((*(target[:2] - scene.hand[:2]), 0.3 * down))
    return [
        Stretch(over, _aligned(scene, named), OPEN, 3),
        Stretch(np.array((0.0, 0.0, 0.7 * down)), np.zeros(3), OPEN, 7),
        Stretch(np.zeros(3), np.zeros(3), OPEN, 1),
        Stretch(np.zeros(3), np.zeros(3), CLOSED, 5),
    ]


def _bring(scene: SeenTable, errand: Errand) -> list[Stretch]:
    """Up, over the bin, down, open, and away."""
    way = errand.place - scene.hand[:2]
    rise = CARRY - scene.hand[2]
    level = -scene.turn * np.array((1.0, 1.0, 0.0))
    if np.abs(way).max() > OVER_BIN:
        lift = Stretch(np.array((0.0, 0.0, rise)), level, CLOSED, _count(abs(rise)))
        left = EXECUTED - 2 - lift.actions
        over = Stretch(
            np.array((*way, 0.0)), -scene.turn, CLOSED, max(_count(np.abs(way).max()), 3)
        )
        if over.actions > left:
            over = Stretch(over.move * left / over.actions, over.turn, CLOSED, max(left, 1))
        if errand.lets_go and rise < 0.05:
            return [over, Stretch(np.zeros(3), np.zeros(3), OPEN, 3)]
        return [lift, over] if lift.actions > 1 else [over]
    down = RELEASE_HEIGHTS[errand.named] - scene.hand[2]
    return [
        Stretch(np.array((*way, down)), level, CLOSED, _count(abs(down)) + 1),
        Stretch(np.zeros(3), np.zeros(3), CLOSED, 1),
        Stretch(np.zeros(3), np.zeros(3), OPEN, 3),
        Stretch(np.array((0.0, 0.0, -down)), np.zeros(3), OPEN, 5),
    ]


def _withdraw(scene: SeenTable) -> list[Stretch]:
    rise = float(np.clip(CARRY - scene.hand[2], 0.0, 0.3))
    return [Stretch(np.array((0.0, 0.0, rise)), np.zeros(3), OPEN, _count(rise))]


def _aligned(scene: SeenTable, number: int) -> Floats:
    """The turn that puts the fingers on the object's sides."""
    yaw = scene.yaws[number]
    wanted = (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4 if number != 2 else yaw
    return np.array((0.0, 0.0, float(np.clip(wanted, -0.8, 0.8)))) - scene.turn


def _count(distance: float) -> int:
    return max(1, int(np.ceil(distance / METRES)))


def _in_bin(place: Floats, middle: Floats) -> bool:
    inside = np.abs(place[:2] - middle) < BIN_HALF + 0.01
    return bool(inside.all() and place[2] < TABLE_TOP + 0.16)
