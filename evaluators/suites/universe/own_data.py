"""A lab's own data: long recordings of any shape, rate and action space, cut and labelled by a
small description file, and mounted as a bank with boards of its own."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.contracts import Facets, Sample
from evaluators.suites.universe.construction import (
    Built,
    ClipLabels,
    Dropped,
    LongRecording,
    Rows,
    build,
)
from evaluators.suites.universe.questions import AnswerSpace
from evaluators.suites.universe.segments import (
    BadData,
    SegmentShape,
    answer_space,
    read_annotations,
)
from evaluators.worlds.lerobot.layout import INFO, BadDataset
from evaluators.worlds.lerobot.reading import open_dataset

KEYS = ("files", "rate", "images", "actions", "states", "clip", "labels", "characters")
FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class ActionRule:
    """When a clip shows an action: a control that is above some value for some frames, or below one
    where that is named, and, if named, a state that changes at least so much from the clip's first
    frame to its last."""

    label: str
    control: int
    above: float = 0.5
    frames: int = 2
    state: int | None = None
    change: float = 0.0
    below: float | None = None

    def holds(self, controls: Rows, states: Rows) -> bool:
        """Whether it does."""
        column = controls[:, self.control]
        pressed = column > self.above if self.below is None else column < self.below
        if pressed.sum() < self.frames:
            return False
        if self.state is None:
            return True
        moved = float(states[-1, self.state] - states[0, self.state])
        return moved >= self.change if self.change >= 0 else moved <= self.change


@dataclass(frozen=True, slots=True)
class DataDescription:
    """How a lab's recordings are read: which files, the names of their arrays, frames a clip and a
    second, the rules of actions, and the pattern that finds the character in a file's name. Of a
    LeRobot data set `images` names the camera, and the pattern reads the task; `files`, `actions`
    and `states` are not asked."""

    files: str
    rate: float
    images: str
    actions: str
    states: str
    clip: int
    labels: tuple[ActionRule, ...]
    characters: str


def read_description(path: Path) -> DataDescription:
    """Read a description file; BadData says what is wrong with it."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        rules = tuple(ActionRule(**rule) for rule in fields["labels"])
        re.compile(fields["characters"])
        return DataDescription(**{**fields, "labels": rules})
    except (OSError, ValueError, TypeError, KeyError, re.error) as error:
        raise BadData(
            f"{path} is no description of recordings: {error}. It is a JSON object with "
            f"{', '.join(KEYS)}; the suite's README shows one."
        ) from None


def check_recordings(folder: Path, description: Path) -> None:
    """Refuse a folder that holds no recording, before its description is read."""
    if not (_is_lerobot(folder) or any(folder.rglob("*.npz"))):
        raise BadData(
            f"There is no .npz file and no LeRobot data set in {folder}, so {description} "
            "describes nothing. Name the folder of your recordings."
        )


def convert(recordings: Path, to: Path, description: DataDescription, seed: int = 0) -> Built:
    """Cut a lab's recordings into the data layout; what cannot be used is named with a reason."""
    if _is_lerobot(recordings):
        found = _episodes(recordings, description)
    else:
        found = _files(recordings, description)
    actions = tuple(sorted({rule.label for rule in description.labels}))
    space = AnswerSpace(actions, tuple(sorted({c for c in found.characters if c is not None})))
    if min(len(space.actions), len(space.characters)) < 2:
        raise BadData("There must be two actions and two characters at least to ask about.")
    shape = _shape(found.read(0), description)
    return build(map(found.read, range(len(found.characters))), to, space, seed, shape)


