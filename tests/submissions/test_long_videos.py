"""A video of several clips may be as long as its clips together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluators.agents.film import write_film
from evaluators.contracts import Outcome, Output
from flows.workers.outputs import store_generated
from infra.store import open_store
from submissions.bundle.check import SuiteFacts, _job
from submissions.format.archive import Span
from submissions.format.manifest import DeclaredStep, File
from submissions.media.facts import MOST_FRAMES, NOTHING, Refused, for_clips, inspect

FRAMES = 13 * 161
"""Thirteen clips of 161 frames each."""


@pytest.fixture(scope="module")
def long_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    frames = (np.full((32, 32, 3), 40 + n % 160, np.uint8) for n in range(FRAMES))
    return write_film(frames, tmp_path_factory.mktemp("long") / "long.mp4", 25)


def test_a_single_clip_has_the_plain_limit(long_video: Path) -> None:
    with pytest.raises(Refused, match=f"{MOST_FRAMES}"):
        inspect(long_video, long_video.name, "video")


def test_thirteen_clips_may_have_thirteen_times_the_frames(long_video: Path) -> None:
    facts = inspect(long_video, long_video.name, "video", for_clips(NOTHING, 13))

    assert facts.frames == FRAMES > MOST_FRAMES


def test_what_the_agent_films_is_taken_however_many_clips_it_has(
    long_video: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "a.mp4"
    copy.write_bytes(long_video.read_bytes())
    output = Output("a", Outcome.SCORED, copy, {"clips": [{"sha256": str(n)} for n in range(13)]})

    stored = store_generated(output, "video", open_store(str(tmp_path / "objects")))

    assert (stored.outcome, stored.record["frames"]) == (Outcome.SCORED, FRAMES)


def test_a_handed_in_video_has_the_frames_of_the_steps_it_declares() -> None:
    steps = [DeclaredStep(caption="a", start=n, end=n + 1) for n in range(14)]
    suite = SuiteFacts("liva", "1.0", ("outputs",), {"a": "video"}, {}, {})

    limits = [
        _job(
            File(path="a.mp4", sha256="0" * 64, sample="a", steps=declared),
            Span("a", 0, 1, 1),
            suite,
        ).asked.most_frames
        for declared in (None, steps)
    ]

    assert limits == [MOST_FRAMES, 14 * MOST_FRAMES]
