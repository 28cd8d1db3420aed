"""What really happens from a sample's start, as the file that stands beside every rollout from
there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluators.contracts import Sample
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.samples import on_the_table, starts


def real_rollout(sample: Sample) -> bytes:
    """The real table's rollout, which is simulated here; the same for both modes of a start."""
    policy, start = starts()[sample.cluster]
    return to_bytes(on_the_table(policy)[start.id])


def hand_out(sample: Sample, folder: Path) -> str:
    """Write what an evaluator is given, once: the first frames of all views, what the robot is
    told, and in the offline mode the recorded actions. What becomes of them is not in it."""
    policy, start = starts()[sample.cluster]
    target = folder / f"{sample.id}.npz"
    if not target.exists():
        rollout = on_the_table(policy)[start.id]
        actions = rollout.actions if sample.facets.setting == "offline" else rollout.actions[:0]
        np.savez_compressed(
            target,
            first=rollout.frames[:, 0],
            actions=actions,
            instruction=np.array(sample.prompt),
            policy=np.array(policy),
        )
    return target.name
