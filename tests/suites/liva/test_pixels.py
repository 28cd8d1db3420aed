"""What is filmed is what is seen: a still model stays still, clips join, and any picture fits."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from evaluators.agents.film import film_frames, fit_frame, last_frame, write_film
from evaluators.agents.journal import FolderJournal
from evaluators.agents.video_model import FilmedClip, Notes
from evaluators.media import Pixels, probe, read_image, sha256_file, write_mp4, write_png
from evaluators.suites.liva.agent.episode import AgentOptions, Tools
from evaluators.suites.liva.agent.loop import run_case
from evaluators.suites.liva.agent.trace import StepAttempt, StoredClip, Trace, TraceStep
from evaluators.suites.liva.cases.folder import own
from evaluators.suites.liva.video import VideoStep, cut, stitch
from tests.suites.liva.films import small_case
from tests.suites.liva.oracle import Script, serving


@dataclass
class StillVideo:
    """Films what it is given and nothing else; `lossless` hands over its own last frame."""

    lossless: bool = True
    name: str = "still"
    profile: str = "stands still"
    seen: tuple[Path, ...] = ()

    def make(
        self,
        frame: Path,
        caption: str,  # noqa: ARG002
        seed: int,  # noqa: ARG002
        to: Path,
        notes: Notes,  # noqa: ARG002
    ) -> FilmedClip:
        pixels = read_image(frame)
        kept = write_png(pixels, to.with_name(f"seen-{len(self.seen)}.png"))
        self.seen = (*self.seen, kept)
        last = write_png(pixels, to.with_suffix(".png")) if self.lossless else None
        return FilmedClip(write_film([pixels] * 3, to, 8), last)


def films(tmp_path: Path, model: StillVideo, subgoals: int, picture: Pixels) -> Trace:
    case = small_case(tmp_path, subgoals)
    write_png(picture, case.image_path)
    (tmp_path / "work").mkdir()
    script = Script(
        goals=tuple(f"Goal {number}." for number in range(subgoals)),
        verdict=lambda row: {**row, "success": True, "correction": None},
    )
    with serving(script) as endpoint:
        tools = Tools(
            endpoint.talker(), model, FolderJournal(tmp_path / "journal"), tmp_path / "work"
        )
        return run_case(case, tools, AgentOptions())


def test_a_still_model_is_within_one_level_of_the_first_frame_after_fourteen_clips(
    tmp_path: Path,
) -> None:
    picture = read_image(own()[0].image_path)[100:260, 200:420]
    model = StillVideo()

    trace = films(tmp_path, model, 14, picture)

    assert len(trace.clips) == 14
    after = read_image(model.seen[-1]).astype(int)
    assert np.abs(after - picture).max() <= 1


def test_a_still_model_that_gives_an_encoded_clip_only_grows_neither_darker_nor_lighter(
    tmp_path: Path,
) -> None:
    picture = read_image(own()[0].image_path)[100:260, 200:420]
    model = StillVideo(lossless=False)

    films(tmp_path, model, 14, picture)

    drift = read_image(model.seen[-1]).astype(float) - picture
    assert abs(drift.mean()) <= 1


@pytest.mark.parametrize("colour", [(200, 40, 60), (40, 200, 60), (13, 77, 201), (255, 255, 255)])
def test_a_colour_comes_back_within_a_level_and_the_clip_says_how_to_read_it(
    colour: tuple[int, int, int], tmp_path: Path
) -> None:
    import av

    clip = write_film([np.full((64, 96, 3), colour, np.uint8)] * 3, tmp_path / "a.mp4", 8)

    assert np.abs(last_frame(clip).astype(int) - colour).max() <= 1
    with av.open(clip) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (1, 1)


def test_the_same_film_is_the_same_bytes(tmp_path: Path) -> None:
    frames = np.random.default_rng(1).integers(0, 255, (5, 33, 47, 3), dtype=np.uint8)

    hashes = {sha256_file(write_film(frames, tmp_path / "a.mp4", 12.5)) for _ in range(3)}

    assert len(hashes) == 1 and probe(tmp_path / "a.mp4").fps == 12.5


@pytest.mark.parametrize(
    ("size", "to", "rule"),
    [
        ((832, 480), (512, 512), "832x480 padded to 512x512"),
        ((832, 480), (832, 480), "832x480 as it is"),
        ((832, 480), (1280, 720), "832x480 cropped to 1280x720"),
        ((1664, 960), (832, 480), "1664x960 scaled to 832x480"),
        ((480, 832), (832, 480), "480x832 padded to 832x480"),
        ((4000, 3000), (832, 480), "4000x3000 padded to 832x480"),
    ],
)
def test_a_picture_of_any_aspect_fits_a_size_without_distortion(
    size: tuple[int, int], to: tuple[int, int], rule: str
) -> None:
    width, height = size
    rows, columns = np.mgrid[:height, :width]
    radius = min(size) // 4
    inside = (rows - height // 2) ** 2 + (columns - width // 2) ** 2 < radius**2
    picture = np.where(inside[..., None], 255, 60).astype(np.uint8).repeat(3, axis=2)

    fitted = fit_frame(picture, *to)

    assert fitted.rule == rule and fitted.pixels.shape == (to[1], to[0], 3)
    disc = fitted.pixels[..., 0] > 160
    across, down = disc.any(axis=0).sum(), disc.any(axis=1).sum()
    assert abs(int(across) - int(down)) <= 2, "a circle stays a circle"


def accepted(clips: list[tuple[Path, float]]) -> Trace:
    """A trace with these clips accepted, one a step."""
    steps = []
    for number, (path, fps) in enumerate(clips):
        facts = probe(path)
        stored = StoredClip(
            sha256=sha256_file(path),
            frames=facts.frames,
            fps=fps,
            width=facts.width,
            height=facts.height,
            seconds=0.0,
        )
        attempt = StepAttempt(
            number=0,
            seed=0,
            caption=f"clip {number}",
            key_objects=(),
            clip=stored,
            error="",
            verdict=None,
            accepted=True,
            calls=(),
        )
        steps.append(
            TraceStep(
                index=number,
                goal="",
                plan=None,
                before=None,
                attempts=(attempt,),
                after=None,
                calls=(),
            )
        )
    return Trace(
        case_id="kitchen_case99",
        setting="closed_loop",
        end="completed",
        reason="",
        vlm="v",
        i2v="i",
        prompts_sha256="",
        first=None,
        opening=(),
        steps=tuple(steps),
        closing=(),
        spent={"seconds": 0.0},  # type: ignore[arg-type]
    )


def greys(levels: list[int], height: int = 48, width: int = 64) -> list[Pixels]:
    return [np.full((height, width, 3), level, np.uint8) for level in levels]


def test_clips_of_other_sizes_and_rates_are_joined_each_in_its_own_time_without_a_frame_twice(
    tmp_path: Path,
) -> None:
    first = write_film(greys([10, 40, 70]), tmp_path / "first.mp4", 8)
    second = write_film(greys([70, 100, 130, 160, 190], 24, 32), tmp_path / "second.mp4", 16)
    files = {sha256_file(path): path for path in (first, second)}

    video = stitch(
        accepted([(first, 8.0), (second, 16.0)]), files.__getitem__, tmp_path / "all.mp4"
    )

    assert video and video.fps == 16
    levels = [round(float(frame[24, 32].mean())) for frame in film_frames(video.path)]
    assert np.abs(np.subtract(levels, [10, 10, 40, 40, 70, 70, 100, 130, 160, 190])).max() <= 2
    assert video.parts == (VideoStep("clip 0", 0, 6), VideoStep("clip 1", 6, 10))
    assert (probe(video.path).width, probe(video.path).height) == (64, 48)


def test_a_long_video_is_joined_and_cut_without_holding_its_frames(tmp_path: Path) -> None:
    clip = write_film(greys(list(range(40)), 480, 832), tmp_path / "clip.mp4", 16)
    trace = accepted([(clip, 16.0)] * 3)
    tracemalloc.start()

    video = stitch(trace, lambda _: clip, tmp_path / "all.mp4")
    assert video
    parts = cut(video.path, video.parts, video.fps, tmp_path)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [probe(part).frames for part in parts] == [40, 39, 39]
    assert peak < 30 << 20, "118 frames of this size are 141 MB"


def test_a_finished_video_is_cut_at_its_steps_in_its_own_colours(tmp_path: Path) -> None:
    video = write_mp4(np.stack(greys([50, 80, 110, 140, 170, 200])), tmp_path / "all.mp4", 8)

    parts = cut(video, (VideoStep("a", 1, 3), VideoStep("b", 4, 6)), 8, tmp_path)

    levels = [[round(float(frame.mean())) for frame in film_frames(part)] for part in parts]
    assert np.abs(np.subtract(levels, [[80, 110], [170, 200]])).max() <= 2
