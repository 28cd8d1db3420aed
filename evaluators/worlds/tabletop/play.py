"""Practice that wants nothing: the hand wanders over table and bins, turns and grips at random, so
that a learner sees what each number of an action does."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evaluators.worlds.actions import Actions
from evaluators.worlds.tabletop.engine import TABLE_TOP, Floats, TableState
from evaluators.worlds.tabletop.episodes import LIMIT, RecordedEpisode, TableStage, record
from evaluators.worlds.tabletop.planner import CHUNK, CLOSED, EXECUTED, METRES, OPEN, RADIANS
from evaluators.worlds.tabletop.practice import without_leak
from evaluators.worlds.tabletop.starts import BUSSING, draw_start, seed_of
from evaluators.worlds.tabletop.trials import draw_trial

LOW, HIGH = np.array((-0.04, -0.42, TABLE_TOP + 0.1)), np.array((0.24, 0.42, TABLE_TOP + 0.32))
"""The box in which the hand wanders, metres: over the tray and over all bins."""

OVER_BINS, FLOOR = 0.0, TABLE_TOP + 0.2
"""Across this line it stays above the walls of the bins, and pushes nothing into them."""

UPRIGHT, MOST_YAW = np.array((0.0, 0.0, 1.0)), 0.7
LEAST, MOST = 3, 9
TURNS, GRIPS, SHAKES = 0.4, 0.25, 0.04
"""How often a stretch turns the hand and works the gripper; how much each action differs. The hand
is turned upright only: while it tilts, the arm goes where nobody sent it."""


@dataclass
class Wandering:
    """Goes straight to one random place and turn after another, at random paces; now and then the
    hand opens or closes."""

    rng: np.random.Generator
    gripper: float = field(default=OPEN)

    def act(self, state: TableState, _step: int) -> Actions:
        """The way from here: the state only says where the hand is."""
        hand, turn = state.hand, state.hand_turn
        rows: list[Floats] = []
        while len(rows) < EXECUTED:
            count = min(int(self.rng.integers(LEAST, MOST)), EXECUTED - len(rows))
            move, turning = self._goal(hand, count) - hand, self._turn(turn)
            step = np.concatenate([move / METRES, turning / RADIANS]) / count
            step = np.clip(step, -1.0, 1.0)
            hand, turn = hand + step[:3] * METRES * count, turn + step[3:] * RADIANS * count
            if self.rng.random() < GRIPS:
                self.gripper = CLOSED if self.gripper == OPEN else OPEN
            rows += [np.append(step, self.gripper)] * count
        actions = np.array((rows + rows[-1:] * CHUNK)[:CHUNK])
        actions[:, :3] += self.rng.normal(0, SHAKES, (CHUNK, 3))
        return np.clip(actions, -1.0, 1.0).astype(np.float32)

    def _turn(self, turn: Floats) -> Floats:
        """Upright to a random angle, or not at all."""
        wanted = self.rng.uniform(-MOST_YAW, MOST_YAW)
        turns = self.rng.random() < TURNS
        return UPRIGHT * (wanted - turn[2]) if turns else np.zeros(3)

    def _goal(self, hand: Floats, count: int) -> Floats:
        """A place that can be reached at any pace from very slow to full."""
        reach = METRES * count * self.rng.uniform(0.2, 1.3)
        goal = np.clip(hand + self.rng.uniform(-1, 1, 3) * reach, LOW, HIGH)
        goal[2] = max(goal[2], FLOOR) if max(goal[1], hand[1]) > OVER_BINS else goal[2]
        return np.asarray(goal)


def play(name: str, stage: TableStage, limit: int = LIMIT) -> RecordedEpisode:
    """The episode of that name: the same name is the same episode. Nothing is asked for, so
    what it is told does not matter."""
    return without_leak(name, lambda drawn: _wander(drawn, stage, limit))


def _wander(name: str, stage: TableStage, limit: int) -> RecordedEpisode:
    wandering = Wandering(np.random.default_rng(seed_of("play", name)))
    start = draw_start(f"practice-{name}", BUSSING)
    return record(stage, start, draw_trial(f"practice-{name}"), wandering.act, limit)
