"""A handed-in video model films in a child; the agent around it gets sound clips or a reason."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evaluators.agents.video_model import FilmingInterrupted, GeneratorFailed
from evaluators.media import probe, read_image
from flows.workers.confined.child import ChildLimits
from flows.workers.confined.video import ConfinedVideo, FilmingFault
from flows.workers.confined.video_main import NoNotes
from tests.bundles import picture

COMMAND = (sys.executable, "-m", "tests.flows.made_film")


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ConfinedVideo]:
    limits = ChildLimits(
        load_seconds=120, seconds=120, memory=4 << 30, file_bytes=10 << 20, open_files=64
    )
    made = ConfinedVideo({"suite": "liva", "given": {}}, limits, tmp_path / "work", COMMAND)
    yield made
    made.close()


@pytest.fixture
def frame(tmp_path: Path) -> Path:
    (tmp_path / "frame.png").write_bytes(picture(0, (32, 32)))
    return tmp_path / "frame.png"


def test_a_clip_comes_out_of_the_child_to_where_it_was_asked_for(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    clip = model.make(frame, "walks", 1, tmp_path / "clip.mp4", NoNotes())

    assert (model.name, clip.path) == ("made", tmp_path / "clip.mp4")
    assert probe(clip.path).frames == 5
    assert model.profile != f"pid {os.getpid()}"


def test_whatever_goes_wrong_in_the_child_is_a_failed_clip_and_the_next_is_filmed(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    reasons = {}
    for deed in ("quits", "cannot", "spoils", "steals"):
        with pytest.raises(GeneratorFailed) as failed:
            model.make(frame, deed, 1, tmp_path / "clip.mp4", NoNotes())
        reasons[deed] = str(failed.value)

    assert "ended its own process" in reasons["quits"] and reasons["cannot"] == "out of ideas"
    assert "not a clip" in reasons["spoils"] and "outside its own folder" in reasons["steals"]
    assert model.make(frame, "walks", 1, tmp_path / "clip.mp4", NoNotes()).path.exists()


def test_a_child_that_is_killed_each_time_is_a_fault_of_ours_and_interrupts_the_filming(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    with pytest.raises(FilmingFault, match="SIGKILL"):
        model.make(frame, "dies", 1, tmp_path / "clip.mp4", NoNotes())

    assert model.make(frame, "walks", 1, tmp_path / "clip.mp4", NoNotes()).path.exists()


def test_the_last_frame_comes_out_beside_its_clip_pixel_for_pixel(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    clip = model.make(frame, "hands over its last frame", 1, tmp_path / "clip.mp4", NoNotes())

    assert clip.last_frame == tmp_path / "clip.png" and clip.fitted == "32x32 as it is"
    made = np.random.default_rng(1).integers(0, 255, (5, 32, 32, 3), dtype=np.uint8)
    assert np.array_equal(read_image(clip.last_frame), made[-1])


def test_a_last_frame_of_another_size_than_its_clip_is_a_failed_clip(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    with pytest.raises(GeneratorFailed, match="16 x 16"):
        model.make(frame, "cuts its last frame", 1, tmp_path / "clip.mp4", NoNotes())


def test_a_process_that_is_killed_once_is_asked_again(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    process = int(model.profile.removeprefix("pid "))
    killer = threading.Timer(0.3, os.kill, (process, signal.SIGKILL))
    killer.start()

    clip = model.make(frame, "waits", 1, tmp_path / "clip.mp4", NoNotes())

    assert clip.path.exists() and model.profile != f"pid {process}"


def test_an_error_that_is_not_the_models_is_an_interruption(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    with pytest.raises(FilmingInterrupted, match="device is gone"):
        model.make(frame, "loses its device", 1, tmp_path / "clip.mp4", NoNotes())

    assert model.make(frame, "walks", 1, tmp_path / "clip.mp4", NoNotes()).path.exists()
