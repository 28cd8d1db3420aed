"""On the suite's own table nothing is believed that can be done again: each hand-in that claims
what did not happen is refused by name, where rollouts are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Sample
from evaluators.contracts.world_model import World
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.producing import roll_out
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts import replay
from evaluators.suites.sc3.rollouts.replay import ContradictedRollout
from evaluators.suites.sc3.rollouts.trajectories import OutcomeAnnotation, Trajectory, to_bytes
from evaluators.suites.sc3.table_bench import CONFIG
from evaluators.worlds.tabletop.blind import frozen
from tests.suites.sc3.rolled import DEMO, playback

ONLINE = [sample for sample in DEMO if sample.facets.setting == "online"]


def rolled_out(world: World, sample: Sample) -> Trajectory:
    return roll_out(world, [sample])[0]


@pytest.fixture(scope="module")
def honest() -> Trajectory:
    return rolled_out(playback(), ONLINE[0])


def name_of_refusal(rollout: Trajectory, folder: Path) -> str:
    (folder / "one.npz").write_bytes(to_bytes(rollout))
    with pytest.raises(ContradictedRollout) as error:
        read(ONLINE[0], folder / "one.npz")
    assert error.value.name in str(error.value)
    return error.value.name


def test_an_honest_rollout_is_taken(honest: Trajectory, tmp_path: Path) -> None:
    (tmp_path / "one.npz").write_bytes(to_bytes(honest))

    assert read(ONLINE[0], tmp_path / "one.npz")["steps"] == CONFIG.limit


def test_zero_actions_are_refused(honest: Trajectory, tmp_path: Path) -> None:
    nothing = replace(honest, actions=np.zeros_like(honest.actions))

    assert name_of_refusal(nothing, tmp_path) == replay.OTHER_ACTIONS


def test_frames_of_another_start_are_refused(honest: Trajectory, tmp_path: Path) -> None:
    other = rolled_out(playback(), ONLINE[1])

    assert (
        name_of_refusal(replace(honest, frames=other.frames), tmp_path) == replay.OTHER_FIRST_FRAME
    )


def test_a_grey_first_frame_is_refused(honest: Trajectory, tmp_path: Path) -> None:
    grey = honest.frames.copy()
    grey[:, 0] = 128

    assert name_of_refusal(replace(honest, frames=grey), tmp_path) == replay.BLANK_FIRST_FRAME


def test_u_that_contradicts_tau_is_refused(honest: Trajectory, tmp_path: Path) -> None:
    padded = np.concatenate([honest.actions, np.zeros((8, 7), np.float32)])
    recovered = padded.reshape(13, 16, 7)
    recovered[..., 0] += 1.0
    claimed = replace(honest, u_chunk=np.ones(13, np.float32), recovered=recovered, tau=0.5)

    assert name_of_refusal(claimed, tmp_path) == replay.WRONG_STOP
    lower = replace(claimed, u_chunk=np.full(13, 0.1, np.float32))
    assert name_of_refusal(lower, tmp_path) == replay.WRONG_U


def test_frozen_frames_with_own_labels_are_refused(tmp_path: Path) -> None:
    still = rolled_out(frozen(), ONLINE[0])
    named = str(ONLINE[0].reference["object"])
    success = OutcomeAnnotation("own", named, ObjectOutcome(True, True, True))

    assert name_of_refusal(replace(still, annotations=(success,)), tmp_path) == replay.STILL_FRAMES
