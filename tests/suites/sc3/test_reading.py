"""What is read off a rollout: one that is too short, too long or driven by other actions is refused
in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.contracts import ALL, Sample
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.loops import BENCH, roll_out
from evaluators.suites.sc3.rollouts.stopping import cut
from evaluators.suites.sc3.rollouts.trajectories import BadTrajectory, Trajectory, to_bytes
from evaluators.suites.sc3.samples import episodes, policies
from evaluators.suites.sc3.scoring import tabulate
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.views import Frames
from evaluators.worlds.bussing.world_models import (
    Context,
    WorldModel,
    copy_last_frame,
    never_grasps,
    simulator,
)
from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.suites.sc3.rolled import DEMO, bundle, cell, rolled, scored


def one_of(mode: str) -> tuple[Sample, Trajectory]:
    """A sample of the mode and a sound rollout for it, with a U for each of its four chunks."""
    sample = next(one for one in DEMO if one.facets.setting == mode)
    (made,) = roll_out(simulator().world(), policies(), episodes([sample]), BENCH)
    return sample, with_u(made, 0.5, 0.5, 0.5, 0.5)


def with_u(one: Trajectory, *us: float) -> Trajectory:
    """The same with actions recovered so far beside the commanded ones in each chunk."""
    commanded = np.concatenate([one.actions, np.zeros((8, 7), np.float32)]).reshape(4, 16, 7)
    recovered = commanded.copy()
    recovered[:, :, 0] += np.array(us, np.float32)[:, None]
    return replace(one, u_chunk=np.array(us, np.float32), recovered=recovered)


def shortened(one: Trajectory, steps: int) -> dict[str, Any]:
    return {"actions": one.actions[:steps], "frames": one.frames[:, : steps + 1]}


def lengthened(one: Trajectory, steps: int) -> dict[str, Any]:
    more = steps - one.steps
    frames = np.concatenate([one.frames, one.frames[:, -1:].repeat(more, axis=1)], axis=1)
    return {
        "actions": np.concatenate([one.actions, one.actions[-1:].repeat(more, axis=0)]),
        "frames": frames,
    }


def refused(sample: Sample, one: Trajectory, folder: Path) -> str:
    (folder / "one.npz").write_bytes(to_bytes(one))
    with pytest.raises(BadTrajectory) as error:
        read(sample, folder / "one.npz")
    return str(error.value)


def test_an_offline_rollout_is_as_long_as_the_recording_has_its_actions_and_no_stop(
    tmp_path: Path,
) -> None:
    sample, one = one_of("offline")
    other = one.actions.copy()
    other[7, 0] += 0.01

    assert "1 steps where 56" in refused(sample, replace(one, **shortened(one, 1)), tmp_path)
    assert "149 steps where 56" in refused(sample, replace(one, **lengthened(one, 149)), tmp_path)
    assert "action of step 7 is not the recorded one" in refused(
        sample, replace(one, actions=other), tmp_path
    )
    assert "never stopped" in refused(sample, replace(one, terminated_at=2), tmp_path)


def test_actions_that_were_rounded_on_their_way_are_still_the_recorded_ones(tmp_path: Path) -> None:
    sample, one = one_of("offline")
    (tmp_path / "one.npz").write_bytes(
        to_bytes(replace(one, actions=one.actions + np.float32(5e-5)))
    )

    assert read(sample, tmp_path / "one.npz")["psnr"] == 100.0


def test_an_online_rollout_runs_to_the_limit_or_to_the_chunk_at_which_it_stopped(
    tmp_path: Path,
) -> None:
    sample, one = one_of("online")
    stopped = cut(with_u(one, 0.1, 0.2, 0.9, 0.1), 0.5, BENCH.execute)

    assert "40 steps where an online rollout" in refused(
        sample, replace(one, **shortened(one, 40)), tmp_path
    )
    assert "60 steps where an online rollout" in refused(
        sample, replace(one, **lengthened(one, 60)), tmp_path
    )
    assert "keep the 32 steps" in refused(sample, replace(one, terminated_at=2), tmp_path)
    assert "keep the 0 steps" in refused(sample, replace(stopped, terminated_at=-1), tmp_path)
    assert "U of 2 chunks" in refused(
        sample,
        replace(stopped, u_chunk=stopped.u_chunk[:2], recovered=stopped.recovered[:2]),
        tmp_path,
    )
    (tmp_path / "one.npz").write_bytes(to_bytes(stopped))
    found = read(sample, tmp_path / "one.npz")
    assert (found["terminated_at"], found["steps"], found["tau"]) == (2, 32, 0.5)


def watchful(doubted: set[str]) -> WorldModel:
    """The simulator with a U of 0, and in some starts, after the first chunk, of 9."""
    perfect = simulator().world()
    told: list[Actions] = []

    def forward(context: Context, actions: Actions) -> Frames:
        told.append(actions)
        return perfect.forward(context, actions)

    def inverse(context: Context, frames: Frames) -> Actions:
        off = [9.0 if start.id in doubted and context.step else 0.0 for start in context.starts]
        read_off: Actions = (
            told[-1][:, : frames.shape[2]] + np.array(off, np.float32)[:, None, None]
        )
        return read_off

    return WorldModel("watchful", forward, inverse)


def test_a_rollout_stopped_early_is_read_scored_and_counted_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    of_one = {sample.cluster for sample in DEMO if sample.reference["policy"] == 1}
    whole = tabulate(DEMO, scored(rolled(watchful(of_one), DEMO, tmp_path / "a")))

    found = tabulate(
        DEMO, scored(rolled(watchful(of_one), DEMO, tmp_path / "b", replace(BENCH, tau=1.0)))
    )

    placed = [
        cell(t, "predicted_rate", "policy_1 object_placing", "online", "in_distribution")
        for t in (whole, found)
    ]
    assert [one.value for one in placed] == [1.0, 0.0] and {one.n_scored for one in placed} == {3}
    assert cell(found, "termination_rate", ALL, "online").value == pytest.approx(1 / 7)
    assert cell(found, "pearson_r", "pooled", "online").n_scored == 21
    assert (cell(found, "rate_error", "pooled", "online").value or 0) > (
        cell(whole, "rate_error", "pooled", "online").value or 0
    )
    assert cell(found, "psnr", ALL, "offline").value == 100.0


def test_a_world_that_ignores_actions_reproduces_less_than_one_that_never_grasps(
    tmp_path: Path,
) -> None:
    found = []
    for number, world in enumerate((copy_last_frame(), never_grasps().world())):
        (tmp_path / str(number)).mkdir()
        found.append(tabulate(DEMO, scored(rolled(world, DEMO, tmp_path / str(number)))))

    for mode in ("offline", "online"):
        dead, never = (cell(one, "reproduction_average", ALL, mode).value for one in found)
        assert (dead or 0) < (never or 0)


def test_a_bundle_without_a_policy_is_refused_by_its_number(
    tmp_path: Path, suites: Catalogue
) -> None:
    online = [sample for sample in DEMO if sample.reference["policy"] != 3]
    files = rolled(copy_last_frame(), online, tmp_path)

    with pytest.raises(IntakeError) as error:
        check(bundle(tmp_path / "bundle.zip", files), suites)

    assert (
        "6 of 42 samples have no file, none at all of policy_3" in error.value.problems[0].message
    )
