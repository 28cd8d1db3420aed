"""How a handed-in dynamics model makes rollouts: the same loops as everywhere, a shard at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.contracts import Generator, Outcome, Output, Production, Sample
from evaluators.suites.sc3.rollouts import BENCH, RolloutConfig, roll_out
from evaluators.suites.sc3.samples import episodes, policies
from evaluators.suites.sc3.trajectories import to_bytes
from evaluators.suites.sc3.worlds import WorldModel


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Rolls policies out inside a world model, in batches cut in the same places."""

    world: WorldModel
    config: RolloutConfig

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One npz a sample; a world model that fails on a batch fails on its samples, with its reason."""
        for first in range(0, len(samples), self.config.batch):
            batch = samples[first : first + self.config.batch]
            try:
                made = roll_out(self.world, policies(), episodes(batch), self.config)
            except ValueError as error:
                yield from (Output(sample.id, Outcome.MODEL_FAILED, reason=str(error)) for sample in batch)
                continue
            for sample, trajectory in zip(batch, made, strict=True):
                path = folder / f"{sample.id}.npz"
                path.write_bytes(to_bytes(trajectory))
                yield Output(sample.id, Outcome.SCORED, path)


def produce(production: Production) -> Generator:
    """A generator around the dynamics model in a folder; its own tau, if it has one, stops it online."""
    from evaluators.models.dynamics_world import open_world

    world = open_world(production.folder, "handed in")
    config = world.model.config
    return Rollouts(world.world(), replace(BENCH, horizon=config.horizon, tau=config.tau))
