"""What really happens from a sample's start, as the file that stands beside every rollout from
there."""

from __future__ import annotations

from evaluators.contracts import Sample
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.samples import on_the_table, starts


def real_rollout(sample: Sample) -> bytes:
    """The real table's rollout, which is simulated here; the same for both modes of a start."""
    policy, start = starts()[sample.cluster]
    return to_bytes(on_the_table(policy)[start.id])
