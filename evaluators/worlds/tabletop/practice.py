"""Practice on the table for whatever wants to learn: a hand-written expert that also errs, never
with swapped bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evaluators.worlds.actions import ACTION_WIDTH, Actions
from evaluators.worlds.tabletop.engine import TableState
from evaluators.worlds.tabletop.episodes import LIMIT, RecordedEpisode, TableStage, record
from evaluators.worlds.tabletop.planner import CHUNK, HOVER, Errand, plan, seen
from evaluators.worlds.tabletop.starts import (
    BIN_NAMES,
    BUSSING,
    DESTINATIONS,
    OBJECTS,
    SWAPPED,
    draw_start,
    seed_of,
)
from evaluators.worlds.tabletop.trials import draw_trial

MISSES, DROPS, WRONG_BIN, WRONG_OBJECT = 0.2, 0.1, 0.1, 0.15
SLOPPINESS = 0.006


@dataclass(frozen=True, slots=True)
class Habit:
    """How the expert errs in one episode: the objects and bin it goes for, beside them at first,
    letting go on the way."""

    errand: Errand
    beside: tuple[float, float]

    def at(self, step: int) -> Errand:
        """Later it sees its miss and tries again."""
        return replace(self.errand, beside=self.beside if step < 40 else (0.0, 0.0))


def practise(name: str, stage: TableStage, limit: int = LIMIT) -> RecordedEpisode:
    """The practice episode of that name: the same name is the same episode."""
    return without_leak(name, lambda drawn: _errand(drawn, stage, limit))


def without_leak(name: str, draw: Callable[[str], RecordedEpisode]) -> RecordedEpisode:
    """The episode of that name; where an object fell into the bin that only the swapped task gives
    it, one drawn anew."""
    episode, again = draw(name), 0
    while leaks([episode]):
        again += 1
        episode = draw(f"{name}+{again}")
    return episode


@dataclass
class Expert:
    """One errand after another, erring now and then: who looks on sees hands at work."""

    rng: np.random.Generator
    habit: Habit | None = None
    since: int = 0

    def act(self, state: TableState, step: int) -> Actions:
        """The next actions, of a new errand where the last one is done."""
        for _ in range(9):
            if self.habit is None:
                named = int(self.rng.integers(len(OBJECTS)))
                self.habit, self.since = (
                    _draw_habit(self.rng, named, DESTINATIONS[BUSSING][named]),
                    step,
                )
            if (actions := _act(self.habit, self.rng, state, step - self.since)) is not None:
                return actions
            self.habit = None
        return np.zeros((CHUNK, ACTION_WIDTH), np.float32)


def leaks(episodes: Sequence[RecordedEpisode]) -> int:
    """In how many episodes the swapped mapping appears: told, or an object in the bin that is its
    own only there."""
    return sum(_leaks(episode) for episode in episodes)


def _leaks(episode: RecordedEpisode) -> bool:
    told = {f"put the {OBJECTS[n]} into the {BIN_NAMES[b]}" for n, b in _swapped()}
    lies = set(enumerate(episode.truth.bins)) | episode.visited
    return episode.instruction in told or bool(lies & set(_swapped()))


def _swapped() -> list[tuple[int, int]]:
    return list(enumerate(DESTINATIONS[SWAPPED]))


def _act(habit: Habit, rng: np.random.Generator, state: TableState, step: int) -> Actions | None:
    """What the expert does from the true state, seen a little wrongly; nothing once all is done."""
    scene, errand = seen(state), habit.at(step)
    if state.bins[errand.named] == errand.bin and state.held < 0 and state.hand[2] > HOVER - 0.05:
        return None
    held = replace(errand, named=state.held) if state.held >= 0 else errand
    sloppy = scene.objects + rng.normal(0.0, SLOPPINESS, scene.objects.shape)
    return plan(replace(scene, objects=sloppy), held)


def _errand(name: str, stage: TableStage, limit: int) -> RecordedEpisode:
    start = draw_start(f"practice-{name}", BUSSING)
    habit = _habit(name, start.named, start.bin)
    rng = np.random.default_rng(seed_of("sloppy", name))
    act = partial(_act, habit, rng)
    return record(stage, start, draw_trial(f"practice-{name}"), act, limit)


def _habit(name: str, named: int, to: int) -> Habit:
    return _draw_habit(np.random.default_rng(seed_of("habit", name)), named, to)


def _draw_habit(rng: np.random.Generator, named: int, to: int) -> Habit:
    misses, drops, strays, confuses = rng.random(4) < (MISSES, DROPS, WRONG_BIN, WRONG_OBJECT)
    angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.025, 0.06)
    if confuses:
        named = int(rng.choice([n for n in range(len(OBJECTS)) if n != named]))
    allowed = [b for b in range(len(BIN_NAMES)) if b != DESTINATIONS[SWAPPED][named]]
    goal = int(rng.choice(allowed)) if strays or to not in allowed else to
    beside = (far * np.cos(angle), far * np.sin(angle)) if misses else (0.0, 0.0)
    return Habit(Errand(named, goal, lets_go=bool(drops)), beside)
