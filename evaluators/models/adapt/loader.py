"""Batches of a training run in their order, read when they are needed and by workers if wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch

from evaluators.models.adapt.batches import Lesson, Taught


class Lessons(Protocol):
    """Any sequence of lessons; they may be made when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Lesson | Taught: ...


class Packs(Protocol):
    """What turns lessons into batches; it knows no weights, so a worker may hold it."""

    def read(self, lesson: Lesson) -> Any:
        """A lesson's pixels and tokens."""

    def rows(self, taught: Any) -> list[int]:
        """How many tokens each row of a lesson has."""

    def batch(self, lessons: Sequence[Any]) -> Any:
        """Several of them as one batch."""


class BatchTurns:
    """The batches of one process, by number: which lessons each holds was settled before."""

    def __init__(self, lessons: Lessons, packer: Packs, turns: Sequence[tuple[int, ...]]) -> None:
        self.lessons, self.packer, self.turns = lessons, packer, turns

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, number: int, /) -> Any:
        chosen = [self.lessons[i] for i in self.turns[number]]
        return self.packer.batch(
            [self.packer.read(each) if isinstance(each, Lesson) else each for each in chosen]
        )


def batches(
    lessons: Lessons, packer: Packs, turns: Sequence[tuple[int, ...]], workers: int
) -> Iterator[Any]:
    """The batches one after the other, a few of them ahead where there are workers."""
    reading: Any = BatchTurns(lessons, packer, turns)
    return iter(
        torch.utils.data.DataLoader(reading, batch_size=None, shuffle=False, num_workers=workers)
    )
