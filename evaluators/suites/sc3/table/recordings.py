"""Real runs on the table as they are kept: the start, its first frames exactly, the actions, and
every fourth frame as H.264; one small file a start."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.suites.sc3.table.clips import (
    pack_clip,
    pack_pictures,
    unpack_clip,
    unpack_pictures,
)
from evaluators.worlds.actions import Actions
from evaluators.worlds.tabletop.starts import Placement, TableStart
from evaluators.worlds.tabletop.views import Frames

RECORDINGS = "recordings"
EVERY = 4
"""One frame in so many is kept, those that the annotator looks at."""

QUALITY = 22


@dataclass(frozen=True, slots=True)
class TableRecording:
    """A policy's real run from a start: `first` are its first frames [views, height, width, RGB],
    `clip` the bytes of every fourth frame, views side by side."""

    start: TableStart
    policy: int
    first: Frames
    actions: Actions
    clip: bytes

    def kept_frames(self) -> Frames:
        """Every fourth frame [views, moments, height, width, RGB], the first as it is."""
        film = unpack_clip(self.clip)
        film[:, 0] = self.first
        return film

    def frames(self) -> Frames:
        """As many frames as there are steps and one more; between those that are kept the last
        stands still."""
        moments = np.arange(len(self.actions) + 1) // EVERY
        return self.kept_frames()[:, moments]


def keep(start: TableStart, policy: int, frames: Frames, actions: Actions) -> TableRecording:
    """A recording of a run of which every fourth frame was filmed."""
    return TableRecording(start, policy, frames[:, 0], actions, pack_clip(frames, QUALITY))


def save_recording(recording: TableRecording, folder: Path) -> Path:
    """One file, all or nothing."""
    path = _path(folder, recording.start.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"policy": recording.policy, "start": asdict(recording.start)})
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(
            file,
            line=np.frombuffer(line.encode(), np.uint8),
            first=np.frombuffer(pack_pictures(recording.first), np.uint8),
            actions=recording.actions.astype(np.float32),
            clip=np.frombuffer(recording.clip, np.uint8),
        )
    os.replace(part, path)
    return path


@cache
def read_recording(folder: Path, start: str) -> TableRecording:
    """The recording of a start, read once a process."""
    with np.load(_path(folder, start), allow_pickle=False) as file:
        line = json.loads(file["line"].tobytes())
        return TableRecording(
            _start(line["start"]),
            int(line["policy"]),
            unpack_pictures(file["first"].tobytes()),
            file["actions"],
            file["clip"].tobytes(),
        )


def recorded_starts(folder: Path) -> tuple[str, ...]:
    """The names of the starts that are recorded in a folder, policy by policy."""
    return tuple(sorted(path.stem for path in (folder / RECORDINGS).glob("*.npz")))


def _path(folder: Path, start: str) -> Path:
    return folder / RECORDINGS / f"{start}.npz"


def _start(words: dict[str, Any]) -> TableStart:
    placements = tuple(Placement(**place) for place in words["placements"])
    start = TableStart(**{**words, "placements": placements})
    return replace(start, joints=tuple(words["joints"]))
