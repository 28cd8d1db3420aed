"""The final video: accepted clips one after the other, with the frames where each begins and
ends. Frames pass one at a time, however long the video is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from evaluators.agents.film import film_frames, fit_frame, write_film
from evaluators.media import Pixels
from evaluators.suites.liva.agent.trace import StepAttempt, StoredClip, Trace

Find = Callable[[str], Path]
"""A clip's file by its SHA-256."""
Frame = TypeVar("Frame")


@dataclass(frozen=True, slots=True)
class VideoStep:
    """One step in a video: its caption, and its frames from `start` up to but not including
    `end`."""

    caption: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Video:
    """A stitched video."""

    path: Path
    fps: float
    parts: tuple[VideoStep, ...]


def stitch(trace: Trace, find: Find, to: Path) -> Video | None:
    """Write the final video of a case; None when nothing was accepted.

    It has the size of the largest clip and the highest rate: smaller clips are fitted in and slower
    ones repeat frames, so that each takes its own time. A clip begins with the frame that the one
    before it ends with; that frame is shown once.
    """
    clips = [attempt.clip for attempt in trace.clips if attempt.clip]
    if not clips:
        return None
    largest = max(clips, key=lambda clip: clip.width * clip.height)
    fps = max(clip.fps for clip in clips)
    parts: list[VideoStep] = []
    path = write_film(_joined(trace.clips, find, largest, fps, parts), to, fps)
    return Video(path, fps, tuple(parts))


def cut(video: Path, parts: tuple[VideoStep, ...], fps: float, folder: Path) -> list[Path]:
    """The clips of a finished video, one file a part; parts are in order and do not overlap."""
    frames, at = film_frames(video), 0
    files: list[Path] = []
    for number, part in enumerate(parts):
        own = islice(frames, part.start - at, part.end - at)
        files.append(write_film(own, folder / f"part-{number:02}.mp4", fps))
        at = part.end
    return files


def at_rate(frames: Iterable[Frame], rate: float, fps: float) -> Iterator[Frame]:
    """At each moment of a clock with `fps` the frame that is visible then.

    >>> "".join(at_rate("abc", 8, 16)), "".join(at_rate("abcd", 16, 24))
    ('aabbcc', 'aabccd')
    """
    moment = 0
    for number, frame in enumerate(frames):
        while moment * rate < (number + 1) * fps:
            yield frame
            moment += 1


def _joined(
    attempts: Sequence[StepAttempt],
    find: Find,
    size: StoredClip,
    fps: float,
    parts: list[VideoStep],
) -> Iterator[Pixels]:
    """Every frame of the final video; a part is noted when its last frame was passed on."""
    written = 0
    for attempt in attempts:
        clip, start = attempt.clip, written
        assert clip is not None, "an accepted attempt has a clip"
        joint = 1 if parts and clip.frames > 1 else 0
        frames = islice(film_frames(find(clip.sha256)), joint, None)
        for pixels in at_rate(frames, clip.fps or fps, fps):
            yield fit_frame(pixels, size.width, size.height).pixels
            written += 1
        parts.append(VideoStep(attempt.caption, start, written))
