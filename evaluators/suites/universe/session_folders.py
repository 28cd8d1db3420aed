"""Sessions as a game records them: a video, a controller log and metadata in a folder, brought
together by game time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Unreadable, read_frames, write_mp4
from evaluators.suites.universe.construction import (
    ClipLabels,
    Dropped,
    LongRecording,
    Rows,
    game_labels,
)
from evaluators.suites.universe.segments import FRAMES
from evaluators.worlds.doom.places import RATE

VIDEO, LOG, METADATA = "video.mp4", "controller.jsonl", "metadata.json"
Times = NDArray[np.float64]


def write_session(folder: Path, recording: LongRecording) -> Path:
    """One session folder; log and video carry game time."""
    folder.mkdir(parents=True, exist_ok=True)
    write_mp4(recording.frames, folder / VIDEO, RATE)
    rows = zip(recording.controls, recording.states, strict=True)
    log = [
        {"time": number / RATE, "controls": controls.tolist(), "state": states.tolist()}
        for number, (controls, states) in enumerate(rows)
    ]
    (folder / LOG).write_text("".join(f"{json.dumps(row)}\n" for row in log), "utf-8")
    metadata = {"fps": RATE, "frames": len(recording.frames), "video_begins": 0.0}
    (folder / METADATA).write_text(json.dumps(metadata, indent=1), "utf-8")
    return folder


def read_session(folder: Path, rate: float = RATE) -> LongRecording | Dropped:
    """A session at the rate of clips, with its labels by the game's rules; a folder that cannot be
    read is dropped with the reason."""
    try:
        return _read(folder, rate)
    except (Unreadable, OSError, ValueError, KeyError) as error:
        return Dropped(folder.name, f"it cannot be read: {error}")


def _read(folder: Path, rate: float) -> LongRecording:
    metadata = json.loads((folder / METADATA).read_text("utf-8"))
    log_times, controls, states = _log(folder / LOG)
    frames = read_frames(folder / VIDEO)
    if len(frames) != metadata["frames"]:
        raise ValueError(
            f"the video has {len(frames)} frames, its metadata say {metadata['frames']}"
        )
    frame_times = metadata["video_begins"] + np.arange(len(frames)) / metadata["fps"]
    times = frame_times[0] + np.arange(int((frame_times[-1] - frame_times[0]) * rate + 1.5)) / rate
    shown, logged = _nearest(frame_times, times), _nearest(log_times, times)
    far = np.maximum(np.abs(frame_times[shown] - times), np.abs(log_times[logged] - times))
    pressed, true = (table[logged].astype(np.float32) for table in (controls, states))
    return LongRecording(folder.name, frames[shown], pressed, true, _rule(far <= 0.5 / rate))


def _rule(covered: NDArray[np.bool_]) -> Any:
    """The game's labels where video and log cover the same time."""

    def label(number: int, controls: Rows, states: Rows) -> ClipLabels:
        if not covered[number * FRAMES : (number + 1) * FRAMES].all():
            return ClipLabels(None, None, "video and controller log do not cover the same time")
        return game_labels(number, controls, states)

    return label


def _log(path: Path) -> tuple[Times, Times, Times]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if not rows:
        raise ValueError("the controller log is empty")
    times, controls, states = (
        np.array([row[name] for row in rows], float) for name in ("time", "controls", "state")
    )
    if not all(np.isfinite(array).all() for array in (times, controls, states)):
        raise ValueError("the controller log holds a number that is not finite")
    return times, controls, states


def _nearest(times: Times, targets: Times) -> NDArray[np.intp]:
    return np.asarray(np.abs(times[None] - targets[:, None]).argmin(1))
