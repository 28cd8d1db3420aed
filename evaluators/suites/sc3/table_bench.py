"""The suite's own table as a bench: starts drawn anew in any size, the seven policies, the arm as
the loop knows it, practice, and what a handed-in rollout is replayed with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import PolicyView, RobotPolicy
from evaluators.suites.sc3.rollouts.driving import DriveConfig, DrivenEpisode
from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, real
from evaluators.suites.sc3.rollouts.replay import ReplayBench
from evaluators.suites.sc3.rollouts.trajectories import Trajectory
from evaluators.suites.sc3.samples import on_the_table, policies, starts
from evaluators.worlds.actions import RATE_HZ, Actions
from evaluators.worlds.bussing.bench import arm_after, run, set_table
from evaluators.worlds.bussing.starts import Start, draw_start
from evaluators.worlds.bussing.views import SMALL, VIEWS, Frames, film, render
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.pictures import Size
from evaluators.worlds.policies.plans import Observation
from evaluators.worlds.policies.policies import Policy, checkpoints

Floats = npt.NDArray[np.float32]

CONFIG = DriveConfig(BENCH.execute, BENCH.limit, BENCH.compared, BENCH.batch)


@dataclass(frozen=True, slots=True)
class TablePolicy:
    """One of the seven as it acts on one view."""

    policy: Policy

    def act(self, view: PolicyView) -> Floats:
        """What it proposes."""
        arm = np.asarray(view.proprioception, np.float64)
        seen = Observation(view.frames, arm, view.instruction, view.step, view.seed)
        return np.asarray(self.policy.propose([seen])[0], np.float32)


@dataclass(frozen=True, slots=True)
class TableBench:
    """Our table, as far as a rollout or a kit has to know it."""

    config: DriveConfig = CONFIG
    rate: float = RATE_HZ
    views: tuple[str, ...] = VIEWS
    native: tuple[int, int] = (SMALL.height, SMALL.width)

    def policies(self) -> Mapping[int, RobotPolicy]:
        """The seven."""
        return {number: TablePolicy(policy) for number, policy in policies().items()}

    def driven(self, start: str, mode: str, size: tuple[int, int]) -> DrivenEpisode:
        """What to roll out from a start, drawn in that size."""
        number, begun = starts()[start]
        recording = on_the_table(number)[start].actions
        return DrivenEpisode(
            start,
            number,
            begun.instruction,
            begun.seed,
            render(set_table([begun]), [begun], Size(*size))[0],
            _arm(begun, recording[:0]),
            recording if mode == "offline" else None,
        )

    def arm(self, episode: DrivenEpisode, _frames: Frames, actions: Actions) -> Floats:
        """Where the commanded actions bring the arm: joints are read out, also on a robot."""
        return _arm(starts()[episode.id][1], actions)

    def practice(self, count: int, size: tuple[int, int]) -> Iterator[RobotEpisode]:
        """Runs of the policies in distribution from starts that nobody is measured on."""
        inside = [c for c in checkpoints() if c.split == "in_distribution"]
        for number in range(count):
            checkpoint = inside[number % len(inside)]
            start = draw_start(f"kit-{number:05d}", checkpoint.task)
            (run_of_it,) = real(policies(), [Episode(checkpoint.id, start)], BENCH)
            yield _episode(start, run_of_it.actions, size)


def replay_bench(rollout: Trajectory) -> ReplayBench:
    """What a rollout from one of the suite's starts is replayed with, in its own size."""
    bench, (number, _) = TableBench(), starts()[rollout.start]
    height, width = rollout.frames.shape[2:4]
    return ReplayBench(
        bench.driven(rollout.start, rollout.source, (height, width)),
        TablePolicy(policies()[number]),
        bench.arm,
        on_the_table(number)[rollout.start].actions,
        bench.config,
    )


def _episode(start: Start, actions: Actions, size: tuple[int, int]) -> RobotEpisode:
    states = run(set_table([start]), actions[None])
    first = render(set_table([start]), [start], Size(*size))[0][:, None]
    frames = np.concatenate([first, film(states, [start], Size(*size))[0]], axis=1)
    arms = np.stack([_arm(start, actions[:step]) for step in range(len(actions) + 1)])
    return RobotEpisode(dict(zip(VIEWS, frames, strict=True)), actions, arms, start.instruction)


def _arm(start: Start, actions: Actions) -> Floats:
    return np.asarray(arm_after([start], actions[None])[0], np.float32)
