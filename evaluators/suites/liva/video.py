"""The final video: accepted clips one after the other, with the frames where each begins and
ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluators.media import read_frames, write_mp4
from evaluators.suites.liva.agent.trace import Trace

Find = Callable[[str], Path]
"""A clip's file by its SHA-256."""


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
    """Write the final video of a case; None when nothing was accepted."""
    captioned = [(attempt.caption, attempt.clip) for attempt in trace.clips if attempt.clip]
    if not captioned:
        return None
    clips = [read_frames(find(clip.sha256)) for _, clip in captioned]
    ends = np.cumsum([len(frames) for frames in clips]).tolist()
    parts = (
        VideoStep(caption, end - len(frames), end)
        for (caption, _), frames, end in zip(captioned, clips, ends, strict=True)
    )
    fps = captioned[0][1].fps
    return Video(write_mp4(np.concatenate(clips), to, fps), fps, tuple(parts))


def cut(video: Path, parts: tuple[VideoStep, ...], fps: float, folder: Path) -> list[Path]:
    """The clips of a finished video, one file a part."""
    frames = read_frames(video)
    return [
        write_mp4(frames[part.start : part.end], folder / f"part-{n:02}.mp4", fps)
        for n, part in enumerate(parts)
    ]
