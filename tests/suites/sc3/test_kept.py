"""Rollouts that are kept: killed at random moments they resume to the same bytes, and no two
evaluators mix."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, OtherRollouts, roll_out_all
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from evaluators.suites.sc3.samples import episodes, policies, samples
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.views import Frames
from evaluators.worlds.bussing.world_models import WorldModel, copy_last_frame, simulator
from evaluators.worlds.policies.http import HttpPolicy

KILLS = 20
SHORT = replace(BENCH, batch=4, seconds=1.6)


def chosen(starts: int) -> list[Episode]:
    """The first starts of each policy, offline and online among each other."""
    return episodes([one for one in samples() if int(one.cluster.rpartition("-")[2]) < starts])


def simulated() -> WorldModel:
    """The simulator with an inverse, so that there is a U."""

    def inverse(_context: object, frames: Frames) -> Actions:
        return np.zeros((len(frames), frames.shape[2], 7), np.float32)

    return WorldModel("simulator with U", simulator().world().forward, inverse)


def learned() -> WorldModel:
    """A small network with weights by chance: as it is before training it would hold the first
    frame still."""
    import torch

    from evaluators.models.dynamics.model import Dynamics, DynamicsConfig
    from evaluators.models.dynamics.tokeniser import EyesConfig, Tokeniser
    from evaluators.models.dynamics.world import DynamicsWorld

    torch.manual_seed(0)
    model, tokeniser = Dynamics(DynamicsConfig(width=32, depth=1, heads=2)), Tokeniser(EyesConfig())
    for weight in (*model.parameters(), *tokeniser.parameters()):
        weight.data += 0.1 * torch.randn_like(weight)
    return DynamicsWorld(model, tokeniser, "by chance").world()


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not path.name.endswith(".part")
    }


def whole(world: WorldModel, todo: list[Episode], folder: Path) -> tuple[dict[str, bytes], float]:
    """What a run that nobody kills leaves, and the seconds it takes."""
    began = time.monotonic()
    roll_out_all(world, policies(), todo, SHORT, folder)
    return files(folder), time.monotonic() - began


def ends(work: Callable[[], object], moments: Iterator[float]) -> Iterator[bool]:
    """Runs of the work in processes of their own, each killed at its moment: whether that struck it
    at work."""
    fork = multiprocessing.get_context("fork")
    for moment in moments:
        child = fork.Process(target=work)
        child.start()
        child.join(moment)
        child.kill()
        child.join()
        yield child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("make", [simulated, learned])
def test_rollouts_killed_at_twenty_random_moments_resume_to_the_same_bytes(
    make: Callable[[], WorldModel], tmp_path: Path
) -> None:
    world, todo, rng = make(), chosen(1), np.random.default_rng(3)
    expected, seconds = whole(world, todo, tmp_path / "whole")
    moments = (float(moment) for moment in rng.uniform(0.0, seconds / 2, 400))
    cut, struck = tmp_path / "cut", 0

    for killed in ends(lambda: roll_out_all(world, policies(), todo, SHORT, cut), moments):
        struck += killed
        if not killed:
            assert files(cut) == expected
            shutil.rmtree(cut)
        if struck == KILLS:
            break
    roll_out_all(world, policies(), todo, SHORT, cut)

    assert struck == KILLS and files(cut) == expected


def test_every_trajectory_is_kept_as_npz_clips_and_a_line(tmp_path: Path) -> None:
    counted: list[int] = []
    paths = roll_out_all(
        simulated(), policies(), chosen(1), SHORT, tmp_path, on_batch=counted.append
    )

    lines = (tmp_path / "trajectories.jsonl").read_text().splitlines()

    assert len(paths) == len(lines) == sum(counted) == 14
    assert len(list(tmp_path.glob("*.mp4"))) == 3 * 14
    assert all(from_bytes(path.read_bytes()).steps == SHORT.limit for path in paths)


def test_clips_can_be_had_afterwards_and_a_lost_file_is_made_again(tmp_path: Path) -> None:
    todo = chosen(1)[:4]
    roll_out_all(simulated(), policies(), todo, SHORT, tmp_path / "late", clips=False)
    roll_out_all(simulated(), policies(), todo, SHORT, tmp_path / "late")
    (tmp_path / "late" / f"{todo[0].id}.npz").unlink()
    roll_out_all(simulated(), policies(), todo, SHORT, tmp_path / "late")

    assert files(tmp_path / "late") == whole(simulated(), todo, tmp_path / "whole")[0]


def test_a_folder_of_other_rollouts_is_left_alone(tmp_path: Path) -> None:
    world, todo = copy_last_frame(), chosen(1)[:1]
    roll_out_all(world, policies(), todo, BENCH, tmp_path, clips=False)
    theirs = {**policies(), 1: HttpPolicy("http://localhost:1")}

    with pytest.raises(OtherRollouts, match="other settings"):
        roll_out_all(world, policies(), todo, replace(BENCH, tau=1.0), tmp_path)
    with pytest.raises(OtherRollouts, match="or weights"):
        roll_out_all(replace(world, revision="other weights"), policies(), todo, BENCH, tmp_path)
    with pytest.raises(OtherRollouts, match="other settings"):
        roll_out_all(world, theirs, todo, BENCH, tmp_path)
