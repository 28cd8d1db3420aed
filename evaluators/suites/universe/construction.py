"""From recorded sessions to the data set: filter, synchronise, cut into clips, describe, ask."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.media import Pixels, Unreadable, read_frames
from evaluators.suites.universe.questions import AnswerSpace, pairs
from evaluators.suites.universe.segments import (
    FRAMES,
    RecordedSegment,
    SegmentAnnotation,
    write_annotations,
    write_segment,
)
from evaluators.worlds.arena.game import (
    ACTIONS,
    CLIMBS,
    CLIP_FPS,
    DIRECTIONS,
    EVADE,
    HEIGHT,
    JUMP,
    MOUNT,
    MOVE_X,
    MOVE_Y,
    Floats,
)
from evaluators.worlds.arena.looks import CHARACTERS
from evaluators.worlds.arena.sessions import LOG, METADATA, VIDEO

SAME_LEVEL = 0.05
"""How far a jump may end from where it began and still be on the level."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A session, or a clip of one, that was left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Built:
    """What became of the sessions."""

    annotations: tuple[SegmentAnnotation, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """One session as read: frames and log rows, both with game time."""

    name: str
    metadata: dict[str, Any]
    frames: Pixels
    frame_times: Floats
    log_times: Floats
    controls: Floats
    states: Floats


def build(
    sessions: Sequence[Path], to: Path, space: AnswerSpace | None = None, seed: int = 0
) -> Built:
    """Write the data set of these session folders; corrupted and idle clips are dropped and
    listed."""
    space = space or AnswerSpace(tuple(sorted(ACTIONS)), tuple(sorted(CHARACTERS)))
    annotations: list[SegmentAnnotation] = []
    dropped: list[Dropped] = []
    for number, folder in enumerate(sessions):
        for clip in _clips(folder):
            if isinstance(clip, Dropped):
                dropped.append(clip)
                continue
            filename, segment, character, title = clip
            action = action_of(segment.actions, segment.states)
            if action is None:
                dropped.append(
                    Dropped(filename, "nobody does anything, or more than one thing, in it")
                )
                continue
            write_segment(to, filename, segment)
            question_pairs = pairs(
                action, character, space, seed * 1_000_003 + number * 1009 + len(annotations)
            )
            annotations.append(
                SegmentAnnotation(filename, f"{character} is {action} in {title}.", question_pairs)
            )
    write_annotations(to, annotations, space)
    return Built(tuple(annotations), tuple(dropped))


def split(
    annotations: Iterable[SegmentAnnotation], share: float, seed: int = 0
) -> tuple[list[SegmentAnnotation], list[SegmentAnnotation]]:
    """Training and validation: all clips of a session on one side, so that nothing leaks between
    them."""
    annotations = list(annotations)
    sessions = sorted({annotation.session for annotation in annotations})
    order = np.random.default_rng([seed, 12]).permutation(len(sessions))
    held = {sessions[i] for i in order[: round(share * len(sessions))]}
    return [annotation for annotation in annotations if annotation.session not in held], [
        annotation for annotation in annotations if annotation.session in held
    ]


def action_of(
    actions: Floats | np.ndarray[Any, Any], states: Floats | np.ndarray[Any, Any]
) -> str | None:
    """The one action of a clip by rule, from buttons, stick and height; None if there is none or
    more than one."""
    pressed = [button for button in (EVADE, JUMP, MOUNT) if actions[:, button].max() > 0.5]
    if len(pressed) != 1:
        return None
    if pressed[0] == MOUNT:
        return "mounting hoverboard"
    if pressed[0] == JUMP:
        climbed = float(states[-1, HEIGHT] - states[0, HEIGHT])
        way = 0.0 if abs(climbed) < SAME_LEVEL else float(np.sign(climbed))
        return next(name for name, sign in CLIMBS.items() if sign == way)
    stick = actions[actions[:, EVADE] > 0.5][:, [MOVE_X, MOVE_Y]].mean(0)
    return max(DIRECTIONS, key=lambda name: float(np.dot(DIRECTIONS[name], stick)))


def _clips(folder: Path) -> Iterator[tuple[str, RecordedSegment, str, str] | Dropped]:
    try:
        session = _read(folder)
    except (Unreadable, OSError, ValueError, KeyError) as error:
        yield Dropped(folder.name, f"it cannot be read: {error}")
        return
    for number in range(int(session.frame_times[-1] * CLIP_FPS + 1) // FRAMES):
        filename = f"{session.name}-{number:03d}.npz"
        times = session.frame_times[0] + (np.arange(FRAMES) + number * FRAMES) / CLIP_FPS
        segment = _segment(session, times)
        if segment is None:
            yield Dropped(filename, "video and controller log do not cover the same time")
            continue
        title = str(session.metadata.get("environment_title", session.metadata["environment"]))
        yield filename, segment, str(session.metadata["character"]), title


def _read(folder: Path) -> Recording:
    metadata = json.loads((folder / METADATA).read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / LOG).read_text("utf-8").splitlines()]
    frames = read_frames(folder / VIDEO)
    if len(frames) != metadata["frames"]:
        raise ValueError(
            f"the video has {len(frames)} frames, its metadata say {metadata['frames']}"
        )
    if not rows:
        raise ValueError("the controller log is empty")
    arrays = [
        np.array([row[name] for row in rows], float) for name in ("time", "controls", "state")
    ]
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("the controller log holds a number that is not finite")
    frame_times = metadata["video_begins"] + np.arange(len(frames)) / metadata["fps"]
    return Recording(folder.name, metadata, frames, frame_times, *arrays)


def _segment(session: Recording, times: Floats) -> RecordedSegment | None:
    """Frames and log rows nearest in game time; None where either is further off than a clip's half
    frame."""
    frame_rows, logged = _nearest(session.frame_times, times), _nearest(session.log_times, times)
    off = max(
        np.abs(session.frame_times[frame_rows] - times).max(),
        np.abs(session.log_times[logged] - times).max(),
    )
    if off > 0.5 / CLIP_FPS:
        return None
    images = np.ascontiguousarray(session.frames[frame_rows].transpose(0, 3, 1, 2))
    rows = (table[logged].astype(np.float32) for table in (session.controls, session.states))
    return RecordedSegment(images, *rows)


def _nearest(times: Floats, targets: Floats) -> np.ndarray[Any, Any]:
    return np.asarray(np.abs(times[None] - targets[:, None]).argmin(1))
