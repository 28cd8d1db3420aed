"""The released layout and how it is made from sessions: what is sound is read back, what is not is
named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.suites.universe import construction, segments
from evaluators.suites.universe.construction import Built, LongRecording
from evaluators.suites.universe.questions import AnswerSpace, pairs
from evaluators.suites.universe.segments import BadData, RecordedSegment
from evaluators.suites.universe.session_folders import (
    LOG,
    METADATA,
    VIDEO,
    read_session,
    write_session,
)
from evaluators.worlds.doom.places import ACTIONS
from evaluators.worlds.doom.sessions import PlayedSession

SPACE = AnswerSpace(("jumping down", "jumping up"), ("Kulu", "Nika", "Prism"))


def test_a_clip_has_eight_pairs_two_of_them_yes_and_two_of_them_no() -> None:
    found = pairs("jumping up", "Nika", SPACE, 0)

    assert [pair.answer for pair in found] == [
        "yes",
        "no",
        "jumping up",
        "jumping up",
        "yes",
        "no",
        "Nika",
        "Nika",
    ]
    assert found[2].question.endswith("Choose one: jumping down, jumping up.")
    assert "Nika" not in found[5].question


def test_the_order_of_options_is_that_of_the_data_unless_a_shuffle_is_asked_for() -> None:
    orders = {
        pairs("jumping up", "Nika", SPACE, seed, shuffle=True)[6].question for seed in range(20)
    }

    assert len({pairs("jumping up", "Nika", SPACE, seed)[6].question for seed in range(20)}) == 1
    assert len(orders) > 1


def test_a_label_outside_the_answer_space_is_no_pair() -> None:
    with pytest.raises(ValueError, match="'flying' is none of the 2"):
        pairs("flying", "Nika", SPACE, 0)


def test_recorded_takes_become_clips_whose_labels_are_what_was_played(
    built: tuple[Path, Built], played: list[PlayedSession]
) -> None:
    folder, made = built
    pressed = {
        f"environment_1-{session.order.seed}-{take:03d}.npz": {
            name for name, button in ACTIONS.items() if controls[:, button].any()
        }
        for session in played
        for take, controls in enumerate(session.controls)
    }

    found = {one.filename: one.label("action_recognition") for one in made.annotations}

    assert len(found) >= 3
    assert {*found, *(one.name for one in made.dropped)} == set(pressed)
    assert all(pressed[name] == {action} for name, action in found.items())
    assert list(segments.problems(folder)) == []


def test_a_data_set_is_read_back_as_it_was_written(built: tuple[Path, Built]) -> None:
    folder, made = built

    assert segments.read_annotations(folder) == made.annotations
    assert segments.read_segment(folder, made.annotations[0].filename).frames.shape == (
        14,
        180,
        300,
        3,
    )


def test_without_a_list_of_labels_the_answer_space_is_what_occurs(
    built: tuple[Path, Built], tmp_path: Path
) -> None:
    space = segments.answer_space(tmp_path, built[1].annotations)

    assert set(space.actions) == {one.label("action_recognition") for one in built[1].annotations}
    assert list(space.characters) == sorted(space.characters)


def test_a_split_keeps_a_session_on_one_side(built: tuple[Path, Built]) -> None:
    train, held = construction.split(built[1].annotations, 0.34, seed=0)

    assert train and held
    assert not {one.session for one in train} & {one.session for one in held}


def _no_video(folder: Path) -> None:
    (folder / VIDEO).write_bytes(b"no video")


def _short_log(folder: Path) -> None:
    rows = (folder / LOG).read_text().splitlines()[:40]
    (folder / LOG).write_text("\n".join(rows))


def _wrong_count(folder: Path) -> None:
    said = json.loads((folder / METADATA).read_text())
    (folder / METADATA).write_text(json.dumps({**said, "frames": 7}))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_no_video, "cannot be read"),
        (_short_log, "do not cover the same time"),
        (_wrong_count, "metadata say 7"),
    ],
)
def test_a_corrupted_session_is_dropped_and_told(
    spoil: Callable[[Path], None], said: str, recordings: list[LongRecording], tmp_path: Path
) -> None:
    folder = write_session(tmp_path / "spoilt", recordings[0])
    whole = construction.build([read_session(folder)], tmp_path / "whole")
    spoil(folder)

    made = construction.build([read_session(folder)], tmp_path / "data")

    assert any(said in one.reason for one in made.dropped)
    assert len(made.annotations) < len(whole.annotations)


def test_a_session_folder_gives_the_clips_of_the_session_it_was_written_from(
    recordings: list[LongRecording], tmp_path: Path
) -> None:
    folder = write_session(tmp_path / recordings[0].name, recordings[0])

    read = construction.build([read_session(folder)], tmp_path / "read")
    direct = construction.build(recordings[:1], tmp_path / "direct")

    assert [one.filename for one in read.annotations] == [
        one.filename for one in direct.annotations
    ]
    assert [one.pairs for one in read.annotations] == [one.pairs for one in direct.annotations]


def sound() -> dict[str, Any]:
    return {
        "images": np.zeros((14, 3, 180, 300), np.uint8),
        "actions": np.zeros((14, 16), np.float32),
        "states": np.zeros((14, 56), np.float32),
    }


def _with(name: str, value: Any) -> dict[str, Any]:
    return {**sound(), name: value}


BAD = {
    "wrong shape": (
        _with("images", np.zeros((14, 180, 300, 3), np.uint8)),
        r"images have shape \(14, 180, 300, 3\)",
    ),
    "13 frames": (_with("images", np.zeros((13, 3, 180, 300), np.uint8)), "it has 13 frames"),
    "NaN in images": (
        _with("images", np.full((14, 3, 180, 300), np.nan, np.float32)),
        "images hold NaN",
    ),
    "NaN in states": (_with("states", np.full((14, 56), np.nan)), "states hold NaN"),
    "negative": (_with("images", np.full((14, 3, 180, 300), -1.0)), "images go from -1"),
    "wide actions": (_with("actions", np.zeros((14, 17))), r"actions have shape \(14, 17\)"),
    "missing key": ({"images": sound()["images"], "actions": sound()["actions"]}, "states"),
    "pickled": (_with("states", np.array([{"a": 1}], dtype=object)), "plain arrays"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_segment_is_refused_with_its_file_and_the_reason(name: str, tmp_path: Path) -> None:
    arrays, said = BAD[name]
    (tmp_path / segments.SEGMENTS).mkdir()
    np.savez(tmp_path / segments.SEGMENTS / "bad-000.npz", **arrays)

    with pytest.raises(BadData, match=f"bad-000.npz: .*{said}"):
        segments.read_segment(tmp_path, "bad-000.npz")


def test_a_file_that_is_not_there_or_no_npz_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / segments.SEGMENTS).mkdir()
    (tmp_path / segments.SEGMENTS / "text.npz").write_text("no arrays")

    with pytest.raises(BadData, match="gone-000.npz: there is no such file"):
        segments.read_segment(tmp_path, "gone-000.npz")
    with pytest.raises(BadData, match="text.npz: this is not an npz file"):
        segments.read_segment(tmp_path, "text.npz")


@pytest.mark.parametrize("scale", [1.0, 255.0])
def test_floats_up_to_1_or_up_to_255_become_bytes(scale: float, tmp_path: Path) -> None:
    images = np.full((14, 3, 180, 300), 0.5 * scale)
    images[0, 0, 0, 0] = scale
    segments.write_segment(
        tmp_path, "s-000.npz", RecordedSegment(images, sound()["actions"], sound()["states"])
    )

    found = segments.read_segment(tmp_path, "s-000.npz").images

    assert found.dtype == np.uint8
    assert int(found[0, 0, 0, 0]) == 255 and int(found[1, 0, 0, 0]) == 128


def spoilt(built: tuple[Path, Built], to: Path, **changes: str | None) -> Path:
    """A copy of the annotations whose first line is changed; a None takes a key away."""
    first, *rest = (built[0] / segments.ANNOTATIONS).read_text().splitlines()
    row = {
        key: value for key, value in {**json.loads(first), **changes}.items() if value is not None
    }
    (to / segments.ANNOTATIONS).write_text("\n".join([json.dumps(row), *rest]))
    (to / segments.SPACE).write_bytes((built[0] / segments.SPACE).read_bytes())
    shutil.copytree(built[0] / segments.SEGMENTS, to / segments.SEGMENTS)
    return to


@pytest.mark.parametrize(
    ("name", "data"), [(segments.SPACE, b'{"actions": 3}'), (segments.ANNOTATIONS, b"\xff\xfe")]
)
def test_a_damaged_file_of_the_data_is_named(
    name: str, data: bytes, built: tuple[Path, Built], tmp_path: Path
) -> None:
    folder = spoilt(built, tmp_path)
    (folder / name).write_bytes(data)

    problems = list(segments.problems(folder))

    assert len(problems) == 1 and name in problems[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ar_mc": None}, "there is no text under ar_mc"),
        ({"cr_binary_neg_a": "yes"}, "cr_binary_neg_a must be yes for a positive and no"),
        ({"ar_answer": "flying"}, "the answer 'flying' is none of"),
        ({"filename": "gone-000.npz"}, "gone-000.npz: there is no such file"),
        ({"filename": "../gone.npz"}, "the file name is a path"),
    ],
)
def test_bad_annotations_are_named_with_their_reason(
    changes: dict[str, str | None], said: str, built: tuple[Path, Built], tmp_path: Path
) -> None:
    found = list(segments.problems(spoilt(built, tmp_path, **changes)))

    assert len(found) == 1
    assert said in found[0]


def test_two_lines_about_one_segment_are_refused(built: tuple[Path, Built], tmp_path: Path) -> None:
    again = built[1].annotations[1].filename

    found = list(segments.problems(spoilt(built, tmp_path, filename=again)))

    assert found == [f"{again}: two lines of annotations.jsonl are about it. Keep one."]
