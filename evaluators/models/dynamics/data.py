"""Practice for the small dynamics model: demonstrations on the simulated bench, with where
everything is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.bench import (
    BenchState,
    Floats,
    arm_after,
    criteria_met,
    run,
    set_table,
)
from evaluators.worlds.bussing.starts import BINS, FORWARD, Start, draw_start, seed_of
from evaluators.worlds.bussing.views import SMALL, WRIST_HALF, Frames, film, fingers_of
from evaluators.worlds.pictures import Size
from evaluators.worlds.policies.plans import (
    OPEN,
    GraspIntent,
    Leg,
    Observation,
    fetch,
    follow,
    plan,
)

STEPS = 56
EXECUTED = 16
"""After so many steps those that plan again do."""

JITTER = 0.004
NO_FRAMES = np.zeros((0, 0, 0, 3), np.uint8)


@dataclass(frozen=True, slots=True)
class Practice:
    """Episodes: frames [n, steps + 1, views, height, width, RGB], commands, the arm's own moves,
    states, and which criteria hold at each step."""

    starts: tuple[Start, ...]
    frames: Frames
    commands: Actions
    moves: Actions
    states: npt.NDArray[np.float32]
    places: npt.NDArray[np.float32]
    truth: npt.NDArray[np.float32]


def practise(
    count: int, seed: int, task: str = FORWARD, pictures: bool = True, size: Size = SMALL
) -> Practice:
    """Demonstrations of every quality: fetched well or beside, the right object or the other, let
    go early or not."""
    starts = tuple(draw_start(f"practice-{seed}-{number}", task) for number in range(count))
    commands = _commands(starts)
    tables = [set_table(starts), *run(set_table(starts), commands)]
    frames = (
        film(tables, starts, size).swapaxes(1, 2) if pictures else np.zeros((count, 0), np.uint8)
    )
    return Practice(
        starts=starts,
        frames=np.ascontiguousarray(frames),
        commands=commands,
        moves=_moves(tables),
        states=np.stack([_state(table) for table in tables], axis=1).astype(np.float32),
        places=np.stack([_places(table) for table in tables], axis=1).astype(np.float32),
        truth=np.stack([criteria_met(table, starts) for table in tables], axis=1).astype(
            np.float32
        ),
    )


def _commands(starts: Sequence[Start]) -> Actions:
    """What the arm is told; half of the episodes look where it is every so often and plan again, as
    policies do."""
    drawn = [_Drawn.of(start) for start in starts]
    commands = np.stack([plans.whole for plans in drawn])
    for first in range(EXECUTED, STEPS, EXECUTED):
        rows = [number for number, plans in enumerate(drawn) if plans.replans]
        arms = arm_after([starts[row] for row in rows], commands[rows, :first])
        for row, arm in zip(rows, arms, strict=True):
            observation = Observation(NO_FRAMES, arm, starts[row].instruction, first, 0)
            ahead = plan(observation, drawn[row].wish)[: STEPS - first]
            commands[row, first : first + len(ahead)] = (
                ahead + drawn[row].jitter[first : first + len(ahead)]
            )
    return commands


@dataclass(frozen=True, slots=True)
class _Drawn:
    """How an episode goes: what is wanted, whether it is planned again, the commands if not, and
    their jitter."""

    wish: GraspIntent
    replans: bool
    whole: Actions
    jitter: Actions

    @classmethod
    def of(cls, start: Start) -> _Drawn:
        rng = np.random.default_rng(seed_of("practice", start.id))
        which = start.named if rng.random() < 0.7 else 1 - start.named
        angle, far = (
            rng.uniform(0, 2 * np.pi),
            rng.uniform(0.1, 0.18) if rng.random() < 0.4 else rng.uniform(0, 0.03),
        )
        to = start.bin_of(start.named) if rng.random() < 0.85 else 1 - start.bin_of(start.named)
        wish = GraspIntent(
            start.places[which],
            (far * np.cos(angle), far * np.sin(angle)),
            bool(rng.random() < 0.3),
            to,
        )
        wanders = bool(rng.random() < 0.08)
        legs = _wander(rng) if wanders else list(fetch(wish))
        pause = int(rng.integers(0, 9)) if rng.random() < 0.3 else 0
        whole = follow(start.hand, 0.0, [Leg(start.hand, OPEN, pause), *legs], STEPS)
        jitter = np.zeros_like(whole)
        jitter[:, :3] = rng.normal(0, JITTER, (STEPS, 3))
        return cls(wish, not wanders and bool(rng.random() < 0.5), whole + jitter, jitter)


def _wander(rng: np.random.Generator) -> list[Leg]:
    """Somewhere on the table, opening and closing: so that empty hands are seen too."""
    spots = rng.uniform((0.1, 0.1, 0.05), (0.9, 0.9, 0.6), (4, 3))
    return [Leg((float(x), float(y), float(z)), float(rng.integers(2)), 2) for x, y, z in spots]


def _moves(tables: Sequence[BenchState]) -> Actions:
    """Pseudo-actions: what the arm did from frame to frame, whatever it was told."""
    arms = np.stack([_arm(table) for table in tables], axis=1)
    moved = np.zeros((*arms[:, 1:].shape[:2], 7), np.float32)
    moved[..., :3] = np.diff(arms[..., :3], axis=1)
    moved[..., 5] = np.diff(arms[..., 3], axis=1)
    moved[..., 6] = arms[:, 1:, 4]
    return moved


def _arm(table: BenchState) -> Floats:
    return np.concatenate([table.hand, table.turn[:, None], table.width[:, None]], axis=1)


def _state(table: BenchState) -> Floats:
    """Hand, finger width, whether something is held, utensil, trash."""
    held = (table.held >= 0).astype(float)[:, None]
    return np.concatenate(
        [table.hand, table.width[:, None], held, table.objects.reshape(-1, 6)], axis=1
    )


def _places(table: BenchState) -> Floats:
    """Where utensil, trash, both fingers and both bins are in each view: x, y downwards, 0 to 1."""
    fingers, hand, bins = (
        fingers_of(table),
        table.hand,
        [np.broadcast_to(place, (len(table.hand), 2)) for place in BINS],
    )
    flat = [
        table.objects[:, 0, :2],
        table.objects[:, 1, :2],
        hand[:, :2] - fingers,
        hand[:, :2] + fingers,
        *bins,
    ]
    top = np.stack([_spot(at, (0, 1), (0, 1)) for at in flat], axis=1)
    sides, low = fingers * (1, 0), [place * (1, 0) for place in bins]
    tall = [
        table.objects[:, 0, ::2],
        table.objects[:, 1, ::2],
        hand[:, ::2] - sides,
        hand[:, ::2] + sides,
        *low,
    ]
    front = np.stack([_spot(at, (0, 1), (-0.12, 0.88)) for at in tall], axis=1)
    reach = (-WRIST_HALF, WRIST_HALF)
    wrist = np.stack([_spot(at - hand[:, :2], reach, reach) for at in flat], axis=1)
    return np.stack([top, front, wrist], axis=1)


def _spot(at: Floats, across: tuple[float, float], up: tuple[float, float]) -> Floats:
    x = (at[:, 0] - across[0]) / (across[1] - across[0])
    y = (up[1] - at[:, 1]) / (up[1] - up[0])
    return np.stack([x, y], axis=1)
