"""The loop around real, small random models: an image-to-video pipeline, and a chat model that says
nothing of use."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.agents.film import last_frame
from evaluators.agents.journal import FolderJournal
from evaluators.judges.http.chat import Talker
from evaluators.media import probe, read_frames, read_image, write_png
from evaluators.models import small
from evaluators.models.generate.families import FAMILIES
from evaluators.models.generate.image_to_video import CAPTIONS, DiffusionVideo
from evaluators.models.generate.settings import SamplerSettings
from evaluators.models.vlm.talk import LocalTalker
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.trace import Trace
from evaluators.suites.liva.video import stitch
from flows.workers.confined.video_main import NoNotes
from tests.suites.liva.films import RuledVideo, small_case
from tests.suites.liva.oracle import Script, serving

QUICK = SamplerSettings(steps=1, guidance=1.0, height=32, width=32, frames=5, fps=8)
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def i2v(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.make_image_to_video(tmp_path_factory.mktemp("i2v"))


def verdicts(said: Sequence[bool]) -> Any:
    """A script for reflection: these verdicts in turn, then success."""
    left: Iterator[bool] = iter(said)

    def verdict(row: dict[str, Any]) -> dict[str, Any]:
        good = next(left, True)
        return {
            **row,
            "success": good,
            "reason": "as scripted",
            "correction": None if good else "slower",
        }

    return verdict


def run(folder: Path, vlm: Talker, model: Path, **options: Any) -> Trace:
    work = folder / "work"
    work.mkdir(parents=True)
    tools = Tools(vlm, DiffusionVideo(model, QUICK), FolderJournal(folder / "journal"), work)
    return run_case(small_case(folder), tools, AgentOptions(**options))


@pytest.mark.parametrize(
    ("said", "never_done", "end", "accepted", "rejected"),
    [
        ([True, True], False, "completed", 2, 0),
        ([False, False, True, True], False, "completed", 2, 2),
        ([True, *[False] * 6], False, "failed_after_retries", 1, 6),
        ([True, False, False, False], False, "completed", 2, 3),
        ([False, True, True, True, True], True, "max_steps", 4, 1),
    ],
)
def test_a_case_filmed_by_the_small_model_ends_as_its_verdicts_say(
    tmp_path: Path,
    i2v: Path,
    said: list[bool],
    never_done: bool,
    end: str,
    accepted: int,
    rejected: int,
) -> None:
    with serving(Script(verdict=verdicts(said), never_done=never_done)) as endpoint:
        trace = run(tmp_path, endpoint.talker(), i2v)

    video = stitch(trace, FolderJournal(tmp_path / "journal").find, tmp_path / "final.mp4")
    hashes = [attempt.clip.sha256 for attempt in trace.attempts if attempt.clip]
    assert video and trace.end == end
    assert (len(trace.clips), len(trace.attempts)) == (accepted, accepted + rejected)
    assert len(set(hashes)) == len(hashes) == trace.spent.clips, (
        "another seed or frame is another clip"
    )
    assert [part.end - part.start for part in video.parts] == [5] + [4] * (accepted - 1)
    assert (
        probe(tmp_path / "final.mp4").frames
        == len(read_frames(tmp_path / "final.mp4"))
        == 1 + 4 * accepted
    )


def test_a_video_model_that_cannot_be_loaded_is_the_generators_error(
    tmp_path: Path, i2v: Path
) -> None:
    broken = shutil.copytree(i2v, tmp_path / "broken")
    for weights in broken.rglob("*.safetensors"):
        weights.write_bytes(b"nothing")

    with serving(Script()) as endpoint:
        trace = run(tmp_path, endpoint.talker(), broken)

    assert trace.end == "generator_error" and trace.clips == ()
    assert trace.steps[0].attempts[0].error == trace.reason != ""


@pytest.mark.parametrize(
    ("pipeline", "size"),
    [
        ("WanImageToVideoPipeline", (832, 480)),
        ("LTXImageToVideoPipeline", (704, 512)),
        ("HunyuanVideoImageToVideoPipeline", (1280, 720)),
        ("CogVideoXImageToVideoPipeline", (720, 480)),
    ],
)
def test_a_model_films_at_its_own_size_where_its_team_declares_none(
    tmp_path: Path, pipeline: str, size: tuple[int, int]
) -> None:
    (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": pipeline}))
    (tmp_path / "transformer").mkdir()
    (tmp_path / "transformer/config.json").write_text('{"sample_width": 90, "sample_height": 60}')

    plain = DiffusionVideo(tmp_path, replace(QUICK, width=None, height=None))
    declared = DiffusionVideo(tmp_path, QUICK)

    assert (plain.sampling.width, plain.sampling.height) == size
    assert f"{size[0]}x{size[1]}" in plain.name and f"{size[0]}x{size[1]}" in plain.profile
    assert (declared.sampling.width, declared.sampling.height) == (32, 32)


def test_a_wide_picture_is_fitted_and_the_record_says_how(tmp_path: Path, i2v: Path) -> None:
    picture = write_png(np.full((48, 96, 3), 200, np.uint8), tmp_path / "wide.png")

    clip = DiffusionVideo(i2v, QUICK).make(picture, "x", 1, tmp_path / "clip.mp4", NoNotes())

    assert clip.fitted == "96x48 padded to 32x32" and clip.last_frame
    assert np.abs(read_image(clip.last_frame) - last_frame(clip.path).astype(int)).mean() < 8


def test_each_family_says_what_its_captions_may_be(tmp_path: Path) -> None:
    readers = {row.called for row in FAMILIES if row.form == "image_to_video" and row.reads_words}
    assert set(CAPTIONS) == readers

    (tmp_path / "model_index.json").write_text('{"_class_name": "WanImageToVideoPipeline"}')
    profile = DiffusionVideo(tmp_path, SamplerSettings(frames=81, fps=16)).profile

    assert "clips of 5.1 seconds" in profile and "one whole action" in profile
    assert "English or Chinese" in profile


def test_a_folder_that_films_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text('{"_class_name": "StableDiffusionPipeline"}')

    with pytest.raises(ValueError, match="not a known image-to-video pipeline"):
        DiffusionVideo(tmp_path)


def test_a_small_random_chat_model_never_keeps_to_the_form_and_the_case_says_so(
    tmp_path: Path,
) -> None:
    talker = LocalTalker(small.make_chat_vlm(tmp_path / "vlm"), limit=8)
    (tmp_path / "work").mkdir()
    tools = Tools(talker, RuledVideo(), FolderJournal(tmp_path / "journal"), tmp_path / "work")

    trace = run_case(small_case(tmp_path), tools, AgentOptions(repairs=1))

    assert trace.end == "vlm_unusable" and trace.reason.startswith("init")
    assert len(trace.closing[0].replies) == 2 and trace.spent.vlm_calls == 2
    assert trace.closing[0].tokens_out == 16