def bank_samples(folder: Path) -> tuple[Sample, ...]:
    """A data folder as samples: all eight questions of each clip, under the name of its session's
    folder."""
    annotations = read_annotations(folder)
    answer_space(folder, annotations)
    return tuple(
        Sample(
            id=f"{annotation.filename.removesuffix('.npz')}.{number}",
            facets=Facets("own data", pair.task, pair.format, "text"),
            cluster=annotation.filename.removesuffix(".npz"),
            prompt=pair.question,
            reference={
                "answer": pair.answer,
                "format": pair.format,
                "segment": annotation.filename,
                FOLDER: str(folder),
            },
        )
        for annotation in annotations
        for number, pair in enumerate(annotation.pairs, 1)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Recordings by number: who is seen in each, and how one is read."""

    characters: tuple[str | None, ...]
    read: Callable[[int], LongRecording | Dropped]


def _is_lerobot(folder: Path) -> bool:
    return (folder / INFO).is_file()


def _files(folder: Path, description: DataDescription) -> _Found:
    paths = sorted(folder.glob(description.files))
    if not paths:
        raise BadData(f"No file in {folder} matches {description.files!r}. Correct `files`.")
    named = tuple(_character(path.name, description) for path in paths)
    return _Found(named, lambda number: _recording(paths[number], description))


def _episodes(folder: Path, description: DataDescription) -> _Found:
    """A robot's episodes: what it did is known, and the task names what it is about."""
    try:
        dataset = open_dataset(folder)
    except BadDataset as error:
        raise BadData(str(error)) from None
    numbers = range(len(dataset))
    named = tuple(_character(dataset.instruction(number), description) for number in numbers)

    def read(number: int) -> LongRecording | Dropped:
        name = f"episode{number:05d}"
        try:
            episode = dataset.episode(number)
            frames = episode.cameras[description.images]
        except (OSError, ValueError, KeyError) as error:
            return Dropped(name, f"it cannot be read: {error}")
        done = np.pad(episode.actions, ((0, 1), (0, 0)))
        return LongRecording(name, frames, done, episode.state, _rule(description, named[number]))

    return _Found(named, read)


def _rule(
    description: DataDescription, character: str | None
) -> Callable[[int, Rows, Rows], ClipLabels]:
    """An action where one rule holds alone."""
    rules = description.labels

    def label(_number: int, controls: Rows, states: Rows) -> ClipLabels:
        return ClipLabels(_only([r.label for r in rules if r.holds(controls, states)]), character)

    return label


def _recording(path: Path, description: DataDescription) -> LongRecording | Dropped:
    try:
        arrays = _arrays(path, description)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        return Dropped(path.name, f"it cannot be read: {error}")
    images = arrays["images"]
    frames = images if images.shape[-1] == 3 else images.transpose(0, 2, 3, 1)
    label = _rule(description, _character(path.name, description))
    return LongRecording(path.stem, frames, arrays["actions"], arrays["states"], label)


def _arrays(path: Path, description: DataDescription) -> Mapping[str, Any]:
    with np.load(path, allow_pickle=False) as data:
        images, actions = data[description.images], data[description.actions]
        states = data[description.states] if description.states else np.zeros((len(images), 1))
    if not len(images) == len(actions) == len(states):
        raise ValueError(
            f"{len(images)} images, {len(actions)} rows of actions, {len(states)} of states"
        )
    rows = {"actions": actions.astype(np.float32), "states": states.astype(np.float32)}
    if not all(np.isfinite(array).all() for array in rows.values()):
        raise ValueError("actions or states hold a number that is not finite")
    return {"images": images, **rows}


def _character(words: str, description: DataDescription) -> str | None:
    match = re.search(description.characters, words)
    return match.group(1) if match and match.groups() else None


def _shape(first: LongRecording | Dropped, description: DataDescription) -> SegmentShape:
    if isinstance(first, Dropped):
        raise BadData(f"{first.name}: {first.reason}. Mend the first recording or take it away.")
    return SegmentShape(
        description.clip,
        (),
        first.controls.shape[1],
        first.states.shape[1],
        description.rate,
    )


def _only(labels: Sequence[str]) -> str | None:
    return labels[0] if len(labels) == 1 else None
