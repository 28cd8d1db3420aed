"""Choosing the tau of a world model on starts that nobody is measured on."""

from __future__ import annotations

from dataclasses import replace

from evaluators.suites.sc3.agreement import agree
from evaluators.suites.sc3.rollouts.loops import RolloutConfig, roll_out
from evaluators.suites.sc3.rollouts.stopping import tune
from evaluators.suites.sc3.rollouts.trial import try_out
from evaluators.worlds.bussing.world_models import WorldModel

HELD_OUT = 5
"""Starts of each policy: 35 rollouts; the paper takes 30."""


def choose_tau(world: WorldModel, config: RolloutConfig, starts: int = HELD_OUT) -> float | None:
    """The tau with the best pooled r on held-out starts, as the automatic annotator reads them;
    None never stops."""
    if world.inverse is None:
        return None
    held_out = try_out(starts, "tuning", config)
    rollouts = roll_out(world, held_out.policies, held_out.episodes, replace(config, tau=None))
    return tune(
        rollouts, lambda cut: agree(held_out.matches(held_out.read(cut))).pearson_r, config.execute
    )
