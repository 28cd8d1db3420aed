"""A handed-in video model films in a child; the agent around it gets sound clips or a reason."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.agents.video_model import GeneratorFailed
from evaluators.media import probe
from flows.workers.confined.child import ChildLimits
from flows.workers.confined.video import ConfinedVideo
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

    assert (model.name, clip) == ("made", tmp_path / "clip.mp4") and probe(clip).frames == 5
    assert model.profile != f"pid {os.getpid()}"


def test_whatever_goes_wrong_in_the_child_is_a_failed_clip_and_the_next_is_filmed(
    model: ConfinedVideo, frame: Path, tmp_path: Path
) -> None:
    reasons = {}
    for deed in ("dies", "cannot", "spoils", "steals"):
        with pytest.raises(GeneratorFailed) as failed:
            model.make(frame, deed, 1, tmp_path / "clip.mp4", NoNotes())
        reasons[deed] = str(failed.value)

    assert "ended its own process" in reasons["dies"] and reasons["cannot"] == "out of ideas"
    assert "not a clip" in reasons["spoils"] and "outside its own folder" in reasons["steals"]
    assert model.make(frame, "walks", 1, tmp_path / "clip.mp4", NoNotes()).exists()
