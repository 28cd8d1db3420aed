"""The released data layout: segments of fourteen frames as npz files, and one line of annotations
for each."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluators.suites.universe.questions import (
    NO,
    SHORT,
    TASKS,
    YES,
    AnswerSpace,
    QuestionAnswer,
    Task,
)

SEGMENTS, ANNOTATIONS, SPACE = "human-gameplay-segments", "annotations.jsonl", "answer-space.json"
FRAMES, CONTROLS, STATES = 14, 16, 56
PICTURES = ((180, 300), (128, 128))
"""Height and width of a segment's frames; the second one is the small world model's."""


DESCRIPTION = "dataset.json"
"""Beside the annotations of a data set whose segments have other shapes than the released ones."""


@dataclass(frozen=True, slots=True)
class SegmentShape:
    """What the segments of a data set look like: frames, pictures (height and width; any, if there
    are none), widths of controls and states, and frames a second."""

    frames: int = FRAMES
    pictures: tuple[tuple[int, int], ...] = PICTURES
    controls: int = CONTROLS
    states: int = STATES
    rate: float = 10.0


class BadData(ValueError):
    """Something in a data folder cannot be used; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class RecordedSegment:
    """Fourteen frames, channel first, with what the controller and the game say at each."""

    images: NDArray[np.uint8]
    actions: NDArray[np.float32]
    states: NDArray[np.float32]

    @property
    def frames(self) -> NDArray[np.uint8]:
        """The frames with their channels last, as pictures are."""
        return np.ascontiguousarray(self.images.transpose(0, 2, 3, 1))


@dataclass(frozen=True, slots=True)
class SegmentAnnotation:
    """What is said about a segment: a sentence and eight question-answer pairs."""

    filename: str
    description: str
    pairs: tuple[QuestionAnswer, ...]

    def label(self, task: Task) -> str:
        """The true answer of a task."""
        return next(pair.answer for pair in self.pairs if pair.task == task and pair.kind == "oe")

    @property
    def session(self) -> str:
        """The session it was cut from: its name up to the last hyphen."""
        return self.filename.removesuffix(".npz").rpartition("-")[0]


def segment_path(folder: Path, filename: str) -> Path:
    """Where a segment lies in a data folder."""
    return folder / SEGMENTS / filename


def write_segment(folder: Path, filename: str, segment: RecordedSegment) -> Path:
    """One npz file in the layout."""
    path = segment_path(folder, filename)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, images=segment.images, actions=segment.actions, states=segment.states)
    return path


def read_segment(folder: Path, filename: str) -> RecordedSegment:
    """Read and check one segment; BadData names the file and what is wrong with it."""
    path = segment_path(folder, filename)
    try:
        with np.load(path, allow_pickle=False) as data:
            arrays = {name: data[name] for name in ("images", "actions", "states")}
    except FileNotFoundError:
        raise BadData(f"{filename}: there is no such file in {SEGMENTS}.") from None
    except KeyError as error:
        raise BadData(
            f"{filename}: {error.args[0]}. A segment has images, actions and states."
        ) from None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise BadData(f"{filename}: this is not an npz file of plain arrays ({error}).") from None
    shape = read_shape(folder)
    return RecordedSegment(
        images=_images(filename, arrays["images"], shape),
        actions=_rows(filename, "actions", arrays["actions"], shape.frames, shape.controls),
        states=_rows(filename, "states", arrays["states"], shape.frames, shape.states),
    )


def write_shape(folder: Path, shape: SegmentShape) -> Path:
    """The description of segments that have other shapes than the released ones."""
    path = folder / DESCRIPTION
    path.write_text(json.dumps(asdict(shape), indent=1) + "\n", "utf-8")
    return path


