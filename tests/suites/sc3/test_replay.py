"""Hand-ins are done again: each way to claim what did not happen is refused by its name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.rollouts import replay
from evaluators.suites.sc3.rollouts.driving import DrivenEpisode, drive
from evaluators.suites.sc3.rollouts.replay import (
    ContradictedRollout,
    ReplayBench,
    check_by_replay,
)
from evaluators.suites.sc3.rollouts.trajectories import OutcomeAnnotation, Trajectory
from tests.suites.sc3.dots import CONFIG, Seeker, dot_world, start, summed

RECORDED = np.full((30, 7), 0.03, np.float32)
SUCCESS = (OutcomeAnnotation("ours", "can", ObjectOutcome(True, True, True)),)


def bench(episode: DrivenEpisode) -> ReplayBench:
    return ReplayBench(episode, Seeker(), summed, RECORDED, CONFIG)


def rolled(tau: float | None = None, episode: DrivenEpisode | None = None) -> Trajectory:
    return drive(dot_world(tau), {1: Seeker()}, [episode or start()], summed, CONFIG)[0]


def failed(rollout: Trajectory) -> str:
    with pytest.raises(ContradictedRollout) as error:
        check_by_replay(rollout, bench(start()))
    assert error.value.name in str(error.value)
    return error.value.name


def test_an_honest_rollout_passes_online_stopped_and_offline() -> None:
    stopped = rolled(tau=0.01)

    check_by_replay(rolled(), bench(start()))
    check_by_replay(stopped, bench(start()))
    check_by_replay(rolled(episode=start(recorded=RECORDED)), bench(start()))

    assert stopped.terminated_at is not None


def test_zero_actions_are_refused() -> None:
    assert failed(replace(rolled(), actions=np.zeros((40, 7), np.float32))) == replay.OTHER_ACTIONS


def test_frames_of_another_start_are_refused() -> None:
    other = rolled(episode=start("start-1", (0.7, 0.1)))

    assert failed(other) == replay.OTHER_FIRST_FRAME


def test_a_grey_first_frame_is_refused() -> None:
    honest = rolled()
    frames = honest.frames.copy()
    frames[:, 0] = 128

    assert failed(replace(honest, frames=frames)) == replay.BLANK_FIRST_FRAME


def test_u_that_contradicts_tau_is_refused_whether_it_went_on_or_stopped() -> None:
    honest = rolled()
    low = float(honest.u_chunk.min()) / 2

    assert failed(replace(honest, tau=low)) == replay.WRONG_STOP
    stopped = rolled(tau=0.01)
    assert failed(replace(stopped, tau=9.0)) == replay.WRONG_STOP
    assert failed(replace(stopped, tau=None)) == replay.WRONG_STOP


def test_u_that_does_not_follow_from_recovered_actions_is_refused() -> None:
    honest = rolled()

    assert failed(replace(honest, u_chunk=honest.u_chunk * 0)) == replay.WRONG_U
    assert failed(replace(honest, u_chunk=honest.u_chunk[:1], recovered=honest.recovered[:1])) == (
        replay.WRONG_U
    )
    assert failed(replace(honest, action_scale=(9.0,) * 7)) == replay.WRONG_U


def test_frozen_frames_with_labels_of_success_are_refused() -> None:
    frozen = replace(
        dot_world(inverse=False),
        forward=lambda requests: [np.repeat(r.context[:, -1:], 24, axis=1) for r in requests],
    )
    (still,) = drive(frozen, {1: Seeker()}, [start()], summed, CONFIG)

    check_by_replay(still, bench(start()))

    assert failed(replace(still, annotations=SUCCESS)) == replay.STILL_FRAMES


def test_actions_of_another_recording_or_length_are_refused_offline() -> None:
    offline = rolled(episode=start(recorded=RECORDED))

    assert failed(replace(offline, actions=RECORDED * 0.5)) == replay.OTHER_RECORDING
    short = replace(offline, actions=RECORDED[:5], frames=offline.frames[:, :6])
    assert failed(short) == replay.WRONG_LENGTH
    assert failed(replace(offline, terminated_at=1)) == replay.WRONG_STOP


def test_frames_that_changed_after_the_policy_looked_are_found_by_its_actions() -> None:
    honest = rolled()
    frames = honest.frames.copy()
    frames[:, 16] = frames[:, 0]

    assert failed(replace(honest, frames=frames)) == replay.OTHER_ACTIONS
