"""Eyes, clones and the annotator of the simulated table: what they compute, learn and refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from evaluators.models.robots.annotator import shipped_annotator
from evaluators.models.robots.cloning import words
from evaluators.models.robots.eyes import TableEyesConfig, look, meeting, targets
from evaluators.models.robots.lessons import LessonPlan, shown_at, teach_clone, teach_eyes
from evaluators.models.robots.policies import load_policies
from evaluators.models.robots.roster import NoSuchPart, train_policies
from evaluators.models.robots.weights import open_clone, open_eyes, save_network
from evaluators.worlds.tabletop.cards import CARDS
from evaluators.worlds.tabletop.library import PracticeClip
from evaluators.worlds.tabletop.starts import BUSSING, SWAPPED, say
from flows.suites.sc3_train import CannotTeach, teach_policies

SMALL = TableEyesConfig(pixels=16, channels=4, points=6, hidden=8)


def clip(steps: int = 6) -> PracticeClip:
    rng = np.random.default_rng(0)
    return PracticeClip(
        name="drawn",
        instruction=say(0, 0),
        frames=rng.integers(0, 256, (3, steps + 1, 64, 64, 3), dtype=np.uint8),
        actions=rng.uniform(-1, 1, (steps, 7)).astype(np.float32),
        hands=rng.uniform(0, 1, (steps + 1, 8)).astype(np.float32),
        objects=rng.uniform(0, 1, (steps + 1, 4, 4)).astype(np.float32),
        held=np.full(steps + 1, -1),
        criteria=(True, True, True),
        tried=0,
        leaks=0,
    )


def test_two_lines_of_sight_meet_where_the_thing_is() -> None:
    hands = np.array([[0.05, -0.2, 0.95, 0, 0, 0, 0.02, -0.02]], np.float32)
    objects = np.array([[[0.1, 0.1, 0.85, 0], [0.2, -0.3, 0.9, 0], [0, 0.3, 0.8, 0], [0, 0, 1, 0]]])
    numbers = targets(hands, objects.astype(np.float32))
    pixels = shown_at(numbers)
    features = [torch.zeros(1, 19 * 6) for _ in range(2)]
    for view, shown in enumerate(features):
        shown[:, :5] = torch.from_numpy(pixels[:, view, :, 0])
        shown[:, 6:11] = torch.from_numpy(pixels[:, view, :, 1])

    met = meeting(features, 6)[0].numpy()

    assert np.allclose(met[0], numbers[0, :3], atol=0.01)
    assert np.allclose(met[1:], numbers[0, 8:28].reshape(4, 5)[:, :3], atol=0.01)


def test_eyes_and_clones_learn_are_kept_and_are_the_same_when_opened(tmp_path: Path) -> None:
    eyes = teach_eyes([clip()], SMALL, LessonPlan(steps=3, batch=4))
    clone = teach_clone([clip()], eyes, LessonPlan(steps=3, batch=4))
    save_network(eyes, tmp_path / "eyes.safetensors")
    save_network(clone, tmp_path / "clone.safetensors")
    frames = clip().frames.swapaxes(0, 1)[:2]

    first, second = (look(open_eyes(tmp_path, "eyes"), frames) for _ in range(2))

    assert np.array_equal(first.objects, second.objects) and first.held.shape == (2, 5)
    assert np.allclose(first.hands, look(eyes, frames).hands, atol=0.01)
    assert open_clone(tmp_path, "clone").eyes.config == SMALL


def test_an_instruction_becomes_one_object_and_one_bin() -> None:
    assert words(say(2, 1)).tolist() == [0, 0, 1, 0, 0, 1, 0, 0]


def test_four_policies_are_in_distribution_and_three_out_of_it() -> None:
    assert [card.task for card in CARDS] == [BUSSING] * 4 + [SWAPPED] * 3
    assert sorted(load_policies()) == [card.id for card in CARDS]
    assert len({card.title for card in CARDS}) >= 5 and all(card.taught for card in CARDS)


@pytest.mark.parametrize("level", [0, 128])
def test_the_annotator_sees_nothing_placed_where_there_is_nothing_to_see(level: int) -> None:
    frames = np.full((3, 129, 64, 64, 3), level, np.uint8)

    assert not shipped_annotator().annotate(frames, say(0, 0)).object_placing


def test_a_network_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPart, match="no network 'ears'"):
        train_policies(tmp_path, tmp_path, ["ears"])
    with pytest.raises(CannotTeach, match="Known: eyes"):
        teach_policies(tmp_path, tmp_path, ["ears"], lambda _line: None)
