"""The dataset builder: how many questions of which kind, about which clips, seen through which
frames."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import Policy, allocate, choose_frames
from evaluators.metrics.text import Format
from evaluators.suites.universe.questions import (
    DESCRIPTION,
    NO,
    TASKS,
    YES,
    AnswerSpace,
    Kind,
    QuestionAnswer,
    Task,
    multiple_choice,
)
from evaluators.suites.universe.segments import (
    SegmentAnnotation,
    read_segment,
    read_shape,
    segment_path,
)

if TYPE_CHECKING:
    from evaluators.models.adapt.batches import Lesson

ALPHA: Mapping[str, float] = {"action_recognition": 0.8, "character_recognition": 0.2}
BETA: Mapping[str, float] = {"binary": 0.15, "multiple_choice": 0.05, "open_ended": 0.8}
"""The paper's best mixture."""
A_PAIR = 3
"""Questions of a lesson with both yes/no questions: these, and one that names the label."""
CONTEXT = 8
"""Frames an evaluator sees of a clip, unless told otherwise; it sees all of them at once."""


@dataclass(frozen=True, slots=True)
class MixtureItem:
    """One thing to learn: a clip's frames by their numbers, a question and its answer. With a menu
    it is asked as a judge of rollouts is asked."""

    filename: str
    frames: tuple[int, ...]
    task: Task
    format: Format
    question: str
    answer: str
    menu: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with a menu, as the board of worlds asks it."""

    text: str
    format: Format
    menu: tuple[str, ...]


@dataclass(frozen=True)
class Dataset:
    """Items over a data folder; frames are read when they are asked for."""

    folder: Path
    items: tuple[MixtureItem, ...]
    questions: int = 1
    """Neighbouring items that are about one clip and make one lesson."""

    def __len__(self) -> int:
        return len(self.items) // self.questions

    def __getitem__(self, number: int, /) -> Lesson:
        from evaluators.models.adapt.batches import Judged, Lesson

        asked = self.items[number * self.questions : (number + 1) * self.questions]
        frames = _frames(self.folder, asked[0].filename)[list(asked[0].frames)]
        menus = tuple(item.menu for item in asked)
        judged = Judged(DESCRIPTION, menus) if all(menus) else None
        return Lesson(frames, tuple((item.question, item.answer) for item in asked), judged)

    @property
    def fingerprint(self) -> str:
        """One hash over what is asked in which order, and over the sizes of the clips' files."""
        names = sorted({item.filename for item in self.items})
        sizes = [(name, segment_path(self.folder, name).stat().st_size) for name in names]
        told = [
            (i.filename, i.frames, i.question, i.answer, *([i.menu] if i.menu else []))
            for i in self.items
        ]
        return hashlib.sha256(repr((told, sizes, self.questions)).encode()).hexdigest()


def build(
    folder: Path,
    annotations: Sequence[SegmentAnnotation],
    alpha_task: Mapping[str, float] = ALPHA,
    beta_format: Mapping[str, float] = BETA,
    context_length: int = CONTEXT,
    sampling_strategy: Policy = "uniform_n",
    total: int | None = None,
    seed: int = 0,
    questions: int = 1,
    pairs: bool = False,
) -> Dataset:
    """Lessons in a random order, as many as there are clips unless told; counts by largest
    remainder.

    With several questions a lesson, each clip's are drawn by the same weights and none twice, so
    that shares hold only about. With pairs a lesson has three of one task: the question to be
    answered with yes, that with no, and a menu or the open one.
    """
    if not annotations:
        raise ValueError("There is no clip to ask about. Give at least one annotation.")
    if context_length < 1:
        raise ValueError(f"A context of {context_length} frames shows nothing. Give at least 1.")
    rng = np.random.default_rng([seed, 13])
    length = read_shape(folder).frames
    frames = choose_frames(length, context_length, sampling_strategy)
    count = len(annotations) if total is None else total
    if pairs or questions > 1:
        asked = A_PAIR if pairs else questions
        choose = both_and_one if pairs else partial(_several, questions)
        items = [
            _item(annotations[number], pair, frames)
            for number in _drawn(len(annotations), count, rng)
            for pair in choose(annotations[number].pairs, alpha_task, beta_format, rng)
        ]
        return Dataset(folder, tuple(items), asked)
    items = [
        _item(
            annotations[number], _pair(annotations[number], share.task, share.format, rng), frames
        )
        for share in allocate(count, alpha_task, beta_format)
        for number in _drawn(len(annotations), share.count, rng)
    ]
    return Dataset(folder, tuple(items[i] for i in rng.permutation(len(items))))


def in_board_words(lessons: Dataset, share: float, space: AnswerSpace, seed: int = 0) -> Dataset:
    """The same lessons, but that of about such a share of them all questions are asked as the board
    of worlds asks its judge: with a description and a menu. An open question becomes the menu's."""
    rng = np.random.default_rng([seed, 14])
    items = list(lessons.items)
    for first in range(0, len(items), lessons.questions):
        if rng.uniform() < share:
            lesson = slice(first, first + lessons.questions)
            items[lesson] = [_judged(item, space) for item in items[lesson]]
    return replace(lessons, items=tuple(items))


def board_words(task: Task, form: Format, question: str, space: AnswerSpace) -> JudgedQuestion:
    """How the board of worlds asks what a question asks."""
    if form == "binary":
        return JudgedQuestion(question, "binary", (YES, NO))
    menu = space.of(task)
    return JudgedQuestion(multiple_choice(task, menu), "multiple_choice", menu)


def _judged(item: MixtureItem, space: AnswerSpace) -> MixtureItem:
    asked = board_words(item.task, item.format, item.question, space)
    return replace(item, question=asked.text, format=asked.format, menu=asked.menu)


def both_and_one(
    asked: Sequence[QuestionAnswer],
    alpha: Mapping[str, float],
    beta: Mapping[str, float],
    rng: np.random.Generator,
) -> tuple[QuestionAnswer, ...]:
    """Of one task of a clip's eight questions the one to be answered with yes, that with no, and a
    menu or the open one."""
    menus = beta["multiple_choice"] + beta["open_ended"]
    if not menus:
        raise ValueError("Pairs have one question that names. Give choice or open ones a share.")
    task = TASKS[int(rng.uniform() >= alpha[TASKS[0]] / sum(alpha.values()))]
    kinds = {pair.kind: pair for pair in asked if pair.task == task}
    naming: Kind = "mc" if rng.uniform() < beta["multiple_choice"] / menus else "oe"
    return kinds["binary_pos"], kinds["binary_neg"], kinds[naming]


def _item(
    annotation: SegmentAnnotation, pair: QuestionAnswer, frames: tuple[int, ...]
) -> MixtureItem:
    return MixtureItem(
        annotation.filename, frames, pair.task, pair.format, pair.question, pair.answer
    )


def _several(
    questions: int,
    asked: Sequence[QuestionAnswer],
    alpha: Mapping[str, float],
    beta: Mapping[str, float],
    rng: np.random.Generator,
) -> tuple[QuestionAnswer, ...]:
    """So many different questions of a clip's eight."""
    same = [sum((p.task, p.format) == (q.task, q.format) for q in asked) for p in asked]
    each = [alpha[p.task] * beta[p.format] / n for p, n in zip(asked, same, strict=True)]
    if sum(weight > 0 for weight in each) < questions:
        raise ValueError(
            f"The mixture leaves fewer than {questions} questions a clip. Ask fewer of them."
        )
    shares = np.array(each) / sum(each)
    return tuple(asked[int(i)] for i in rng.choice(len(asked), questions, replace=False, p=shares))


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
