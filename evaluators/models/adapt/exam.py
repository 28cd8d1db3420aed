"""Whether a model would give exactly the right answers, many at once and without speaking."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from evaluators.models.adapt.batches import Lesson, Teacher


def exam(teacher: Teacher, lessons: Sequence[Lesson], together: int = 16) -> list[list[bool]]:
    """For each lesson and each of its questions: would greedy decoding give the answer, token for
    token?

    It does if and only if each token of the answer is the likeliest one after those before it,
    which one pass tells.
    """
    correct: list[list[bool]] = []
    for start in range(0, len(lessons), together):
        taught = [teacher.read(lesson) for lesson in lessons[start : start + together]]
        batch = teacher.batch(taught)
        with torch.inference_mode():
            likeliest = iter(teacher.logits(batch).argmax(-1).tolist())
        for lesson in taught:
            correct.append(
                [
                    all([next(likeliest) == word for word in answer])
                    for _, answer in lesson.questions
                ]
            )
    return correct
