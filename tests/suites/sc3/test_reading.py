"""What is read off a rollout: one that is too short, too long or driven by other actions is refused
in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.contracts import ALL, Sample
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.producing import roll_out
from evaluators.suites.sc3.reading import AUTOMATIC, read, read_yardstick
from evaluators.suites.sc3.rollouts.stopping import cut
from evaluators.suites.sc3.rollouts.trajectories import BadTrajectory, Trajectory, to_bytes
from evaluators.suites.sc3.scoring import tabulate
from evaluators.suites.sc3.table_bench import CONFIG
from submissions.bundle.check import Catalogue, check
from submissions.format.errors import IntakeError
from tests.suites.sc3.rolled import DEMO, ONE_START, bundle, cell, playback, rolled, scored


def one_of(mode: str) -> tuple[Sample, Trajectory]:
    """A sample of the mode and a sound rollout for it, with a U for each of its thirteen chunks."""
    sample = next(one for one in DEMO if one.facets.setting == mode)
    (made,) = roll_out(playback(), [sample])
    return sample, with_u(made, *[0.5] * 13)


def with_u(one: Trajectory, *us: float) -> Trajectory:
    """The same with actions recovered so far beside the commanded ones in each chunk."""
    padded = np.concatenate([one.actions, np.zeros((8, 7), np.float32)])
    recovered = padded.reshape(13, 16, 7)
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

    assert "1 steps where 200" in refused(sample, replace(one, **shortened(one, 1)), tmp_path)
    assert "221 steps where 200" in refused(sample, replace(one, **lengthened(one, 221)), tmp_path)
    assert "action of step 7 is not the recorded one" in refused(
        sample, replace(one, actions=other), tmp_path
    )
    assert "never stopped" in refused(sample, replace(one, terminated_at=2), tmp_path)


def test_a_row_of_our_own_that_stops_before_its_first_chunk_is_read_and_nothing_held(
    tmp_path: Path,
) -> None:
    sample, one = one_of("online")
    stopped = cut(with_u(one, 9.0, *[0.5] * 12), 1.0, CONFIG.execute)
    (tmp_path / "one.npz").write_bytes(to_bytes(stopped))

    value = read_yardstick(sample, tmp_path / "one.npz")

    assert (value["steps"], value["terminated_at"], value["annotator"]) == (0, 0, AUTOMATIC)
    assert not any(value["criteria"].values())  # type: ignore[union-attr]


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
    stopped = cut(with_u(one, 0.1, 0.2, 0.9, *[0.1] * 10), 0.5, CONFIG.execute)

    assert "40 steps where an online rollout" in refused(
        sample, replace(one, **shortened(one, 40)), tmp_path
    )
    assert "216 steps where an online rollout" in refused(
        sample, replace(one, **lengthened(one, 216)), tmp_path
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


def test_a_rollout_stopped_early_is_read_scored_and_counted_like_any_other(tmp_path: Path) -> None:
    doubted = frozenset(one.cluster for one in ONE_START if one.reference["policy"] == 1)
    world = playback(tau=8.0, doubted=doubted)

    found = tabulate(ONE_START, scored(rolled(world, ONE_START, tmp_path), chosen=ONE_START))

    lifted = cell(found, "predicted_rate", "policy_1 object_lifting", "online", "in_distribution")
    assert (lifted.value, lifted.n_scored) == (0.0, 1)
    assert cell(found, "termination_rate", ALL, "online").value == pytest.approx(1 / 7)
    assert cell(found, "pearson_r", "pooled", "online").n_scored == 7
    assert cell(found, "psnr", ALL, "offline").value == 100.0


def test_pictures_of_another_size_are_taken_in_whole_multiples_only(tmp_path: Path) -> None:
    sample, one = one_of("offline")
    doubled = one.frames.repeat(2, axis=2).repeat(2, axis=3)
    (tmp_path / "one.npz").write_bytes(to_bytes(replace(one, frames=doubled)))

    assert read(sample, tmp_path / "one.npz")["psnr"] == 100.0
    assert "squares of 64, 128 or 256" in refused(
        sample, replace(one, frames=one.frames[:, :, :48]), tmp_path
    )


def test_a_bundle_without_a_policy_is_refused_by_its_number(
    tmp_path: Path, suites: Catalogue
) -> None:
    online = [sample for sample in DEMO if sample.reference["policy"] != 3]
    fake = next(one for one in SUITE.yardsticks if one.title == "Criterion mean")
    files = fake.make(online, {}, tmp_path)

    with pytest.raises(IntakeError) as error:
        check(bundle(tmp_path / "bundle.zip", files), suites)

    assert (
        "6 of 42 samples have no file, none at all of policy_3" in error.value.problems[0].message
    )
