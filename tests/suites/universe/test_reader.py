"""The course that makes the packaged base, in a few steps each: every part of it runs and the
folder is a judge's."""

from __future__ import annotations

from pathlib import Path

import torch

from evaluators.models.small import make_paligemma
from evaluators.models.vlm.judge import read_folder
from evaluators.suites.universe.reader import PretrainingPlan, make, sentences, size

SHORT = PretrainingPlan(
    pictures=24, pairs=208, clips=4, tower_steps=2, motion_steps=(1, 1), aloud_steps=1, steps=1
)


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
