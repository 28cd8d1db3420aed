"""The policies on the table itself, from some starts: what every evaluator is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match
from evaluators.suites.sc3.reading import annotate
from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, RolloutConfig, real
from evaluators.suites.sc3.rollouts.trajectories import Trajectory
from evaluators.suites.sc3.samples import policies
from evaluators.worlds.bussing.world_models import simulator
from evaluators.worlds.policies.policies import Policy, checkpoints, starts_of


@dataclass(frozen=True, slots=True)
class Trial:
    """The policies, their starts, and what really happened."""

    policies: Mapping[int, Policy]
    episodes: tuple[Episode, ...]
    truth: tuple[Trajectory, ...]
    outcomes: tuple[ObjectOutcome, ...]

    def recorded(self) -> tuple[Episode, ...]:
        """The same starts, driven by the recorded actions."""
        return tuple(
            replace(e, recorded=t.actions) for e, t in zip(self.episodes, self.truth, strict=True)
        )

    def read(self, made: Sequence[Trajectory]) -> tuple[ObjectOutcome, ...]:
        """What the annotator of the board sees in rollouts."""
        return annotate(made, [episode.start for episode in self.episodes])

    def matches(self, found: Sequence[ObjectOutcome]) -> list[Match]:
        """What held in rollouts beside what really did."""
        splits = {one.id: one.split for one in checkpoints()}
        return [
            Match(e.start.id, e.policy, splits[e.policy], (was,), (now,))
            for e, was, now in zip(self.episodes, self.outcomes, found, strict=True)
        ]


def try_out(starts: int, kind: str = "test", config: RolloutConfig = BENCH) -> Trial:
    """So many starts of each policy, of a kind of their own for what nobody is measured on."""
    episodes = tuple(
        Episode(one.id, start) for one in checkpoints() for start in starts_of(one, starts, kind)
    )
    truth = real(policies(), episodes, config)
    outcomes = simulator().outcomes([e.start for e in episodes], [t.actions for t in truth])
    return Trial(policies(), episodes, truth, outcomes)
