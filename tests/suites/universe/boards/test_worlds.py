"""Worlds on the second board: controls that must fail, the contract over HTTP, exam and kit."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Outcome, Output
from evaluators.contracts.world_model import FunctionWorld, WorldFault
from evaluators.judges.exam.competence import Mark, competence
from evaluators.judges.exam.sight import verdict
from evaluators.models.video_world.world import open_world
from evaluators.suites import suite_named
from evaluators.suites.universe.boards.worlds.bank import start_of
from evaluators.suites.universe.boards.worlds.course import recordings_of, train_small
from evaluators.suites.universe.boards.worlds.exam import EXAM
from evaluators.suites.universe.boards.worlds.kit import GameKitExists, write_game_kit
from evaluators.suites.universe.boards.worlds.looking import frames_of, measured
from evaluators.suites.universe.boards.worlds.probe import packaged_probe
from evaluators.suites.universe.boards.worlds.rating import agree
from evaluators.suites.universe.boards.worlds.rolling import (
    frozen_world,
    grey_world,
    noise_world,
    other_buttons,
    roll_out,
    write_rollout,
)
from evaluators.suites.universe.boards.worlds.scoring import score_by_rule
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS
from evaluators.suites.universe.boards.worlds.yardsticks import small_world
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.wire.claims import OtherRolloutsHere
from evaluators.worlds.wire.opening import open_world_at
from evaluators.worlds.wire.world_server import serve_world

SUITE = suite_named("universe_worlds")
DEMO = [sample for sample in SUITE.samples() if SUITE.subsets["demo"](sample)]
FEW = DEMO[:3]


def followed(files: dict[str, Path]) -> list[float]:
    values = []
    for sample in FEW:
        value = measured(sample, frames_of(sample, files[sample.id]))
        output = Output(sample.id, Outcome.SCORED, record={"value": value})
        scores = {each.metric: each.value for each in score_by_rule(sample, output, {})}
        values.append(float(scores["followed"] or 0))
    return values


@pytest.mark.parametrize(
    "world", [frozen_world(), grey_world(), noise_world()], ids=lambda w: w.card.name
)
def test_a_world_that_does_nothing_follows_no_buttons(world: FunctionWorld, tmp_path: Path) -> None:
    assert followed(roll_out(world, FEW, tmp_path)) == [0, 0, 0]


def test_the_game_follows_its_buttons_and_not_those_of_another_start(tmp_path: Path) -> None:
    own = {s.id: write_rollout(s, start_of(s).truth, tmp_path / f"{s.id}.mp4") for s in FEW}
    swapped = {s.id: own[FEW[(n + 1) % 3].id] for n, s in enumerate(FEW)}

    assert sum(followed(own)) >= 200
    assert followed(swapped) == [0, 0, 0]


def test_the_probe_says_how_well_it_reads_true_clips() -> None:
    probe = packaged_probe()

    assert probe.examined >= 100 and 0.8 < probe.accuracy < 1
    assert len(probe.labels) == 8


def test_the_small_world_hangs_on_its_buttons(tmp_path: Path) -> None:
    world = small_world()

    own = roll_out(world, FEW, tmp_path / "own")
    other = roll_out(world, FEW, tmp_path / "other", buttons=other_buttons(DEMO))
    again = roll_out(world, FEW, tmp_path / "again")

    for sample in FEW:
        frames, others = (frames_of(sample, files[sample.id]) for files in (own, other))
        assert own[sample.id].read_bytes() == again[sample.id].read_bytes()
        assert np.abs(frames.astype(int) - others.astype(int))[-5:].mean() > 1


def test_a_world_behind_a_url_is_the_same_world(tmp_path: Path) -> None:
    server = serve_world(noise_world())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        remote = open_world_at(f"http://127.0.0.1:{server.server_address[1]}")
        far = roll_out(remote, FEW[:1], tmp_path / "far")
    finally:
        server.shutdown()

    near = roll_out(noise_world(), FEW[:1], tmp_path / "near")

    assert far[FEW[0].id].read_bytes() == near[FEW[0].id].read_bytes()


def test_a_folder_holds_one_world_and_a_robots_world_is_refused(tmp_path: Path) -> None:
    roll_out(frozen_world(), FEW[:1], tmp_path)
    robot = frozen_world()
    robot = replace(robot, card=replace(robot.card, views=("agent", "wrist"), action_dim=7))

    with pytest.raises(OtherRolloutsHere, match="other settings or weights"):
        roll_out(grey_world(), FEW[:1], tmp_path)
    with pytest.raises(WorldFault, match="one view and 9 buttons"):
        roll_out(robot, FEW[:1], tmp_path / "robot")


def test_a_rollout_of_another_length_is_refused(tmp_path: Path) -> None:
    path = write_rollout(FEW[0], start_of(FEW[0]).truth[:9], tmp_path / "short.mp4")

    with pytest.raises(ValueError, match="has 9 frames"):
        frames_of(FEW[0], path)


def _marks(answer: dict[str, str] | None) -> list[Mark]:
    return [
        Mark(item.cluster, item.answers[q.id], (answer or item.answers)[q.id])
        for item in EXAM.items()
        for q in item.questions
    ]


def test_the_exam_is_balanced_shows_all_eight_and_fails_a_constant_answer() -> None:
    yes = {"action": "yes", "character": "yes"}
    answers = [item.answers[name] for item in EXAM.items() for name in yes]

    assert len(EXAM.items()) == 60 and answers.count("yes") == 60
    assert {str(item.scene["showing"]) for item in EXAM.items()} == set(SHOWINGS)
    assert verdict(competence(_marks(yes), EXAM.menu), EXAM.bounds).sight == "blind"
    assert verdict(competence(_marks(None), EXAM.menu), EXAM.bounds).sight == "sees"


def test_agreement_of_judge_and_people_is_graded_strict_and_beyond_chance() -> None:
    found = agree([(100.0, 100.0), (0.0, 0.0), (100.0, 50.0), (0.0, 100.0)])

    assert (found["graded"], found["strict"]) == (62.5, 50.0)
    assert agree([(100.0, 100.0), (0.0, 0.0)])["kappa"] == 1.0
    assert agree([])["kappa"] is None


def test_from_recorded_play_over_a_kit_to_rollouts(tmp_path: Path) -> None:
    kit = write_game_kit(tmp_path / "kit", FEW[:1], (40, 24), 2)
    dataset = open_dataset(kit / "practice")
    server = (kit / "example_world_server.py").read_text()

    train_small(recordings_of(dataset), tmp_path / "world", 8)
    files = roll_out(open_world(tmp_path / "world"), FEW[:1], tmp_path / "out")

    assert len(dataset) == 2 and dataset.episode(0).actions.shape == (17, 9)
    assert '"views": ["player"]' in server and '"action_dim": 9' in server
    assert frames_of(FEW[0], files[FEW[0].id]).shape[0] == 14
    with pytest.raises(GameKitExists, match="holds a kit already"):
        write_game_kit(kit, FEW[:1], (40, 24), 0)
