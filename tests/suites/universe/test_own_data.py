"""A lab's own recordings by a description file, and mounted as a bank; an operator's private clips;
public clips handed out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.media import read_image
from evaluators.suites.banks import read_card
from evaluators.suites.universe import SUITE, own_data
from evaluators.suites.universe.bank import frames_of, private_samples, write_rows
from evaluators.suites.universe.bank_making import make_bank
from evaluators.suites.universe.segments import BadData, problems, read_segment, read_shape
from evaluators.worlds.doom.filming import engine
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.practice import write_practice
from tests.suites.universe.recordings import DESCRIPTION, recorded


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    return recorded(tmp_path / "recordings")


def described(tmp_path: Path, **changes: Any) -> own_data.DataDescription:
    path = tmp_path / "description.json"
    path.write_text(json.dumps({**DESCRIPTION, **changes}))
    return own_data.read_description(path)


def test_long_recordings_of_another_shape_become_a_sound_data_set(
    recordings: Path, tmp_path: Path
) -> None:
    to = tmp_path / "data"

    built = own_data.convert(recordings, to, described(tmp_path))

    assert {one.filename: one.label("action_recognition") for one in built.annotations} == {
        f"{name}-{number:03d}.npz": action
        for name in ("Cass_1", "Cass_2", "Gizmo_1")
        for number, action in ((1, "jumping up"), (3, "evading left"))
    }
    assert {one.label("character_recognition") for one in built.annotations} == {"Cass", "Gizmo"}
    assert any("cannot be read" in one.reason for one in built.dropped)
    assert list(problems(to)) == []
    assert read_shape(to).controls == 16
    assert read_segment(to, "Cass_1-001.npz").frames.shape == (14, 18, 30, 3)


def robot_episode(number: int) -> RobotEpisode:
    """Two clips: the arm goes left in the first and closes its hand in the second."""
    rng = np.random.default_rng(number)
    done = np.zeros((27, 3), np.float32)
    done[2:8, 0], done[16:22, 2] = -0.8, 0.9
    pictures = rng.integers(0, 255, (28, 48, 64, 3), np.uint8)
    task = f"pick up the {('milk', 'bread')[number % 2]}"
    return RobotEpisode({"agent": pictures}, done, np.zeros((28, 2), np.float32), task)


def test_a_robots_episodes_become_a_data_set_with_what_was_done_as_the_truth(
    tmp_path: Path,
) -> None:
    write_practice(
        tmp_path / "practice", "arm", 10, map(robot_episode, range(3)), lambda _part: None
    )
    rules = [
        {"label": "moving left", "control": 0, "below": -0.5},
        {"label": "moving right", "control": 0, "above": 0.5},
        {"label": "closing the hand", "control": 2},
    ]
    about = described(tmp_path, images="agent", labels=rules, characters="the ([a-z]+)$")

    built = own_data.convert(tmp_path / "practice", tmp_path / "data", about)

    assert {one.filename: one.label("action_recognition") for one in built.annotations} == {
        f"episode{number:05d}-{clip:03d}.npz": action
        for number in range(3)
        for clip, action in ((0, "moving left"), (1, "closing the hand"))
    }
    assert [one.label("character_recognition") for one in built.annotations[::2]] == [
        "milk",
        "bread",
        "milk",
    ]
    assert list(problems(tmp_path / "data")) == []
    assert read_segment(tmp_path / "data", "episode00000-000.npz").frames.shape[1:] == (48, 64, 3)
    with pytest.raises(BadData, match="cannot be read: 'top'"):
        own_data.convert(
            tmp_path / "practice",
            tmp_path / "other",
            described(tmp_path, images="top", labels=rules, characters="the ([a-z]+)$"),
        )


def test_a_mounted_data_set_is_a_suite_with_boards_of_its_own(
    recordings: Path, tmp_path: Path
) -> None:
    to = tmp_path / "data"
    own_data.convert(recordings, to, described(tmp_path))
    card = {"suite": "universe", "name": "our_game", "version": "1.0", "title": "Our game"}
    (to / "bank.json").write_text(json.dumps(card))

    assert SUITE.mount
    mounted = SUITE.mount(read_card(to))

    assert mounted.name == "universe.our_game" and mounted.paper is None
    assert len(mounted.samples()) == 8 * 6
    assert frames_of(mounted.samples()[0]).shape == (14, 18, 30, 3)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": 3}, "is no description of recordings"),
        ({"characters": "("}, "is no description of recordings"),
        ({"files": "*.hdf5"}, "matches '\\*.hdf5'"),
        ({"characters": "^(Cass)"}, "two actions and two characters"),
    ],
)
def test_a_description_that_does_not_fit_is_told_in_words(
    changes: dict[str, Any], said: str, recordings: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadData, match=said):
        own_data.convert(recordings, tmp_path / "data", described(tmp_path, **changes))


def test_an_operators_seed_makes_private_clips_that_the_open_bank_has_not(tmp_path: Path) -> None:
    rows = make_bank(engine().record, 2**41, {"environment_1": 8})
    write_rows(tmp_path / "clips.jsonl", rows)

    private = private_samples(tmp_path)

    assert all(one.id.startswith("private.") for one in private)
    hashes = {str(one.reference["clip"]) for one in SUITE.samples()}
    assert not hashes & {str(one.reference["clip"]) for one in private}
    assert frames_of(private[0]).shape == (14, 180, 300, 3)
    with pytest.raises(ValueError, match="private-bank"):
        private_samples(tmp_path / "elsewhere")


def test_a_public_clip_is_handed_out_as_pictures_without_loss(tmp_path: Path) -> None:
    sample = SUITE.samples()[0]

    assert SUITE.hand_out
    name = SUITE.hand_out(sample, tmp_path)

    frames = frames_of(sample)
    pictures = sorted((tmp_path / name).iterdir())
    assert len(pictures) == 14
    assert np.array_equal(read_image(pictures[-1]), frames[-1])
