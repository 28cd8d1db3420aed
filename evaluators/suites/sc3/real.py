"""What really happens from a sample's start, as the file that stands beside every rollout from
there, and what an evaluator is given."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from evaluators.contracts import Sample
from evaluators.suites.sc3.rollouts.trajectories import Trajectory, to_bytes
from evaluators.suites.sc3.samples import folder_of, recording_of, start_of
from evaluators.suites.sc3.table.recordings import TableRecording, read_recording


def real_rollout(sample: Sample) -> bytes:
    """The real run, which is simulated here; the same for both modes of a start. Between the frames
    that are kept the last one stands still."""
    return _packed(folder_of(sample), start_of(sample))


@lru_cache(maxsize=128)
def _packed(folder: Path, start: str) -> bytes:
    """Every entry asks for the same runs, and packing one takes a tenth of a second."""
    return to_bytes(as_rollout(read_recording(folder, start)))


def as_rollout(recording: TableRecording) -> Trajectory:
    """A recording in the form of a rollout."""
    actions = recording.actions
    return Trajectory(
        start=recording.start.id,
        policy=recording.policy,
        source="real",
        evaluator="",
        frames=recording.frames(),
        actions=actions,
        recovered=np.zeros((0, 0, actions.shape[1]), np.float32),
        u_chunk=np.zeros(0, np.float32),
    )


def hand_out(sample: Sample, folder: Path) -> str:
    """Write what an evaluator is given, once: the first frames of all views, what the robot is
    told, and in the offline mode the recorded actions. What becomes of them is not in it."""
    target = folder / f"{sample.id}.npz"
    if not target.exists():
        recording = recording_of(sample)
        offline = sample.facets.setting == "offline"
        np.savez_compressed(
            target,
            first=recording.first,
            actions=recording.actions if offline else recording.actions[:0],
            instruction=np.array(sample.prompt),
            policy=np.array(recording.policy),
        )
    return target.name
