"""Answers without an adapted judge, to measure judges against: chance, one answer for all, and CLIP
similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import Sample
from evaluators.media import Pixels
from evaluators.metrics.sampling import choose_frames
from evaluators.suites.universe.bank import SPACE, frames_of
from evaluators.suites.universe.questions import NO, YES, Task

Similarity = NDArray[np.float64]
"""One row a frame, one column a label."""
Compare = Callable[[Pixels, Sequence[str]], Similarity]

LABEL_TEXT: dict[str, str] = {
    "action_recognition": "a game scene in which the player is {label}",
    "character_recognition": "a game scene with the character {label}",
}


def chance(samples: Iterable[Sample], seed: int = 0) -> dict[str, str]:
    """A random option of each question's menu."""
    return {sample.id: _drawn(menu(sample), f"{seed} {sample.id}") for sample in samples}


def majority(
    samples: Iterable[Sample], training_labels: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """The label that is most frequent in what was seen in training, the first by name of equals;
    always yes."""
    usual = {task: _most_frequent(labels) for task, labels in training_labels.items()}
    return {
        sample.id: YES if _is_binary(sample) else usual[sample.facets.task] for sample in samples
    }


def clip_score(samples: Sequence[Sample], compare: Compare, frames: int = 8) -> dict[str, str]:
    """The label that most frames are nearest to; a yes/no question is answered by whether that
    label is in it."""
    chosen: dict[tuple[str, str], str] = {}
    for sample in samples:
        key = (sample.cluster, sample.facets.task)
        if key not in chosen:
            labels = _labels(sample)
            texts = [LABEL_TEXT[sample.facets.task].format(label=label) for label in labels]
            pictures = frames_of(sample)
            sampled = pictures[list(choose_frames(len(pictures), frames, "uniform_n"))]
            chosen[key] = labels[nearest(compare(sampled, texts))]
    return {
        sample.id: _answer(sample, chosen[(sample.cluster, sample.facets.task)])
        for sample in samples
    }


def nearest(similarity: Similarity) -> int:
    """The label nearest to most frames; of equals the one with the highest sum.

    >>> nearest(np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]))
    0
    """
    votes = np.bincount(similarity.argmax(1), minlength=similarity.shape[1])
    tied = np.flatnonzero(votes == votes.max())
    return int(tied[similarity.sum(0)[tied].argmax()])


def menu(sample: Sample) -> tuple[str, ...]:
    """What may be answered."""
    return (NO, YES) if _is_binary(sample) else _labels(sample)


def _answer(sample: Sample, label: str) -> str:
    if not _is_binary(sample):
        return label
    return YES if f" {label}" in sample.prompt.rstrip("?") else NO


def _labels(sample: Sample) -> tuple[str, ...]:
    task: Task = (
        "action_recognition"
        if sample.facets.task == "action_recognition"
        else "character_recognition"
    )
    return SPACE.of(task)


def _is_binary(sample: Sample) -> bool:
    return sample.facets.setting == "binary"


def _drawn(options: Sequence[str], key: str) -> str:
    return options[int.from_bytes(sha256(key.encode()).digest()[:8]) % len(options)]


def _most_frequent(labels: Sequence[str]) -> str:
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label))
