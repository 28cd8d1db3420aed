"""The loops around any world that keeps the contract: what is looked at, kept, stopped, and whose
fault a fault is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluators.contracts.world_model import ForwardRequest, FunctionWorld
from evaluators.suites.sc3.rollouts.driving import WorldBroke, drive
from tests.suites.sc3.dots import CONFIG, Seeker, dot_world, place, pushed, start, summed

POLICIES = {1: Seeker()}


def test_online_the_policy_acts_on_frames_of_the_world() -> None:
    (rollout,) = drive(dot_world(), POLICIES, [start()], summed, CONFIG)

    assert rollout.frames.shape == (3, 41, 24, 24, 3) and rollout.actions.shape == (40, 7)
    assert place(rollout.frames[:, 0])[0] < 0.2 and place(rollout.frames[:, -1])[0] > 0.9
    assert len(rollout.u_chunk) == 3 and rollout.recovered.shape == (3, 16, 7)


def test_in_a_frozen_world_other_actions_follow() -> None:
    frozen = replace(
        dot_world(),
        forward=lambda requests: [np.repeat(r.context[:, -1:], 24, axis=1) for r in requests],
    )

    (moving,) = drive(dot_world(), POLICIES, [start()], summed, CONFIG)
    (still,) = drive(frozen, POLICIES, [start()], summed, CONFIG)

    assert (moving.actions[:16] == still.actions[:16]).all()
    assert np.abs(moving.actions[16:] - still.actions[16:]).max() > 0.05


def test_the_world_sees_as_much_of_the_past_as_its_card_says() -> None:
    shown: list[ForwardRequest] = []

    def watch(requests: list[ForwardRequest]) -> list[np.ndarray]:
        shown.extend(requests)
        return pushed(requests)

    world = dot_world(inverse=False)
    curious = FunctionWorld(replace(world.card, context=5), watch)  # type: ignore[arg-type]

    drive(curious, POLICIES, [start()], summed, CONFIG)

    assert [r.context.shape[1] for r in shown] == [1, 5, 5]
    assert [len(r.past_actions) for r in shown] == [0, 4, 4]
    assert len({r.seed for r in shown}) == 3 and all(len(r.actions) == 24 for r in shown)


def test_offline_the_recorded_actions_drive_and_nothing_stops() -> None:
    recorded = np.full((21, 7), 0.02, np.float32)

    (rollout,) = drive(dot_world(tau=0.0), {}, [start(recorded=recorded)], summed, CONFIG)

    assert rollout.source == "offline" and (rollout.actions == recorded).all()
    assert rollout.terminated_at is None and rollout.tau is None and len(rollout.u_chunk) == 2


def test_online_a_chunk_over_tau_is_thrown_away() -> None:
    drifting = replace(
        dot_world(tau=0.5),
        inverse=lambda requests: [
            np.full((r.frames.shape[1] - 1, 7), len(r.frames[0]) * 1.0, np.float32)
            for r in requests
        ],
    )

    (rollout,) = drive(drifting, POLICIES, [start()], summed, CONFIG)

    assert rollout.terminated_at == 0 and rollout.steps == 0 and len(rollout.u_chunk) == 1


def test_a_world_that_breaks_is_told_with_its_words_and_a_lost_device_is_ours() -> None:
    def breaks(error: Exception) -> FunctionWorld:
        def forward(_requests: object) -> list[np.ndarray]:
            raise error

        return FunctionWorld(dot_world().card, forward)

    with pytest.raises(WorldBroke, match="broke: KeyError, 'layer 3'"):
        drive(breaks(KeyError("layer 3")), POLICIES, [start()], summed, CONFIG)
    with pytest.raises(RuntimeError, match="CUDA error"):
        drive(breaks(RuntimeError("CUDA error: lost")), POLICIES, [start()], summed, CONFIG)
    with pytest.raises(MemoryError):
        drive(breaks(MemoryError()), POLICIES, [start()], summed, CONFIG)


def test_a_world_of_another_size_or_horizon_is_refused_at_once() -> None:
    world = dot_world()

    with pytest.raises(WorldBroke, match="takes frames of"):
        drive(
            replace(world, card=replace(world.card, height=8)), POLICIES, [start()], summed, CONFIG
        )
    with pytest.raises(WorldBroke, match="looks 8 actions ahead"):
        drive(
            replace(world, card=replace(world.card, chunk=8)), POLICIES, [start()], summed, CONFIG
        )
