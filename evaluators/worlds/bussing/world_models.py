"""What is asked of a world model, and the simulated ones that bound every learned one from above
and below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.bench import GRASP, BenchState, outcomes, run, set_table
from evaluators.worlds.bussing.starts import Start, seed_of
from evaluators.worlds.bussing.views import SMALL, Frames, film
from evaluators.worlds.pictures import Size

NOISE_LEVELS = (0.004, 0.012, 0.03)
"""How far a noisy simulator's hand strays at each step, in table widths."""


@dataclass(frozen=True, slots=True)
class Context:
    """What has happened so far in some episodes: frames [episodes, views, steps + 1, height, width,
    RGB], actions."""

    starts: tuple[Start, ...]
    frames: Frames
    actions: Actions

    @property
    def step(self) -> int:
        """How many actions were executed."""
        return int(self.actions.shape[1])


Forward = Callable[[Context, Actions], Frames]
"""The frames after each action: [episodes, views, steps, height, width, RGB]."""

Inverse = Callable[[Context, Frames], Actions]
"""The actions that lead from the context's last frame through these frames: [episodes, steps,
7]."""


@dataclass(frozen=True, slots=True)
class WorldModel:
    """An evaluator of policies. Without an inverse there is no U and no early stop.

    `scale` is what commanded and recovered actions are divided by before they are compared; none
    compares them raw. `revision` tells models of one name apart: the hash of the weights, say.
    """

    name: str
    forward: Forward
    inverse: Inverse | None = None
    scale: npt.NDArray[np.float32] | None = None
    revision: str = ""

    @property
    def action_space(self) -> str:
        """The units of U, which are never comparable between evaluators."""
        return "raw" if self.scale is None else "normalised"


Meddle = Callable[[Sequence[Start], Actions], Actions]


@dataclass(frozen=True, slots=True)
class Simulated:
    """The bench itself as a world model, with actions as given or meddled with; it knows its own
    truth."""

    name: str
    meddle: Meddle
    size: Size = SMALL
    grasp: float = GRASP

    def world(self) -> WorldModel:
        """The simulator behind the interface: it replays what was executed and goes on from
        there."""
        return WorldModel(self.name, self._forward)

    def outcomes(
        self, starts: Sequence[Start], actions: Sequence[Actions]
    ) -> tuple[ObjectOutcome, ...]:
        """What really holds in this world after these actions; episodes may differ in length."""
        outcome_by_start: dict[int, ObjectOutcome] = {}
        for length in {len(rows) for rows in actions}:
            numbers = [number for number, rows in enumerate(actions) if len(rows) == length]
            same = [starts[number] for number in numbers]
            states = [
                set_table(same),
                *self._states(same, np.stack([actions[number] for number in numbers])),
            ]
            outcome_by_start.update(zip(numbers, outcomes(states[-1], same), strict=True))
        return tuple(outcome_by_start[number] for number in range(len(starts)))

    def _forward(self, context: Context, actions: Actions) -> Frames:
        states = self._states(context.starts, np.concatenate([context.actions, actions], axis=1))
        return film(states[context.step :], context.starts, self.size)[:, : context.frames.shape[1]]

    def _states(self, starts: Sequence[Start], actions: Actions) -> list[BenchState]:
        return run(set_table(starts), self.meddle(starts, actions), self.grasp)


def simulator(size: Size = SMALL) -> Simulated:
    """The perfect world model: the ceiling of every board."""
    return Simulated("simulator", _as_given, size)


def never_grasps(size: Size = SMALL) -> Simulated:
    """A simulator in which nothing ever stays in the hand."""
    return Simulated("never grasps", _as_given, size, grasp=0.0)


def noisy_simulator(level: float, size: Size = SMALL) -> Simulated:
    """A simulator whose hand strays at random, the same way whenever the episode is run."""
    return Simulated(
        f"noisy simulator {level:g}", lambda starts, actions: _stray(starts, actions, level), size
    )


def copy_last_frame() -> WorldModel:
    """A world in which nothing ever happens, whatever is done."""
    return WorldModel("copy of the last frame", _repeat)


def _repeat(context: Context, actions: Actions) -> Frames:
    return np.repeat(context.frames[:, :, -1:], actions.shape[1], axis=2)


def _as_given(_starts: Sequence[Start], actions: Actions) -> Actions:
    return actions


def _stray(starts: Sequence[Start], actions: Actions, level: float) -> Actions:
    changed = actions.copy()
    for number, start in enumerate(starts):
        rng = np.random.default_rng(seed_of("stray", level, start.id))
        changed[number, :, :3] += rng.normal(0, level, (actions.shape[1], 3))
    return changed
