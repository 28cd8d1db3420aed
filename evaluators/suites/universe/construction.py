"""From long recordings to the data set: cut into clips, label by rule, ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Pixels
from evaluators.suites.universe.bank import SPACE
from evaluators.suites.universe.questions import AnswerSpace, pairs
from evaluators.suites.universe.segments import (
    CONTROLS,
    FRAMES,
    STATES,
    RecordedSegment,
    SegmentAnnotation,
    SegmentShape,
    write_annotations,
    write_segment,
    write_shape,
)
from evaluators.worlds.doom import truth
from evaluators.worlds.doom.sessions import PlayedSession

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ClipLabels:
    """What a rule says of a clip; a label that is None cannot be seen or told, for a reason."""

    action: str | None
    character: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LongRecording:
    """One recording of any length: frames with their channels last, controls and states a row a
    frame, and the rule that labels its clips by number, controls and states."""

    name: str
    frames: Pixels
    controls: Rows
    states: Rows
    label: Callable[[int, Rows, Rows], ClipLabels]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A recording, or a clip of one, that was left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Built:
    """What became of the recordings."""

    annotations: tuple[SegmentAnnotation, ...]
    dropped: tuple[Dropped, ...]


def build(
    recordings: Iterable[LongRecording | Dropped],
    to: Path,
    space: AnswerSpace = SPACE,
    seed: int = 0,
    shape: SegmentShape | None = None,
) -> Built:
    """Write the data set of these recordings; clips whose truth cannot be told are dropped and
    listed."""
    annotations: list[SegmentAnnotation] = []
    dropped: list[Dropped] = []
    for recording in recordings:
        if isinstance(recording, Dropped):
            dropped.append(recording)
            continue
        for clip in _clips(recording, shape.frames if shape else FRAMES):
            if isinstance(clip, Dropped):
                dropped.append(clip)
                continue
            filename, segment, action, character = clip
            write_segment(to, filename, segment)
            eight = pairs(action, character, space, seed * 1_000_003 + len(annotations))
            said = f"{character} is seen; the player is {action}{recording.title}."
            annotations.append(SegmentAnnotation(filename, said, eight))
    write_annotations(to, annotations, space)
    if shape is not None:
        write_shape(to, shape)
    return Built(tuple(annotations), tuple(dropped))


def of_session(session: PlayedSession) -> LongRecording | Dropped:
    """A recorded session of the game, its controls and states padded to the released widths."""
    order = session.order
    name = f"{order.environment}-{order.seed}"
    if not len(session.frames):
        return Dropped(name, "no place was found from which the character is seen")
    controls, states = (
        rows.reshape(-1, rows.shape[-1]) for rows in (session.controls, session.states)
    )
    return LongRecording(
        name,
        session.frames.reshape(-1, *session.frames.shape[2:]),
        _padded(controls, CONTROLS),
        _padded(states, STATES),
        game_labels,
        f" in {order.environment}",
    )


def game_labels(_number: int, controls: Rows, states: Rows) -> ClipLabels:
    """What is true of a clip of the game, by rule."""
    return ClipLabels(truth.action_of(controls, states), truth.character_of(states))


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


def _clips(
    recording: LongRecording, length: int
) -> Iterator[tuple[str, RecordedSegment, str, str] | Dropped]:
    """Clips that do not overlap, from the first frame on."""
    for number in range(len(recording.frames) // length):
        part = slice(number * length, (number + 1) * length)
        filename = f"{recording.name}-{number:03d}.npz"
        controls, states = recording.controls[part], recording.states[part]
        labels = recording.label(number, controls, states)
        if labels.action is None:
            reason = labels.reason or "no action, more than one, or one without effect"
            yield Dropped(filename, reason)
        elif labels.character is None:
            reason = labels.reason or "nobody can be seen well enough, or more than one"
            yield Dropped(filename, reason)
        else:
            images = np.ascontiguousarray(recording.frames[part].transpose(0, 3, 1, 2))
            segment = RecordedSegment(images, controls, states)
            yield filename, segment, labels.action, labels.character


def _padded(rows: Rows, width: int) -> Rows:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
