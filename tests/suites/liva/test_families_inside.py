"""Published image-to-video families film several steps inside the agent: in every run in a reduced
size, in the long run at their own size, frames and rate."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from evaluators.agents.journal import FolderJournal
from evaluators.agents.video_model import FilmedClip, Notes
from evaluators.media import Pixels, probe, read_image, write_png
from evaluators.models.generate.image_to_video import DiffusionVideo
from evaluators.models.generate.settings import SamplerSettings
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.trace import Trace
from evaluators.suites.liva.cases.painter import paint, scene
from evaluators.suites.liva.video import Video, stitch
from tests.models.pipelines.expected import OWN_SETTINGS
from tests.models.pipelines.from_pictures import FROM_PICTURES
from tests.models.pipelines.test_families import built
from tests.suites.liva.films import small_case
from tests.suites.liva.oracle import Script, serving
from tests.suites.liva.own_size import OWN_SIZE
from tests.suites.liva.test_small_model import verdicts

STEPS = 3
GOALS = ("The carton is open.", "The glass is full.", "The carton is closed.")


@dataclass
class WatchedVideo:
    """A video model, with the frames that it was handed and those that it ended with."""

    model: DiffusionVideo
    began: list[Pixels] = field(default_factory=list)
    ended: list[Pixels] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def profile(self) -> str:
        return self.model.profile

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> FilmedClip:
        begun = time.monotonic()
        clip = self.model.make(frame, caption, seed, to, notes)
        assert clip.last_frame is not None and clip.last_frame.suffix == ".png"
        self.began.append(read_image(frame))
        self.ended.append(read_image(clip.last_frame))
        self.seconds.append(time.monotonic() - begun)
        return clip


def filmed(folder: Path, model: DiffusionVideo) -> tuple[Trace, Video, WatchedVideo]:
    """A case of three goals, each reached with its first clip, from one of our drawn scenes."""
    watched, journal = WatchedVideo(model), FolderJournal(folder / "journal")
    case = small_case(folder, STEPS)
    write_png(np.asarray(paint(scene("kitchen_case04")).convert("RGB")), case.image_path)
    (folder / "work").mkdir()
    with serving(Script(goals=GOALS, verdict=verdicts([]))) as endpoint:
        tools = Tools(endpoint.talker(), watched, journal, folder / "work")
        trace = run_case(case, tools, AgentOptions())
    video = stitch(trace, journal.find, folder / "final.mp4")
    assert video is not None, trace.reason
    for attempt in trace.attempts:
        assert attempt.clip is not None
        facts, own = probe(journal.find(attempt.clip.sha256)), model.sampling
        assert (facts.width, facts.height, facts.frames) == (own.width, own.height, own.frames)
        assert facts.fps == own.fps
    return trace, video, watched


def check_whole(trace: Trace, video: Video, watched: WatchedVideo) -> None:
    """Every clip is accepted, begins with the pixels that the one before ended with, and is in the
    final video, where a joint is shown once."""
    own = watched.model.sampling
    assert (trace.end, len(trace.clips)) == ("completed", STEPS), trace.reason
    for ended, began in zip(watched.ended, watched.began[1:], strict=False):
        assert began.shape == (own.height, own.width, 3)
        assert np.array_equal(ended, began)
    facts = probe(video.path)
    assert (facts.width, facts.height, facts.fps) == (own.width, own.height, own.fps)
    assert facts.frames == STEPS * (own.frames - 1) + 1
    assert [part.end - part.start for part in video.parts] == [
        own.frames,
        *[own.frames - 1] * (STEPS - 1),
    ]


@pytest.mark.parametrize("name", OWN_SIZE)
def test_a_family_films_three_steps_at_its_own_rate(name: str, tmp_path: Path) -> None:
    make, side, frames = FROM_PICTURES[name]
    declared = SamplerSettings(steps=1, frames=frames, height=side, width=side)
    model = DiffusionVideo(built(make, tmp_path / "model"), declared)

    trace, video, watched = filmed(tmp_path, model)

    *_, rate = OWN_SETTINGS[f"{name} from a picture"]
    check_whole(trace, video, watched)
    assert video.fps == rate


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", OWN_SIZE)
def test_a_family_films_three_steps_at_its_own_size_frames_and_rate(
    name: str, tmp_path: Path
) -> None:
    make, size, frames, rate = OWN_SIZE[name]
    declared = SamplerSettings(steps=1, guidance=1.0)
    model = DiffusionVideo(built(make, tmp_path / "model"), declared)
    own = model.sampling
    assert ((own.width, own.height), own.frames, own.fps) == (size, frames, rate)

    begun, cpu = time.monotonic(), time.process_time()
    trace, video, watched = filmed(tmp_path, model)

    check_whole(trace, video, watched)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    clips = ", ".join(f"{seconds:.0f}" for seconds in watched.seconds)
    print(
        f"\n{name}: {size[0]}x{size[1]}, {frames} frames at {rate:g}; clips {clips} s, in all "
        f"{time.monotonic() - begun:.0f} s, {time.process_time() - cpu:.0f} s of CPU, {peak:.1f} GB"
    )
