"""The dataset builder: how many questions of which kind, about which clips, seen through which
frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import Policy, allocate, choose_frames
from evaluators.metrics.text import Format
from evaluators.suites.universe.questions import QuestionAnswer, Task
from evaluators.suites.universe.segments import FRAMES, SegmentAnnotation, read_segment

if TYPE_CHECKING:
    from evaluators.models.adapt.batches import Lesson

ALPHA: Mapping[str, float] = {"action_recognition": 0.8, "character_recognition": 0.2}
BETA: Mapping[str, float] = {"binary": 0.15, "multiple_choice": 0.05, "open_ended": 0.8}
"""The paper's best mixture."""
LONGEST = 8
"""Frames an evaluator sees at once; a longer context is a window of these that slides by half of
them."""


@dataclass(frozen=True, slots=True)
class MixtureItem:
    """One thing to learn: a clip's frames by their numbers, a question and its answer."""

    filename: str
    frames: tuple[int, ...]
    task: Task
    format: Format
    question: str
    answer: str


@dataclass(frozen=True)
class Dataset:
    """Items over a data folder; frames are read when they are asked for."""

    folder: Path
    items: tuple[MixtureItem, ...]

    def __len__(self) -> int:
        return len(self.items)

    def frames(self, number: int) -> Pixels:
        """The frames of an item."""
        item = self.items[number]
        return _frames(self.folder, item.filename)[list(item.frames)]

    def __getitem__(self, number: int, /) -> Lesson:
        from evaluators.models.adapt.batches import Lesson

        item = self.items[number]
        return Lesson(self.frames(number), ((item.question, item.answer),))


def build(
    folder: Path,
    annotations: Sequence[SegmentAnnotation],
    alpha_task: Mapping[str, float] = ALPHA,
    beta_format: Mapping[str, float] = BETA,
    context_length: int = LONGEST,
    sampling_strategy: Policy = "uniform_n",
    total: int | None = None,
    seed: int = 0,
) -> Dataset:
    """Items in a random order, as many as there are clips unless told; counts by largest
    remainder."""
    if not annotations:
        raise ValueError("There is no clip to ask about. Give at least one annotation.")
    rng = np.random.default_rng([seed, 13])
    choices = windows(context_length, sampling_strategy)
    items = []
    for share in allocate(len(annotations) if total is None else total, alpha_task, beta_format):
        for number in _drawn(len(annotations), share.count, rng):
            pair = _pair(annotations[number], share.task, share.format, rng)
            frames = choices[int(rng.integers(len(choices)))]
            items.append(
                MixtureItem(
                    annotations[number].filename,
                    frames,
                    pair.task,
                    pair.format,
                    pair.question,
                    pair.answer,
                )
            )
    return Dataset(folder, tuple(items[i] for i in rng.permutation(len(items))))


def windows(
    context_length: int, policy: Policy = "uniform_n", length: int = FRAMES
) -> tuple[tuple[int, ...], ...]:
    """The frames an evaluator sees: one choice up to eight frames, sliding windows of eight beyond.

    >>> windows(2), windows(12)
    (((0, 13),), ((0, 1, 2, 4, 5, 6, 7, 8), (5, 6, 7, 8, 9, 11, 12, 13)))
    """
    if context_length < 1:
        raise ValueError(f"A context of {context_length} frames shows nothing. Give at least 1.")
    chosen = choose_frames(length, context_length, policy)
    if len(chosen) <= LONGEST:
        return (chosen,)
    starts = range(0, len(chosen) - LONGEST + 1, LONGEST // 2)
    last = len(chosen) - LONGEST
    return tuple(chosen[start : start + LONGEST] for start in dict.fromkeys((*starts, last)))


def _drawn(clips: int, count: int, rng: np.random.Generator) -> Iterator[int]:
    """Clips without repetition; when all were drawn, all again in another order."""
    for start in range(0, count, clips):
        yield from (int(i) for i in rng.permutation(clips)[: count - start])


def _pair(
    annotation: SegmentAnnotation, task: str, form: str, rng: np.random.Generator
) -> QuestionAnswer:
    """The clip's pair of that kind; one of the two where there are a positive and a negative
    question."""
    candidates = [pair for pair in annotation.pairs if pair.task == task and pair.format == form]
    return candidates[int(rng.integers(len(candidates)))]


@lru_cache(maxsize=64)
def _frames(folder: Path, filename: str) -> Pixels:
    return read_segment(folder, filename).frames
