"""Choosing the tau of a world model on starts that nobody is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluators.suites.sc3.agreement import Match, agree
from evaluators.suites.sc3.reading import annotate
from evaluators.suites.sc3.rollouts import Episode, RolloutConfig, real, roll_out
from evaluators.suites.sc3.samples import policies
from evaluators.suites.sc3.stopping import tune
from evaluators.suites.sc3.trajectories import Trajectory
from evaluators.suites.sc3.worlds import WorldModel, simulator
from evaluators.worlds.policies import checkpoints, starts_of

HELD_OUT = 5
"""Starts of each policy: 35 rollouts; the paper takes 30."""


def choose_tau(world: WorldModel, config: RolloutConfig, starts: int = HELD_OUT) -> float | None:
    """The tau with the best pooled r on held-out starts, as the automatic annotator reads them; None never stops."""
    if world.inverse is None:
        return None
    splits = {one.id: one.split for one in checkpoints()}
    episodes = [Episode(one.id, start) for one in checkpoints() for start in starts_of(one, starts, "tuning")]
    begun = [episode.start for episode in episodes]
    truth = simulator().outcomes(begun, [one.actions for one in real(policies(), episodes, config)])
    made = roll_out(world, policies(), episodes, replace(config, tau=None))

    def pearson(rollouts: Sequence[Trajectory]) -> float | None:
        rows = zip(episodes, truth, annotate(rollouts, begun), strict=True)
        return agree([Match(e.start.id, e.policy, splits[e.policy], (was,), (now,)) for e, was, now in rows]).pearson_r

    return tune(made, pearson, config.execute)
