"""The course that makes the packaged base, in a few steps each: every part of it runs and the
folder is a judge's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.models.small import make_paligemma
from evaluators.models.vlm.adapter import open_adapted, packaged_base
from evaluators.models.vlm.beginning import SET, Places, begin
from evaluators.models.vlm.judge import VlmJudge, read_folder
from evaluators.suites.universe import SUITE
from evaluators.suites.universe.bank import frames_of, in_demo
from evaluators.suites.universe.course import drawn, rooms
from evaluators.suites.universe.course.reader import (
    ASKED,
    GAME,
    PretrainingPlan,
    ask,
    make,
    sentences,
    size,
)
from evaluators.suites.universe.producing import PACKAGED_JUDGE

SHORT = PretrainingPlan(walls=4, rooms=2, motion_steps=1, steps=1)


def fresh_model(folder: Path) -> Any:
    """The model before its first lesson."""
    torch.set_num_threads(1)
    model, _ = read_folder(make_paligemma(folder, SHORT.seed, size(), sentences()), "cpu", "fp32")
    begin(model)
    return model


def test_the_course_teaches_what_was_not_set_and_leaves_a_folder_that_loads(
    tmp_path: Path,
) -> None:
    fresh = fresh_model(tmp_path / "fresh")

    taught, _ = read_folder(make(tmp_path / "base", SHORT, lambda _: None), "cpu", "fp32")

    was = {name: value.bfloat16() for name, value in fresh.named_parameters()}
    now = {name: value.bfloat16() for name, value in taught.named_parameters()}
    same = {name for name, value in was.items() if torch.equal(value, now[name])}
    assert same == {name for name in was if name.startswith(SET)}
    card = (tmp_path / "base" / "README.md").read_text()
    assert "never seen the game" in " ".join(card.split())


def test_the_beginning_tells_a_picture_that_slides_left_from_one_that_slides_right(
    tmp_path: Path,
) -> None:
    model, rng = fresh_model(tmp_path / "fresh"), np.random.default_rng(5)
    first = Places(model.config.text_config.hidden_size).moved
    votes = []
    for _ in range(6):
        wall = drawn.draw_wall(rng).picture[:96, : 96 + 4]
        to_the_left = torch.tensor(np.stack([wall[:, :96], wall[:, 4:]]).astype(np.float32))
        readings = []
        for clip in (to_the_left, to_the_left.flip(0)):
            pixels = (clip / 127.5 - 1).permute(0, 3, 1, 2)
            with torch.inference_mode():
                tokens = model.get_image_features(pixels).pooler_output.reshape(1, 32, -1)
                layer = model.get_decoder()(
                    inputs_embeds=tokens,
                    attention_mask=torch.zeros(1, 1, 32, 32),
                    position_ids=torch.arange(1, 33)[None],
                    use_cache=False,
                    output_hidden_states=True,
                ).hidden_states[1]
            readings.append(float(layer[0, 16:, first].mean()))
        votes.append(np.sign(readings[0] - readings[1]))

    assert abs(sum(votes)) >= 4


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


@pytest.mark.parametrize("motion", rooms.MOTIONS)
def test_a_motion_in_a_drawn_room_is_seen_and_told_in_numbers(motion: str) -> None:
    rng = np.random.default_rng(4)
    papers = rooms.papers_of([drawn.draw_wall(rng).picture for _ in range(3)])
    shot = rooms.draw_shot(rng, motion)

    frames = rooms.film_room(rooms.draw_room(rng, 3), shot, papers)

    changed = np.abs(frames.astype(int) - frames[:1]).mean((1, 2, 3)).max()
    assert frames.shape == (14, drawn.EDGE, drawn.EDGE, 3)
    assert (changed == 0) == (motion == "resting") == (not any(shot.moves))


def test_the_packaged_judge_names_actions_that_the_reader_it_stands_on_cannot_name() -> None:
    asked = [
        sample
        for sample in SUITE.samples()
        if in_demo(sample)
        and sample.facets.task == "action_recognition"
        and sample.facets.setting != "binary"
    ]
    judges = (VlmJudge(packaged_base(), frames="uniform-8"), open_adapted(PACKAGED_JUDGE))

    right = [
        sum(
            judge.tell(frames_of(sample), [sample.prompt]) == [sample.reference["answer"]]
            for sample in asked
        )
        for judge in judges
    ]

    assert right[0] == 0 < right[1]
