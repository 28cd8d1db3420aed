"""What is asked of a model that films a clip from a frame and a caption, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

SHORT, LONG = 2.0, 6.0
"""Seconds of a clip below which it shows a movement, and above which more than an action."""


class GeneratorFailed(Exception):
    """The video model made no clip; the message says why."""


class FilmingInterrupted(Exception):
    """Filming broke down by no fault of the model: a process that was killed, a device that is
    gone. Nothing of it counts; the same clip is asked for again."""


@dataclass(frozen=True, slots=True)
class FilmedClip:
    """A clip as people see it, and its last frame as the model made it.

    `last_frame` is a PNG, None from a model that gives nothing but an encoded clip. `fitted` says
    how the frame that the model was given was brought to its size.
    """

    path: Path
    last_frame: Path | None = None
    fitted: str = ""


class Notes(Protocol):
    """A small memory for one clip that outlives a kill; it is written once."""

    def get(self) -> bytes | None: ...

    def put(self, data: bytes) -> None: ...


class VideoModel(Protocol):
    """Films a clip from a frame and a caption, or raises GeneratorFailed, or FilmingInterrupted.

    `name` says who it is and how it samples, `profile` how to write for it. What `make` puts into
    the notes, a job's number say, it finds there when it is asked for the same clip again after a
    kill.
    """

    @property
    def name(self) -> str: ...

    @property
    def profile(self) -> str: ...

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> FilmedClip: ...


def profile_of(model: str, seconds: float, size: str, captions: str) -> str:
    """What somebody who plans and writes for a video model has to know of it.

    >>> profile_of("Wan", 5.0, "832x480", "English")
    'Wan, clips of 5.0 seconds at 832x480, long enough for one whole action; captions in English'
    """
    if seconds < SHORT:
        motion = "long enough for a single movement"
    elif seconds <= LONG:
        motion = "long enough for one whole action"
    else:
        motion = "long enough for one action of two or three movements"
    return f"{model}, clips of {seconds:.1f} seconds at {size}, {motion}; captions in {captions}"
