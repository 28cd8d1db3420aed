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

    def read(self, rollouts: Sequence[Trajectory]) -> tuple[ObjectOutcome, ...]:
        """What the annotator of the board sees in rollouts."""
        return annotate(rollouts, [episode.start for episode in self.episodes])

    def matches(self, predicted: Sequence[ObjectOutcome]) -> list[Match]:
        """What held in rollouts beside what really did."""
        splits = {checkpoint.id: checkpoint.split for checkpoint in checkpoints()}
        return [
            Match(e.start.id, e.policy, splits[e.policy], (was,), (now,))
            for e, was, now in zip(self.episodes, self.outcomes, predicted, strict=True)
        ]


def try_out(starts: int, kind: str = "test", config: RolloutConfig = BENCH) -> Trial:
    """So many starts of each policy; `kind` keeps starts for tuning apart from those that are
    measured on."""
    episodes = tuple(
        Episode(checkpoint.id, start)
        for checkpoint in checkpoints()
        for start in starts_of(checkpoint, starts, kind)
    )
    truth = real(policies(), episodes, config)
    outcomes = simulator().outcomes([e.start for e in episodes], [t.actions for t in truth])
    return Trial(policies(), episodes, truth, outcomes)
