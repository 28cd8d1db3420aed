"""How UNIVERSE gets answers from a handed-in judge: all questions about a clip together, in
words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from evaluators.contracts import CannotProduce, Generator, Outcome, Output, Production, Sample
from evaluators.media import Pixels, write_png
from evaluators.suites.universe.bank import frames_of

PACKAGED_JUDGE = Path(__file__).parent / "data" / "judge"
"""The small packaged model adapted on recorded play, which the demo hands in."""
Answerer = Callable[[Pixels, Sequence[str]], Sequence[str]]
"""Frames of a clip and questions about it in, an answer to each out."""


class Answers:
    """Writes one text file a question; questions about one clip are asked together."""

    def __init__(self, answer: Answerer, note: dict[str, str]) -> None:
        self.answer, self.note = answer, note

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """An output a sample, in their order."""
        for _, group in groupby(samples, key=lambda sample: sample.cluster):
            clip_samples = list(group)
            frames = frames_of(clip_samples[0])
            answers = self.answer(frames, [sample.prompt for sample in clip_samples])
            sheet = contact_sheet(frames, folder / f"{clip_samples[0].cluster}.png")
            for sample, words in zip(clip_samples, answers, strict=True):
                yield replace(self._output(sample, words, folder), beside={"clip": sheet})

    def _output(self, sample: Sample, words: str, folder: Path) -> Output:
        if not words.strip():
            return Output(
                sample.id,
                Outcome.MODEL_FAILED,
                record=dict(self.note),
                reason="The answer is empty.",
            )
        file = folder / f"{sample.id}.txt"
        file.write_text(words, "utf-8")
        return Output(sample.id, Outcome.SCORED, file, dict(self.note))


def contact_sheet(frames: Pixels, path: Path, across: int = 5) -> Path:
    """All frames of a clip on one picture, in reading order, every second pixel."""
    small = frames[:, ::2, ::2]
    empty = np.zeros((-len(small) % across, *small.shape[1:]), np.uint8)
    rows = np.concatenate([small, empty]).reshape(-1, across, *small.shape[1:])
    return write_png(np.concatenate([np.concatenate(list(row), 1) for row in rows]), path)


def prepare(samples: Sequence[Sample]) -> None:
    """Have every clip recorded and at hand."""
    for sample in {sample.cluster: sample for sample in samples}.values():
        frames_of(sample)


def produce(production: Production) -> Generator:
    """A whole vision-language model, or an adapter on a base that is known here."""
    from evaluators.models.device import pick_device
    from evaluators.models.vlm.adapter import NoBase, open_adapted

    try:
        judge = open_adapted(
            production.folder,
            pick_device(production.device),
            production.shelf,
            base=production.base,
        )
    except NoBase as error:
        raise CannotProduce(str(error)) from None
    return Answers(judge.tell, {"frames_rule": judge.frames, "judge": judge.card.decoding})