def read_shape(folder: Path) -> SegmentShape:
    """What a data set says of its segments; without a description, the released shape."""
    path = folder / DESCRIPTION
    if not path.is_file():
        return SegmentShape()
    try:
        stored = json.loads(path.read_text("utf-8"))
        pictures = tuple((int(height), int(width)) for height, width in stored.pop("pictures", ()))
        return SegmentShape(pictures=pictures, **stored)
    except (ValueError, TypeError, AttributeError):
        names = ", ".join(field.name for field in fields(SegmentShape))
        raise BadData(f"{path} is no description. Write a JSON object of {names}.") from None


def write_annotations(
    folder: Path, annotations: Iterable[SegmentAnnotation], space: AnswerSpace
) -> Path:
    """One line a segment, and the labels that may be answers beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ANNOTATIONS
    path.write_text(
        "".join(f"{json.dumps(_row(annotation))}\n" for annotation in annotations), "utf-8"
    )
    labels = {"actions": space.actions, "characters": space.characters}
    (folder / SPACE).write_text(json.dumps(labels, indent=1), "utf-8")
    return path


def read_annotations(folder: Path) -> tuple[SegmentAnnotation, ...]:
    """All annotations of a folder; BadData names the line, or the segment, and the reason."""
    path = folder / ANNOTATIONS
    if not path.is_file():
        raise BadData(
            f"{folder} has no {ANNOTATIONS}. Name the folder that holds it and {SEGMENTS}."
        )
    annotations = tuple(_annotation(number, line) for number, line in _lines(path))
    filenames: set[str] = set()
    for annotation in annotations:
        if annotation.filename in filenames:
            raise BadData(
                f"{annotation.filename}: two lines of {ANNOTATIONS} are about it. Keep one."
            )
        filenames.add(annotation.filename)
    return annotations


def answer_space(folder: Path, annotations: Sequence[SegmentAnnotation]) -> AnswerSpace:
    """The labels a data set says it has, or else all that occur in it."""
    path = folder / SPACE
    if path.is_file():
        try:
            stored = json.loads(path.read_text("utf-8"))
            return AnswerSpace(tuple(stored["actions"]), tuple(stored["characters"]))
        except (ValueError, KeyError, TypeError):
            raise BadData(
                f"{path} has no lists of actions and characters. Write them as JSON."
            ) from None
    actions, characters = (
        tuple(sorted({annotation.label(task) for annotation in annotations})) for task in TASKS
    )
    return AnswerSpace(actions, characters)


def problems(folder: Path, part: int = 0, parts: int = 1) -> Iterator[str]:
    """Everything that is wrong with a data folder, a sentence each; a sound one has none.

    Several processes may share the work: each reads the segments of its part.
    """
    try:
        annotations = read_annotations(folder)
    except BadData as bad:
        yield str(bad)
        return
    try:
        space = answer_space(folder, annotations)
    except BadData as bad:
        yield str(bad)
        return
    for annotation in annotations[part::parts]:
        yield from _outside(annotation, space)
        try:
            read_segment(folder, annotation.filename)
        except BadData as bad:
            yield str(bad)


def _images(filename: str, images: NDArray[Any], shape: SegmentShape) -> NDArray[np.uint8]:
    """Frames as bytes; numbers up to 1 count as shares, those up to 255 as they are."""
    sizes = ", ".join(map(str, shape.pictures)) or "any"
    expected = f"({shape.frames}, 3, height, width) with height and width one of {sizes}"
    if images.ndim == 4 and images.shape[0] != shape.frames:
        raise BadData(f"{filename}: it has {images.shape[0]} frames. A segment has {shape.frames}.")
    other = bool(shape.pictures) and images.shape[2:] not in shape.pictures
    if images.ndim != 4 or images.shape[1] != 3 or other:
        raise BadData(f"{filename}: images have shape {images.shape}. Wanted is {expected}.")
    if images.dtype == np.uint8:
        return images
    if not np.issubdtype(images.dtype, np.number) or not np.isfinite(images).all():
        raise BadData(
            f"{filename}: images hold NaN, infinity or no numbers. Write them again from the "
            "source."
        )
    low, high = float(images.min()), float(images.max())
    if low < 0 or high > 255:
        raise BadData(
            f"{filename}: images go from {low:g} to {high:g}. Wanted is 0 to 1 or 0 to 255."
        )
    scale = 255 if np.issubdtype(images.dtype, np.floating) and high <= 1 else 1
    return np.floor(images * scale + 0.5).astype(np.uint8)


def _rows(
    filename: str, name: str, rows: NDArray[Any], frames: int, width: int
) -> NDArray[np.float32]:
    if rows.shape != (frames, width):
        raise BadData(f"{filename}: {name} have shape {rows.shape}. Wanted is ({frames}, {width}).")
    if not np.issubdtype(rows.dtype, np.number) or not np.isfinite(rows).all():
        raise BadData(
            f"{filename}: {name} hold NaN, infinity or no numbers. Write them again from the "
            "source."
        )
    return rows.astype(np.float32)


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise BadData(f"{path} is not text in UTF-8. Write one object a line, as JSON.") from None
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except ValueError:
            raise BadData(
                f"{path.name}, line {number}: this is not JSON. Write one object a line."
            ) from None
        if not isinstance(row, dict):
            raise BadData(
                f"{path.name}, line {number}: this is no object. Write one object a line."
            )
        yield number, row


def _annotation(number: int, row: Mapping[str, Any]) -> SegmentAnnotation:
    where = row.get("filename") or f"{ANNOTATIONS}, line {number}"
    absent = [key for key in _KEYS if not isinstance(row.get(key), str) or not row[key].strip()]
    if absent:
        raise BadData(f"{where}: there is no text under {', '.join(absent)}.")
    if "/" in row["filename"] or "\\" in row["filename"]:
        raise BadData(f"{where}: the file name is a path. Name the file alone.")
    wrong = [
        f"{short}_binary_{way}_a"
        for short in SHORT.values()
        for way, right in (("pos", YES), ("neg", NO))
        if row[f"{short}_binary_{way}_a"].strip().lower().rstrip(".") != right
    ]
    if wrong:
        raise BadData(
            f"{where}: {', '.join(wrong)} must be yes for a positive and no for a negative "
            "question."
        )
    return SegmentAnnotation(
        row["filename"],
        row["description"],
        tuple(p for task in TASKS for p in _read_pairs(task, row)),
    )


def _read_pairs(task: Task, row: Mapping[str, str]) -> Iterator[QuestionAnswer]:
    short = SHORT[task]
    yield QuestionAnswer(
        task, "binary_pos", row[f"{short}_binary_pos_q"], row[f"{short}_binary_pos_a"]
    )
    yield QuestionAnswer(
        task, "binary_neg", row[f"{short}_binary_neg_q"], row[f"{short}_binary_neg_a"]
    )
    yield QuestionAnswer(task, "mc", row[f"{short}_mc"], row[f"{short}_answer"])
    yield QuestionAnswer(task, "oe", row[f"{short}_oe"], row[f"{short}_answer"])


def _row(annotation: SegmentAnnotation) -> dict[str, str]:
    row = {"filename": annotation.filename, "description": annotation.description}
    for pair in annotation.pairs:
        short = SHORT[pair.task]
        if pair.format == "binary":
            row |= {f"{short}_{pair.kind}_q": pair.question, f"{short}_{pair.kind}_a": pair.answer}
        else:
            row |= {f"{short}_{pair.kind}": pair.question, f"{short}_answer": pair.answer}
    return row


_KEYS = (
    "filename", "description",
    *(f"{short}_{suffix}" for short in SHORT.values() for suffix in
      ("binary_pos_q", "binary_pos_a", "binary_neg_q", "binary_neg_a", "mc", "oe", "answer")),
)  # fmt: skip


def _outside(annotation: SegmentAnnotation, space: AnswerSpace) -> Iterator[str]:
    for task in TASKS:
        label = annotation.label(task)
        if label not in space.of(task):
            yield (
                f"{annotation.filename}: the answer {label!r} is none of "
                f"{', '.join(space.of(task))}."
            )
