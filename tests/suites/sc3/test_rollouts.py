"""Trajectories are kept whole, and one that is unsound is refused with the reason; matches of
rollouts and real runs are counted as they are."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match, agree, points
from evaluators.suites.sc3.real import as_rollout
from evaluators.suites.sc3.rollouts.trajectories import (
    BadTrajectory,
    OutcomeAnnotation,
    Trajectory,
    check,
    describe,
    from_bytes,
    to_bytes,
)
from evaluators.suites.sc3.table.controls import matches
from evaluators.suites.sc3.table.recordings import read_recording
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE, read_trials
from evaluators.worlds.actions import BadActions


@pytest.fixture(scope="module")
def real_run() -> Trajectory:
    return as_rollout(read_recording(SHIPPED_TABLE, "test-p1-00"))


def same_as_real() -> list[Match]:
    return matches(read_trials(), "real")


def test_the_real_run_against_itself_agrees_in_everything() -> None:
    found = agree(same_as_real())

    assert found.pearson_r == pytest.approx(1.0)
    assert (found.mmrv, found.reproduction.average, found.rate_error) == (0.0, 1.0, 0.0)


def test_more_noise_is_less_reproduction() -> None:
    trials = read_trials()
    rates = [
        agree(matches(trials, run)).reproduction.average or 0
        for run in ("real", "again online", "noisy")
    ]

    assert rates[0] == 1.0 > rates[1] > rates[2]


def test_a_world_in_which_nothing_happens_has_no_pearson() -> None:
    nothing = (ObjectOutcome(False, False, False),)

    found = agree([replace(match, rollout=nothing) for match in same_as_real()])

    assert found.pearson_r is None and found.pearson_r_within is None


def test_a_rollout_stopped_early_stays_in_the_score() -> None:
    stopped = [
        replace(one, rollout=(ObjectOutcome(True, False, False),)) if one.policy == 1 else one
        for one in same_as_real()
    ]

    rates = {(point.policy, point.criterion): point.predicted for point in points(stopped)}

    assert rates[1, "language_following"] == 1.0 and rates[1, "object_lifting"] == 0.0


def test_a_missing_rollout_meets_nothing_and_is_counted() -> None:
    found = same_as_real()

    agreed = agree([replace(found[0], rollout=None), *found[1:]])

    assert agreed.reproduction.n_missing == 1 and agreed.pearson_r is not None


def test_a_trajectory_survives_its_file(real_run: Trajectory) -> None:
    said = OutcomeAnnotation("ann", "blue bowl", ObjectOutcome(True, False, True))
    one = replace(real_run, annotations=(said,), tau=0.25)

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
    real_run: Trajectory,
) -> None:
    assert from_bytes(relined(real_run, drop="tau")).tau is None
    with pytest.raises(BadTrajectory, match="tau is -1"):
        from_bytes(relined(real_run, tau=-1))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"actions": np.full((200, 7), np.inf, np.float32)}, BadActions, "finite"),
        ({"actions": np.zeros((200, 8), np.float32)}, BadActions, "7 numbers"),
        ({"actions": np.zeros((50, 7), np.float32)}, BadTrajectory, "201 frames for 50 actions"),
        ({"u_chunk": np.array([np.nan], np.float32)}, BadTrajectory, "U does not fit"),
    ],
)
def test_an_unsound_trajectory_is_refused_with_the_reason(
    real_run: Trajectory, change: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        check(replace(real_run, **change))


def test_views_handed_in_one_by_one_must_be_in_step(real_run: Trajectory, tmp_path: Path) -> None:
    one = real_run
    line = np.load(io.BytesIO(to_bytes(one)))["line"]
    views = {
        "view_agent": one.frames[0],
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

    with pytest.raises(BadTrajectory, match="out of step: agent 201, front 201, wrist 200"):
        from_bytes((tmp_path / "t.npz").read_bytes())
    with pytest.raises(BadTrajectory, match="no trajectory"):
        from_bytes(b"PK nonsense")
