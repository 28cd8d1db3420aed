"""What is asked of a model that films a clip from a frame and a caption, wherever it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class GeneratorFailed(Exception):
    """The video model made no clip; the message says why."""


class Notes(Protocol):
    """A small memory for one clip that outlives a kill; it is written once."""

    def get(self) -> bytes | None: ...

    def put(self, data: bytes) -> None: ...


class VideoModel(Protocol):
    """Films a clip from a frame and a caption, or raises GeneratorFailed.

    `name` says who it is and how it samples, `profile` how to write for it. What `make` puts into
    the notes, a job's number say, it finds there when it is asked for the same clip again after a
    kill.
    """

    @property
    def name(self) -> str: ...

    @property
    def profile(self) -> str: ...

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> Path: ...
