"""A judge without words: it learns from other drawings which pixels go with which answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evaluators.contracts import Question, Request
from evaluators.media import Pixels, read_frames
from evaluators.statistics.intervals import Floats
from evaluators.suites.tailor.exam.design import LETTERS, Family, facts

DRAWINGS = 64
SMALL = (56, 42)


class PixelReader:
    """A linear classifier for each question of some families, trained on other drawings."""

    def __init__(self, families: Sequence[Family]) -> None:
        self._models: dict[tuple[str, str], Any] = {}
        for family in families:
            self._learn(family)

    def answer(self, request: Request, question: Question) -> str:
        """What the pixels of the file say."""
        model = self._models[request.prompt, question.id]
        return LETTERS[str(model.predict([_features(read_frames(request.media))])[0])]

    def _learn(self, family: Family) -> None:
        random = np.random.default_rng(99)
        rows = [_row(number, random) for number in range(DRAWINGS)]
        features = [
            _features(family.draw(facts(row), np.random.default_rng(1000 + number)))
            for number, row in enumerate(rows)
        ]
        for column, question in enumerate(family.questions):
            model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=100.0))
            model.fit(features, [row[column] for row in rows])
            self._models[family.prompt, question.id] = model


def _row(number: int, random: np.random.Generator) -> str:
    """Facts at random; in two of eight drawings one half is hidden."""
    first, second, third, fourth = random.choice(["y", "n"], 4)
    if number % 8 == 0:
        return f"u{second}u{fourth}"
    return f"{first}u{third}u" if number % 8 == 1 else f"{first}{second}{third}{fourth}"


def _features(frames: Pixels) -> Floats:
    """The first, the middle and the last frame, much reduced."""
    chosen = frames[sorted({0, len(frames) // 2, len(frames) - 1})]
    small = [np.asarray(Image.fromarray(frame).resize(SMALL), np.float64) for frame in chosen]
    return np.concatenate([pixels.ravel() / 255 for pixels in small])
