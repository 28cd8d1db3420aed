"""The course that makes the packaged base, in a few steps each: every part of it runs and the
folder is a judge's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from evaluators.models.small import make_paligemma
from evaluators.models.vlm.judge import read_folder
from evaluators.suites.universe.course import drawn
from evaluators.suites.universe.course.reader import (
    ASKED,
    GAME,
    PretrainingPlan,
    ask,
    make,
    sentences,
    size,
)

SHORT = PretrainingPlan(walls=4, tower_steps=2, motion_steps=1, aloud_steps=1, steps=1)


def test_the_course_teaches_every_part_of_the_model_and_leaves_a_folder_that_loads(
    tmp_path: Path,
) -> None:
    torch.set_num_threads(1)
    fresh, _ = read_folder(
        make_paligemma(tmp_path / "fresh", SHORT.seed, size(), sentences()), "cpu", "fp32"
    )

    taught, _ = read_folder(make(tmp_path / "base", SHORT, lambda _: None), "cpu", "fp32")

    was, now = dict(fresh.named_parameters()), dict(taught.named_parameters())
    same = [name for name, value in was.items() if torch.equal(value, now[name])]
    assert same == []


def test_no_label_of_the_game_is_among_the_answers_of_the_course() -> None:
    taught = {label for _, labels in ASKED.values() for label in labels}

    assert not taught & {*GAME.actions, *GAME.characters}


def test_a_drawn_motion_is_seen_in_the_pictures() -> None:
    rng = np.random.default_rng(3)
    wall = drawn.draw_wall(rng)
    first_and_last = {
        motion: drawn.film(wall, drawn.draw_path(rng, motion, wall.at), (0, 13))
        for motion in drawn.MOTIONS
    }

    moved = {
        motion: float(np.abs(frames[0].astype(int) - frames[1]).mean())
        for motion, frames in first_and_last.items()
    }

    assert moved["resting"] == 0
    assert moved["sliding left"] > 1 and moved["growing"] > 1
    assert ask("Which figure is drawn?", wall.figure, rng)[1] in (wall.figure, "yes", "no")
