"""From what a policy wants to the next 25 actions: approach, grip, carry, let go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.worlds.actions import ACTION_WIDTH, Actions
from evaluators.worlds.bussing.bench import MOST_STEP, MOST_TURN, Floats
from evaluators.worlds.bussing.starts import BINS

CHUNK = 25
HOVER, GRIP, CARRY, REST = 0.28, 0.05, 0.42, 0.5
LET_GO_AT = 0.6
"""A hand that lets go too soon does so on this line, well short of the bins."""

GIVE_UP = 32
"""An open hand after so many steps has done what it could."""

OPEN, CLOSED = 1.0, 0.0
DWELL = 3


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy is shown: the last frame of each view, its own arm, the instruction, the time,
    its seed."""

    frames: npt.NDArray[np.uint8]
    arm: Floats
    instruction: str
    step: int
    seed: int


@dataclass(frozen=True, slots=True)
class GraspIntent:
    """What a policy wants: where the object is, how far beside it to grip, whether to let go early,
    which bin."""

    target: tuple[float, float]
    beside: tuple[float, float]
    drop: bool
    bin: int


@dataclass(frozen=True, slots=True)
class Leg:
    """Go there with the fingers so wide, then stay a while."""

    goal: tuple[float, float, float]
    width: float
    stay: int = 0
    turn: float = 0.0


def plan(observation: Observation, wish: GraspIntent) -> Actions:
    """The next 25 actions from where the arm is now."""
    x, y, z, turn, width = (float(number) for number in observation.arm)
    if width < 0.5:
        legs = list(carry((x, y, z), wish))
    elif observation.step >= GIVE_UP:
        legs = [Leg((x, y, REST), OPEN)]
    else:
        legs = list(fetch(wish))
    return follow((x, y, z), turn, legs, CHUNK)


def follow(hand: tuple[float, float, float], turn: float, legs: list[Leg], count: int) -> Actions:
    """Walk the legs in steps the arm can take; stand still when they are done."""
    rows = list(_steps(np.array(hand), turn, legs, count))[:count]
    still = [0.0] * (ACTION_WIDTH - 1) + [legs[-1].width]
    return np.array(rows + [still] * (count - len(rows)), np.float32)


def fetch(wish: GraspIntent) -> Iterator[Leg]:
    x, y = wish.target[0] + wish.beside[0], wish.target[1] + wish.beside[1]
    turn = 0.5 if x < 0.5 else -0.5
    yield Leg((x, y, HOVER), OPEN, turn=turn)
    yield Leg((x, y, GRIP), OPEN, turn=turn)
    yield Leg((x, y, GRIP), CLOSED, DWELL, turn)
    yield from carry((x, y, GRIP), wish)


def carry(hand: tuple[float, float, float], wish: GraspIntent) -> Iterator[Leg]:
    x, y, _ = hand
    to = BINS[wish.bin]
    yield Leg((x, y, CARRY), CLOSED)
    if wish.drop:
        part = np.clip((LET_GO_AT - y) / max(to[1] - y, 1e-6), 0, 1)
        yield Leg((x + float(part) * (to[0] - x), y + float(part) * (to[1] - y), CARRY), CLOSED)
        yield Leg(
            (x + float(part) * (to[0] - x), y + float(part) * (to[1] - y), CARRY), OPEN, DWELL
        )
    yield Leg((*to, CARRY), OPEN if wish.drop else CLOSED)
    yield Leg((*to, CARRY), OPEN, DWELL)
    yield Leg((*to, REST), OPEN)


def _steps(hand: Floats, turn: float, legs: list[Leg], count: int) -> Iterator[list[float]]:
    emitted = 0
    for leg in legs:
        while emitted < count and np.abs(np.array(leg.goal) - hand).max() > 1e-6:
            move = np.clip(np.array(leg.goal) - hand, -MOST_STEP, MOST_STEP)
            twist = float(np.clip(leg.turn - turn, -MOST_TURN, MOST_TURN))
            hand, turn, emitted = hand + move, turn + twist, emitted + 1
            yield [*move.tolist(), 0.0, 0.0, twist, leg.width]
        for _ in range(leg.stay):
            emitted += 1
            yield [0.0] * (ACTION_WIDTH - 1) + [leg.width]
