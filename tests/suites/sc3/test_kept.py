"""Rollouts that are kept: killed at random moments they resume to the same bytes, and no two
worlds mix."""

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

from evaluators.contracts.world_model import World
from evaluators.suites.sc3.rollouts.kept import KeptRollouts, drive_all
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from evaluators.worlds.wire.claims import OtherRolloutsHere
from tests.suites.sc3.dots import CONFIG, Seeker, dot_world, start, summed

KILLS = 20
EPISODES = [
    start(name=f"dot-{number}", recorded=recorded)
    for number in range(4)
    for recorded in (None, np.full((40, 7), 0.02, np.float32))
]


def kept(folder: Path, **changes: object) -> KeptRollouts:
    whole = KeptRollouts(folder, "sc3", {1: Seeker()}, summed, replace(CONFIG, batch=2))
    return replace(whole, **changes)  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if not path.name.endswith(".part")
    }


def whole(folder: Path, world: World | None = None) -> tuple[dict[str, bytes], float]:
    """What a run that nobody kills leaves, and the seconds it takes."""
    began = time.monotonic()
    drive_all(world or dot_world(), EPISODES, kept(folder))
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


def test_rollouts_killed_at_twenty_random_moments_resume_to_the_same_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    expected, seconds = whole(tmp_path / "whole")
    moments = (float(moment) for moment in rng.uniform(0.0, seconds / 2, 400))
    cut, struck = tmp_path / "cut", 0

    for killed in ends(lambda: drive_all(dot_world(), EPISODES, kept(cut)), moments):
        struck += killed
        if not killed:
            assert files(cut) == expected
            shutil.rmtree(cut)
        if struck == KILLS:
            break
    drive_all(dot_world(), EPISODES, kept(cut))

    assert struck == KILLS and files(cut) == expected


def test_every_trajectory_is_kept_as_npz_clips_and_a_line(tmp_path: Path) -> None:
    counted: list[int] = []
    paths = drive_all(dot_world(), EPISODES, kept(tmp_path), counted.append)

    lines = (tmp_path / "trajectories.jsonl").read_text().splitlines()

    assert len(paths) == len(lines) == sum(counted) == len(EPISODES)
    assert len(list(tmp_path.glob("*.mp4"))) == 3 * len(EPISODES)
    assert all(from_bytes(path.read_bytes()).steps == CONFIG.limit for path in paths)


def test_clips_can_be_had_afterwards_and_a_lost_file_is_made_again(tmp_path: Path) -> None:
    late = tmp_path / "late"
    drive_all(dot_world(), EPISODES, kept(late, clips=False))
    drive_all(dot_world(), EPISODES, kept(late))
    next(late.glob("*.npz")).unlink()
    drive_all(dot_world(), EPISODES, kept(late))

    assert files(late) == whole(tmp_path / "whole")[0]


def test_a_folder_of_other_rollouts_is_left_alone(tmp_path: Path) -> None:
    world, few = dot_world(), EPISODES[:1]
    drive_all(world, few, kept(tmp_path, clips=False))
    other_weights = replace(world, card=replace(world.card, revision="other weights"))
    servers = {1: "ws://localhost:1"}

    with pytest.raises(OtherRolloutsHere, match="other settings"):
        drive_all(world, few, kept(tmp_path, config=replace(CONFIG, limit=24)))
    with pytest.raises(OtherRolloutsHere, match="or weights"):
        drive_all(other_weights, few, kept(tmp_path, clips=False))
    with pytest.raises(OtherRolloutsHere, match="other settings"):
        drive_all(world, few, kept(tmp_path, servers=servers))
