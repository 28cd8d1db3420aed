"""Rollouts: loops as specified, trajectories kept whole, a perfect and a dead world model at the
two ends."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match, agree, points
from evaluators.suites.sc3.rollouts.loops import (
    BENCH,
    PAPER,
    Episode,
    RolloutConfig,
    WorldFailed,
    real,
    roll_out,
)
from evaluators.suites.sc3.rollouts.trajectories import (
    BadTrajectory,
    OutcomeAnnotation,
    Trajectory,
    check,
    describe,
    from_bytes,
    to_bytes,
)
from evaluators.worlds.actions import Actions, BadActions
from evaluators.worlds.bussing.views import Frames
from evaluators.worlds.bussing.world_models import (
    Context,
    Simulated,
    WorldModel,
    copy_last_frame,
    never_grasps,
    noisy_simulator,
    simulator,
)
from evaluators.worlds.pictures import Size
from evaluators.worlds.policies.plans import Observation
from evaluators.worlds.policies.policies import Policy, checkpoints, starts_of

Made = tuple[Trajectory, ...]
POLICIES: dict[int, Policy] = {one.id: one.policy for one in checkpoints()}
EPISODES = tuple(Episode(one.id, start) for one in checkpoints() for start in starts_of(one, 4))


@pytest.fixture(scope="module")
def on_the_table() -> Made:
    return real(POLICIES, EPISODES, BENCH)


def matches(on_the_table: Made, simulated: Simulated, made: Made) -> list[Match]:
    starts = [episode.start for episode in EPISODES]
    truth = simulator().outcomes(starts, [one.actions for one in on_the_table])
    found = simulated.outcomes(starts, [one.actions for one in made])
    splits = {one.id: one.split for one in checkpoints()}
    return [
        Match(episode.start.id, episode.policy, splits[episode.policy], (was,), (now,))
        for episode, was, now in zip(EPISODES, truth, found, strict=True)
    ]


def with_noise(strength: float) -> WorldModel:
    """A world with an inverse that reads actions off with so much error; a chunk has 13 steps of
    16."""
    perfect = simulator().world()

    def inverse(context: Context, frames: Frames) -> Actions:
        return np.full((len(context.starts), frames.shape[2], 7), strength, np.float32)

    return WorldModel("noisy reader", perfect.forward, inverse)


def test_the_simulator_behind_the_interface_is_a_perfect_evaluator(on_the_table: Made) -> None:
    made = roll_out(simulator().world(), POLICIES, EPISODES, BENCH)

    found = agree(matches(on_the_table, simulator(), made))

    assert found.pearson_r == pytest.approx(1.0)
    assert (found.mmrv, found.reproduction.average) == (0.0, 1.0)
    assert found.pearson_r_within == 1.0 and found.rate_error == 0.0
    assert all(
        np.array_equal(one.frames, other.frames)
        for one, other in zip(made, on_the_table, strict=True)
    )


def test_a_world_in_which_nothing_happens_has_no_pearson_and_ranks_under_never_grasps(
    on_the_table: Made,
) -> None:
    made = roll_out(copy_last_frame(), POLICIES, EPISODES, BENCH)
    nothing = (ObjectOutcome(False, False, False),)
    dead = [
        replace(match, rollout=nothing)
        for match in matches(on_the_table, simulator(), on_the_table)
    ]
    never = roll_out(never_grasps().world(), POLICIES, EPISODES, BENCH)
    open_handed = agree(matches(on_the_table, never_grasps(), never))

    found = agree(dead)

    assert all((one.frames == one.frames[:, :1]).all() for one in made)
    assert found.pearson_r is None and found.pearson_r_within is None
    assert (found.reproduction.average or 0) < (open_handed.reproduction.average or 0)


def test_more_noise_in_the_simulator_is_less_reproduction(on_the_table: Made) -> None:
    found = []
    for level in (0.0, 0.012, 0.06):
        noisy = noisy_simulator(level)
        found.append(
            agree(matches(on_the_table, noisy, roll_out(noisy.world(), POLICIES, EPISODES, BENCH)))
        )

    rates = [one.reproduction.average or 0.0 for one in found]
    assert rates[0] == 1.0 and rates[0] > rates[1] > rates[2]


def test_recorded_actions_drive_an_offline_rollout_and_u_never_stops_it(on_the_table: Made) -> None:
    recorded = [
        Episode(e.policy, e.start, t.actions)
        for e, t in zip(EPISODES[:8], on_the_table, strict=False)
    ]

    made = roll_out(with_noise(9.0), {}, recorded, replace(BENCH, tau=0.1))

    assert all(
        one.source == "offline" and one.terminated_at is None and len(one.u_chunk) == 4
        for one in made
    )
    assert all(one.tau is None for one in made)
    assert all(
        np.array_equal(one.frames, other.frames)
        for one, other in zip(made, on_the_table, strict=False)
    )


def test_a_recording_shorter_than_a_chunk_is_padded_and_the_padding_dropped(
    on_the_table: Made,
) -> None:
    short = Episode(1, EPISODES[0].start, on_the_table[0].actions[:20])

    (made,) = roll_out(simulator().world(), {}, [short], BENCH)

    assert made.steps == 20 and made.frames.shape[1] == 21
    assert np.array_equal(made.frames, on_the_table[0].frames[:, :21])


def test_a_recording_without_actions_is_refused() -> None:
    nothing = Episode(1, EPISODES[0].start, np.zeros((0, 7), np.float32))

    with pytest.raises(BadActions, match=r"recording of test-p1-00\.offline has no action"):
        roll_out(simulator().world(), {}, [nothing], BENCH)


def test_a_horizon_beyond_what_a_policy_proposes_goes_on_with_its_last_action() -> None:
    asked: list[Actions] = []

    def forward(context: Context, actions: Actions) -> Frames:
        asked.append(actions)
        return simulator().world().forward(context, actions)

    made = roll_out(WorldModel("far", forward), POLICIES, EPISODES[:1], replace(BENCH, horizon=32))
    near = roll_out(simulator().world(), POLICIES, EPISODES[:1], BENCH)

    assert asked[0].shape == (1, 32, 7) and (asked[0][:, 25:] == asked[0][:, 24:25]).all()
    assert np.array_equal(made[0].actions, near[0].actions)


def test_views_and_size_come_from_the_config() -> None:
    size = Size(32, 48)

    (made,) = roll_out(
        simulator(size).world(), POLICIES, EPISODES[:1], replace(BENCH, views=2, size=size)
    )

    assert made.frames.shape == (2, 57, 32, 48, 3)
    assert from_bytes(to_bytes(made), views=2).frames.shape == made.frames.shape
    with pytest.raises(BadTrajectory, match="2 views where 3"):
        from_bytes(to_bytes(made))


@pytest.mark.parametrize(
    ("changes", "said"), [({"horizon": 12}, "horizon is 12"), ({"views": 4}, "4 views")]
)
def test_a_config_that_cannot_be_rolled_out_is_refused(changes: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(BENCH, **changes)  # type: ignore[arg-type]
    assert RolloutConfig(horizon=16).horizon == RolloutConfig().execute


def test_the_last_chunk_is_cut_to_the_limit() -> None:
    assert PAPER.limit == 200 and (PAPER.horizon, PAPER.execute, PAPER.tau) == (24, 16, 0.02)
    (made,) = roll_out(with_noise(0.0), POLICIES, EPISODES[:1], BENCH)

    assert made.steps == 56 == 3 * 16 + 8 and len(made.u_chunk) == 4


def test_a_rollout_stops_where_u_exceeds_tau_and_keeps_what_came_before() -> None:
    stopped = roll_out(with_noise(5.0), POLICIES, EPISODES[:2], replace(BENCH, tau=1.0))
    going = roll_out(with_noise(5.0), POLICIES, EPISODES[:2], BENCH)

    assert all(
        one.terminated_at == 0 and one.steps == 0 and one.frames.shape[1] == 1 for one in stopped
    )
    assert all(one.terminated_at is None and one.steps == 56 for one in going)
    assert {one.tau for one in stopped} == {1.0} and {one.tau for one in going} == {None}


def test_a_rollout_stopped_early_stays_in_the_score(on_the_table: Made) -> None:
    found = matches(on_the_table, simulator(), on_the_table)
    stopped = [
        replace(one, rollout=(ObjectOutcome(True, False, False),)) if one.policy == 1 else one
        for one in found
    ]

    rates = {(point.policy, point.criterion): point.predicted for point in points(stopped)}

    assert rates[1, "language_following"] == 1.0 and rates[1, "object_lifting"] == 0.0


def test_a_missing_rollout_meets_nothing_and_is_counted(on_the_table: Made) -> None:
    found = matches(on_the_table, simulator(), on_the_table)

    agreed = agree([replace(found[0], rollout=None), *found[1:]])

    assert agreed.reproduction.n_missing == 1 and agreed.pearson_r is not None


def test_a_world_model_whose_views_are_out_of_step_is_refused() -> None:
    broken = WorldModel(
        "short", lambda context, actions: simulator().world().forward(context, actions)[:, :2]
    )

    with pytest.raises(WorldFailed, match="3 views in step"):
        roll_out(broken, POLICIES, EPISODES[:1], BENCH)


def test_whatever_breaks_inside_a_world_model_is_told_in_its_words() -> None:
    def forward(context: Context, actions: Actions) -> Frames:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(WorldFailed, match="'broken' broke: RuntimeError, mat1 and mat2"):
        roll_out(WorldModel("broken", forward), POLICIES, EPISODES[:1], BENCH)


class TooShort:
    """Proposes too few actions."""

    def propose(self, observations: Sequence[Observation]) -> Actions:
        return np.zeros((len(observations), 8, 7), np.float32)


def test_a_policy_that_proposes_too_few_actions_is_refused_and_a_missing_one_named() -> None:
    with pytest.raises(BadActions, match="8 actions where 25"):
        roll_out(simulator().world(), {1: TooShort()}, EPISODES[:1], BENCH)
    with pytest.raises(KeyError, match="Policy 1 is missing"):
        roll_out(simulator().world(), {}, EPISODES[:1], BENCH)


def test_a_trajectory_survives_its_file(on_the_table: Made) -> None:
    said = OutcomeAnnotation("ann", "blue bowl", ObjectOutcome(True, False, True))
    one = replace(on_the_table[0], annotations=(said,), tau=0.25)

    back = from_bytes(to_bytes(one))

    assert (
        to_bytes(back) == to_bytes(one)
        and back.annotations == (said,)
        and np.array_equal(back.frames, one.frames)
    )
    assert back.tau == 0.25


def relined(one: Trajectory, drop: str = "", **changes: object) -> bytes:
    """The file of a trajectory with another line of JSON in it."""
    with np.load(io.BytesIO(to_bytes(one))) as file:
        arrays = dict(file)
    line = {**describe(one), **changes}
    line.pop(drop, None)
    arrays["line"] = np.frombuffer(json.dumps(line).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def test_files_from_before_tau_was_written_down_still_load_and_a_strange_tau_is_refused(
    on_the_table: Made,
) -> None:
    assert from_bytes(relined(on_the_table[0], drop="tau")).tau is None
    with pytest.raises(BadTrajectory, match="tau is -1"):
        from_bytes(relined(on_the_table[0], tau=-1))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"actions": np.full((56, 7), np.inf, np.float32)}, BadActions, "finite"),
        ({"actions": np.zeros((56, 8), np.float32)}, BadActions, "7 numbers"),
        ({"actions": np.zeros((50, 7), np.float32)}, BadTrajectory, "57 frames for 50 actions"),
        ({"u_chunk": np.array([np.nan], np.float32)}, BadTrajectory, "U does not fit"),
    ],
)
def test_an_unsound_trajectory_is_refused_with_the_reason(
    on_the_table: Made, change: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        check(replace(on_the_table[0], **change))


def test_views_handed_in_one_by_one_must_be_in_step(on_the_table: Made, tmp_path: Path) -> None:
    one = on_the_table[0]
    line = np.load(io.BytesIO(to_bytes(one)))["line"]
    views = {
        "view_top": one.frames[0],
        "view_front": one.frames[1],
        "view_wrist": one.frames[2][:-1],
    }
    np.savez(
        tmp_path / "t.npz",
        line=line,
        actions=one.actions,
        recovered=one.recovered,
        u_chunk=one.u_chunk,
        **views,
    )

    with pytest.raises(BadTrajectory, match="out of step: top 57, front 57, wrist 56"):
        from_bytes((tmp_path / "t.npz").read_bytes())
    with pytest.raises(BadTrajectory, match="no trajectory"):
        from_bytes(b"PK nonsense")
