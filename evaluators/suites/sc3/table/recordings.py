"""Real runs on the table as they are kept: the start, its first frames exactly, the actions, and
every fourth frame as H.264; one small file a start."""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.worlds.actions import Actions
from evaluators.worlds.tabletop.starts import Placement, TableStart
from evaluators.worlds.tabletop.views import VIEWS, Frames

RECORDINGS = "recordings"
EVERY = 4
"""One frame in so many is kept, those that the annotator looks at."""

H264 = {"crf": "22", "preset": "veryslow", "threads": "1", "x264-params": "mbtree=0"}


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
        return _unpacked(self.clip, self.first)

    def frames(self) -> Frames:
        """As many frames as there are steps and one more; between those that are kept the last
        stands still."""
        moments = np.arange(len(self.actions) + 1) // EVERY
        return self.kept_frames()[:, moments]


def keep(start: TableStart, policy: int, frames: Frames, actions: Actions) -> TableRecording:
    """A recording of a run of which every fourth frame was filmed."""
    return TableRecording(start, policy, frames[:, 0], actions, _packed(frames))


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
            first=np.frombuffer(_lossless(recording.first), np.uint8),
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
            _pictures(file["first"].tobytes()),
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


def _lossless(pictures: Frames) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    strip = np.concatenate(list(pictures), axis=1)
    Image.fromarray(strip).save(file, "WEBP", lossless=True, quality=100, method=6)
    return file.getvalue()


def _pictures(data: bytes) -> Frames:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        strip = np.asarray(image.convert("RGB"), np.uint8)
    return np.stack(np.split(strip, len(VIEWS), axis=1))


def _packed(frames: Frames) -> bytes:
    """Views side by side as one clip, colours in full resolution."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        strips = np.concatenate(list(frames), axis=2)
        stream = container.add_stream("libx264", rate=10, options=H264)
        stream.pix_fmt, stream.height, stream.width = "yuv444p", strips.shape[1], strips.shape[2]
        for strip in strips:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(strip), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return file.getvalue()


def _unpacked(clip: bytes, first: Frames) -> Frames:
    import av

    with av.open(io.BytesIO(clip), "r") as container:
        strips = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    film: npt.NDArray[np.uint8] = np.stack(np.split(np.stack(strips), len(VIEWS), axis=2))
    film[:, 0] = first
    return film
