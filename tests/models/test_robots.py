"""Eyes, clones and the annotator of the simulated table: what they compute, learn and refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from evaluators.contracts.robot_policy import PolicyView
from evaluators.media import sha256_file
from evaluators.models.robots.annotator import shipped_annotator
from evaluators.models.robots.cloning import words
from evaluators.models.robots.eyes import TableEyesConfig
from evaluators.models.robots.lessons import LessonPlan, demonstrate, teach_clone, teach_eyes
from evaluators.models.robots.policies import load_policies, read_arm
from evaluators.models.robots.roster import PARTS, NoSuchPart, train_policies
from evaluators.models.robots.seeing import look, pose_targets
from evaluators.models.robots.sights import from_wrist, meeting, shown_at_wrist, shown_in_room
from evaluators.models.robots.snapshots import Snapshots, leaks, take_snapshots
from evaluators.models.robots.weights import WEIGHTS, open_clone, open_eyes, save_network
from evaluators.suites.sc3.reading import card
from evaluators.worlds.tabletop.cards import CARDS
from evaluators.worlds.tabletop.planner import EXECUTED, Errand, plan, seen
from evaluators.worlds.tabletop.running import run_policy
from evaluators.worlds.tabletop.starts import BUSSING, DESTINATIONS, SWAPPED, draw_start, say
from evaluators.worlds.tabletop.trials import draw_trial
from flows.cli.parameters.names import _policy_networks
from flows.suites.sc3_train import CannotTeach, teach_policies
from tests.worlds.stages import open_stage

TAKEN_OVER = 48
SMALL = TableEyesConfig(pixels=16, channels=4, hidden=8)


def moments(count: int = 6) -> Snapshots:
    rng = np.random.default_rng(0)
    return Snapshots(
        frames=rng.integers(0, 256, (count, 3, 64, 64, 3), dtype=np.uint8),
        hands=rng.uniform(0, 1, (count, 8)).astype(np.float32),
        objects=rng.uniform(0, 1, (count, 4, 4)).astype(np.float32),
        held=np.full(count, -1),
        bins=np.full((count, 4), -1),
    )


def test_two_lines_of_sight_meet_where_the_thing_is() -> None:
    places = np.array([[[0.05, -0.2, 0.95], [0.1, 0.1, 0.85], [0.2, -0.3, 0.9], [0, 0.3, 0.8]]])

    met = meeting(torch.from_numpy(shown_in_room(places)))

    assert np.allclose(met.numpy(), places, atol=1e-3)


def test_the_wrist_sees_how_far_beside_the_hand_a_thing_is() -> None:
    turns = np.array([[0.05, -0.1, 0.4], [0.0, 0.0, 0.0]])
    beside = np.array([[[0.03, -0.02, -0.2], [-0.05, 0.06, -0.15]]] * 2)
    pixels = shown_at_wrist(beside, turns)

    found = from_wrist(
        torch.from_numpy(pixels),
        torch.from_numpy(turns).float(),
        torch.from_numpy(beside[..., 2]).float(),
    )

    assert np.abs(pixels).max() < 1 and np.allclose(found.numpy(), beside[..., :2], atol=1e-3)


def test_a_box_is_the_same_to_the_fingers_a_quarter_turn_on() -> None:
    hands, objects = np.zeros((2, 8), np.float32), np.zeros((2, 4, 4), np.float32)
    objects[1, :, 3] = np.pi / 2

    first, second = pose_targets(hands, objects)

    assert np.allclose(first[[0, 1, 3]], second[[0, 1, 3]], atol=1e-5)
    assert not np.allclose(first[2], second[2])


def test_eyes_and_clones_learn_are_kept_and_are_the_same_when_opened(tmp_path: Path) -> None:
    eyes = teach_eyes(moments(), SMALL, LessonPlan(steps=3, batch=4))
    clone = teach_clone(moments(), eyes, LessonPlan(steps=3, batch=4))
    save_network(eyes, tmp_path / "eyes.safetensors")
    save_network(clone, tmp_path / "clone.safetensors")
    frames = moments().frames[:2]

    first, second = (look(open_eyes(tmp_path, "eyes"), frames) for _ in range(2))

    assert np.array_equal(first.objects, second.objects) and first.held.shape == (2, 5)
    assert np.allclose(first.hands, look(eyes, frames).hands, atol=0.01)
    assert open_clone(tmp_path, "clone").eyes.config == SMALL


def test_nobody_who_demonstrates_is_told_the_swapped_mapping() -> None:
    rng = np.random.default_rng(0)
    swapped = [words(say(named, to)) for named, to in enumerate(DESTINATIONS[SWAPPED])]
    told = [demonstrate(moments(), row % 6, rng)[0] for row in range(120)]

    assert len({tuple(one) for one in told}) == 12
    assert not any(np.array_equal(one, other) for one in told for other in swapped)


def test_an_instruction_becomes_one_object_and_one_bin() -> None:
    assert words(say(2, 1)).tolist() == [0, 0, 1, 0, 0, 1, 0, 0]


def test_four_policies_are_in_distribution_and_three_out_of_it() -> None:
    assert [card.task for card in CARDS] == [BUSSING] * 4 + [SWAPPED] * 3
    assert sorted(load_policies()) == [card.id for card in CARDS]
    assert len({card.title for card in CARDS}) >= 5 and all(card.taught for card in CARDS)


@pytest.mark.parametrize("level", [0, 128])
def test_the_annotator_sees_nothing_placed_where_there_is_nothing_to_see(level: int) -> None:
    frames = np.full((3, 201, 64, 64, 3), level, np.uint8)

    assert not shipped_annotator().annotate(frames, say(0, 0)).object_placing


def test_a_policy_sees_that_its_hand_is_empty_after_a_miss_and_tries_again() -> None:
    stage, start = open_stage(), draw_start("x7", BUSSING)
    policy, answers = load_policies()[1], []

    class Missed:
        """The hand closes beside the object; then the policy is asked."""

        def act(self, view: PolicyView) -> np.ndarray:
            if view.step < TAKEN_OVER:
                beside = Errand(start.named, start.bin, beside=(0.05, 0.0))
                return plan(seen(stage.table.state()), beside)
            answers.append(policy.act(view))
            return answers[-1]

    run = run_policy(stage, start, draw_trial("miss"), Missed(), read_arm, EXECUTED)

    assert run.actions[TAKEN_OVER - 1, 6] > 0, "the hand is closed when the policy is asked"
    assert answers[0][0, 6] < 0 and answers[0][0, 2] > 0.5, "it opens the hand and goes up"
    assert run.truth.lifted[start.named] and run.truth.outcome(start).object_placing


def test_the_annotator_s_card_names_the_weights_it_reads_with() -> None:
    weights = WEIGHTS / "annotator.safetensors"

    assert card().revision == sha256_file(weights) != sha256_file(WEIGHTS / "eyes.safetensors")


def test_every_network_can_be_named_on_the_command_line() -> None:
    assert tuple(_policy_networks()) == PARTS


def test_a_network_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPart, match="no network 'ears'"):
        train_policies(tmp_path, tmp_path, ["ears"])
    with pytest.raises(CannotTeach, match="Known: eyes"):
        teach_policies(tmp_path, tmp_path, ["ears"], lambda _line: None)


def test_moments_for_eyes_are_the_same_again_and_show_no_swapped_bins() -> None:
    stage = open_stage()

    first, again = (take_snapshots("tried", stage, everywhere=False, count=6) for _ in range(2))

    assert np.array_equal(first.frames, again.frames) and first.frames.shape == (6, 3, 64, 64, 3)
    assert np.array_equal(first.objects, again.objects) and leaks(first) == 0
    assert np.abs(first.objects[0, :, :2] - first.objects[-1, :, :2]).max() > 0.05
