"""Rollouts inside a dynamics model in batches against one by one: `make bench NAME=rollouts`."""

from __future__ import annotations

from time import perf_counter

import torch

from evaluators.models.dynamics.model import Dynamics, DynamicsConfig
from evaluators.models.dynamics.tokeniser import EyesConfig, Tokeniser
from evaluators.models.dynamics.world import DynamicsWorld
from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, roll_out
from evaluators.worlds.policies.policies import checkpoints, starts_of
from tests.bench.report import Row, at_least, report, shown

BATCHES = (1, 4, 16)
POLICIES = {one.id: one.policy for one in checkpoints()}
EPISODES = [Episode(one.id, start) for one in checkpoints() for start in starts_of(one, 16)][:64]
ROUNDS = 3
FASTER = 1.5
"""Sixteen at once must be so much faster than one by one."""


def rows() -> list[Row]:
    """Rollouts a second with each batch over those one by one, best of three rounds in turn;
    untrained weights."""
    world = DynamicsWorld(Dynamics(DynamicsConfig()), Tokeniser(EyesConfig()), "untrained").world()
    best = dict.fromkeys(BATCHES, 0.0)
    for _ in range(ROUNDS):
        for size in BATCHES:
            begun = perf_counter()
            for first in range(0, len(EPISODES), size):
                roll_out(world, POLICIES, EPISODES[first : first + size], BENCH)
            best[size] = max(best[size], len(EPISODES) / (perf_counter() - begun))
    one, four, sixteen = (best[size] for size in BATCHES)
    return [
        shown("four rollouts at once against one by one", four / one),
        at_least("sixteen at once against one by one", sixteen / one, FASTER),
        shown("sixteen at once against four", sixteen / four),
    ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(report("rollouts", rows()))
