"""How the table's small model is made: what it may learn from, what is kept, and its tau."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.models.video_world.config import VideoPlan, VideoWorldConfig
from evaluators.models.video_world.lessons import Recording
from evaluators.models.video_world.table_course import (
    LeakedPractice,
    TableCourse,
    part_practice,
    usual_tau,
    usual_u,
    with_modes,
)
from evaluators.models.video_world.training import train_world
from evaluators.models.video_world.world import open_world
from evaluators.worlds.tabletop.library import PracticeClip
from tests.bench.sc3_shipped import make_shipped

SHORT = VideoPlan(steps=2, batch=2, motion_steps=2, sight_steps=2)


def clip(name: str, leaks: int = 0) -> PracticeClip:
    rng = np.random.default_rng(len(name))
    return PracticeClip(
        name,
        "put the milk into the rear left bin",
        rng.integers(0, 255, (3, 41, 64, 64, 3), dtype=np.uint8),
        rng.uniform(-1, 1, (40, 7)).astype(np.float32),
        np.zeros((41, 8), np.float32),
        np.zeros((41, 4, 4), np.float32),
        np.zeros(41, np.int64),
        (True, False, False),
        0,
        leaks,
    )


def test_one_episode_in_eight_is_kept_from_learning_and_only_frames_and_actions_are_given() -> None:
    parted = part_practice([clip(name) for name in TableCourse(errands=16, plays=8).names])

    assert (len(parted.learned), len(parted.held_out)) == (21, 3)
    assert Recording.__slots__ == ("frames", "actions")


def test_practice_that_shows_swapped_bins_is_refused() -> None:
    with pytest.raises(LeakedPractice, match="0003"):
        part_practice([clip("0001"), clip("0003", leaks=1)])


def test_tau_is_what_few_chunks_of_held_out_practice_exceed(tmp_path: Path) -> None:
    config = VideoWorldConfig(latent=4, hidden=16, depth=1, heads=2, motion=8, steps=1)
    parted = part_practice([clip("0000"), clip("0007")])
    train_world(parted.learned, config, SHORT, tmp_path)
    world = open_world(tmp_path)

    us = usual_u(world, parted.held_out)

    assert len(us) == 2 and min(us) > 0
    assert min(us) < usual_tau(world, parted.held_out) <= max(us)


def test_what_is_shipped_comes_with_its_gates_and_the_tau_of_practice_it_never_saw(
    tmp_path: Path,
) -> None:
    config = VideoWorldConfig(latent=4, hidden=16, depth=1, heads=2, motion=8, steps=2)
    parted, plan = part_practice([clip("0000"), clip("0007")]), replace(SHORT, steps=3)

    words = make_shipped(parted, TableCourse(config=config), plan, tmp_path, clips=4)

    stored = json.loads((tmp_path / "gates.json").read_text("utf-8"))
    world = open_world(tmp_path)
    assert words.startswith(stored["verdict"]) and stored["clips"] == 4
    assert world.card.tau == pytest.approx(usual_tau(world, parted.held_out))


def test_a_variant_differs_in_modes_horizon_and_seed_alone() -> None:
    course = TableCourse()

    other = with_modes(course, ("forward",), 16, 2)

    assert replace(other.config, modes=course.config.modes, horizon=24) == course.config
    assert replace(other.plan, seed=course.plan.seed) == course.plan
