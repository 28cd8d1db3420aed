"""Robot policies on the simulated bench: what is asked of one, and the seven that an evaluator has
to tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.starts import FORWARD, REVERSED, SPLITS, Start, draw_start, seed_of
from evaluators.worlds.policies.learned import learned_choice
from evaluators.worlds.policies.perception import PerceivedObjects, parse_instruction, perceive
from evaluators.worlds.policies.plans import GraspIntent, Observation, plan

STARTS = 36


class Policy(Protocol):
    """Proposes the next 25 actions for each of some observations: [observations, 25, 7]."""

    def propose(self, observations: Sequence[Observation]) -> Actions: ...


@dataclass(frozen=True, slots=True)
class Faults:
    """How often a scripted policy goes for the other object, grips beside it, lets go too soon,
    takes the other bin."""

    wrong_object: float = 0.0
    miss: float = 0.0
    drop: float = 0.0
    wrong_bin: float = 0.0


@dataclass(frozen=True, slots=True)
class Scripted:
    """Looks, plans and goes; its faults are drawn once an episode from the episode's own seed.

    With `demonstrations` it learned from that many which of two things a name means, instead of
    being told.
    """

    name: str
    faults: Faults
    demonstrations: int = 0

    def propose(self, observations: Sequence[Observation]) -> Actions:
        """One plan an observation."""
        return np.stack(
            [plan(observation, self._wish(observation)) for observation in observations]
        )

    def _wish(self, observation: Observation) -> GraspIntent:
        rng = np.random.default_rng(seed_of(self.name, observation.seed))
        wrong, miss, drop, other_bin = rng.random(4) < (
            self.faults.wrong_object,
            self.faults.miss,
            self.faults.drop,
            self.faults.wrong_bin,
        )
        angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.13, 0.16)
        name, to = parse_instruction(observation.instruction)
        perceived = perceive(observation.frames[0], name)
        target = self._target(perceived, name, bool(wrong))
        beside = (far * np.cos(angle), far * np.sin(angle)) if miss else (0.0, 0.0)
        return GraspIntent(target, beside, bool(drop), 1 - to if other_bin else to)

    def _target(self, perceived: PerceivedObjects, name: str, wrong: bool) -> tuple[float, float]:
        if self.demonstrations:
            wrong ^= not learned_choice(self.demonstrations, name, perceived)
        return perceived.distractor if wrong else perceived.named


@dataclass(frozen=True, slots=True)
class PolicyCheckpoint:
    """One of the policies that are evaluated: its task and how it acts."""

    id: int
    task: str
    title: str
    policy: Policy

    @property
    def split(self) -> str:
        """In or out of the distribution that the world models are trained on."""
        return SPLITS[self.task]


@cache
def checkpoints() -> tuple[PolicyCheckpoint, ...]:
    """Four on the forward task and three on the reversed, from poor to good."""
    entries = (
        (FORWARD, "careful script", Scripted("p1", Faults(0.03, 0.03, 0.05, 0.0))),
        (
            FORWARD,
            "learned from 40 demonstrations",
            Scripted("p2", Faults(0.0, 0.15, 0.1, 0.05), 40),
        ),
        (FORWARD, "clumsy script", Scripted("p3", Faults(0.1, 0.55, 0.1, 0.0))),
        (FORWARD, "script that mixes up objects", Scripted("p4", Faults(0.7, 0.2, 0.1, 0.05))),
        (REVERSED, "careful script", Scripted("p5", Faults(0.05, 0.08, 0.08, 0.05))),
        (REVERSED, "script that lets go", Scripted("p6", Faults(0.2, 0.15, 0.55, 0.2))),
        (
            REVERSED,
            "learned from 6 demonstrations, clumsy",
            Scripted("p7", Faults(0.15, 0.5, 0.2, 0.1), 6),
        ),
    )
    return tuple(PolicyCheckpoint(number, *parts) for number, parts in enumerate(entries, 1))


def starts_of(
    checkpoint: PolicyCheckpoint, count: int = STARTS, kind: str = "test"
) -> tuple[Start, ...]:
    """The starts of a policy, the same in every source; another kind gives others, for tuning
    say."""
    return tuple(
        draw_start(f"{kind}-p{checkpoint.id}-{number:02d}", checkpoint.task)
        for number in range(count)
    )


def policy_of(policies: Mapping[int, Policy], number: int) -> Policy:
    """The policy of that number, or a message that names those there are."""
    if number not in policies:
        available = ", ".join(str(name) for name in sorted(policies)) or "none"
        raise KeyError(
            f"Policy {number} is missing; there are {available}. Give every policy that has starts."
        )
    return policies[number]
