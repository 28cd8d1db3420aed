"""Whether a model would give exactly the right answers, many at once and without speaking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from evaluators.models.adapt.batches import Lesson
from evaluators.models.adapt.chat import AnyTeacher

MEMORY = 2 << 30
"""Bytes that one batch may take beside the weights, on a machine of unknown size."""
SHARE = 0.5
"""Of a GPU's free memory, what a batch may take."""


@dataclass(frozen=True, slots=True)
class AskedPart:
    """Some of a lesson's questions, ready to be packed, and the lesson they are of."""

    lesson: int
    taught: Any
    bytes: int


def exam(
    teacher: AnyTeacher, lessons: Iterable[Lesson], memory: int | None = None
) -> list[list[bool]]:
    """For each lesson and each of its questions: would greedy decoding give the answer, token for
    token?

    It does if and only if each token of the answer is the likeliest one after those before it,
    which one pass tells. Lessons are read one after the other and batched by the memory they need.
    """
    correct: dict[int, list[bool]] = {}
    for group in batched(
        teacher, lessons, free_memory(teacher.model) if memory is None else memory
    ):
        for part, right in zip(group, _answered(teacher, group), strict=True):
            correct.setdefault(part.lesson, []).extend(right)
    return [correct[number] for number in sorted(correct)]


def batched(
    teacher: AnyTeacher, lessons: Iterable[Lesson], memory: int
) -> Iterator[list[AskedPart]]:
    """Neighbouring questions as batches that fit; a single row that does not fit stands alone."""
    group: list[AskedPart] = []
    for part in _parts(teacher, lessons):
        if group and sum(member.bytes for member in group) + part.bytes > memory:
            yield _merged(group)
            group = []
        group.append(part)
    if group:
        yield _merged(group)


def free_memory(model: Any) -> int:
    """What a batch may take on the model's device."""
    if model.device.type != "cuda":
        return MEMORY
    free, _ = torch.cuda.mem_get_info(model.device)
    return int(SHARE * free)


def row_bytes(config: Any, tokens: int, itemsize: int) -> int:
    """About what one row needs while one layer is computed: its attention, masks and widest
    states."""
    text = config.get_text_config()
    attention = text.num_attention_heads * tokens * tokens * (itemsize + 4)
    masks = 2 * tokens * tokens * itemsize + 3 * tokens * tokens
    widest = tokens * (8 * text.hidden_size + 3 * text.intermediate_size) * itemsize
    return int(attention + masks + widest)


def _parts(teacher: AnyTeacher, lessons: Iterable[Lesson]) -> Iterator[AskedPart]:
    """One part a row: a question, or all of a clip where they share a row."""
    config, itemsize = teacher.model.config, teacher.model.dtype.itemsize
    for number, lesson in enumerate(lessons):
        taught = teacher.packer.read(lesson)
        sizes = [row_bytes(config, tokens, itemsize) for tokens in teacher.packer.rows(taught)]
        if len(sizes) < len(taught.questions):
            yield AskedPart(number, taught, sizes[0])
            continue
        for size, question in zip(sizes, taught.questions, strict=True):
            yield AskedPart(number, replace(taught, questions=(question,)), size)


def _merged(group: Sequence[AskedPart]) -> list[AskedPart]:
    """Questions about the same clip together again, so that its frames are read once."""
    merged: list[AskedPart] = []
    for part in group:
        if merged and merged[-1].lesson == part.lesson:
            before = merged[-1]
            questions = (*before.taught.questions, *part.taught.questions)
            taught = replace(before.taught, questions=questions)
            merged[-1] = AskedPart(part.lesson, taught, before.bytes + part.bytes)
        else:
            merged.append(part)
    return merged


def _answered(teacher: AnyTeacher, group: Sequence[AskedPart]) -> list[list[bool]]:
    batch = teacher.packer.batch([part.taught for part in group])
    with torch.inference_mode():
        likeliest = iter(teacher.logits(batch).argmax(-1).tolist())
    return [
        [all([next(likeliest) == word for word in words]) for _, words in part.taught.questions]
        for part in group
    ]
