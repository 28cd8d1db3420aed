"""From a labelled clip to its eight question-answer pairs, with the labels of the data set at
hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluators.metrics.text import Format

Task = Literal["action_recognition", "character_recognition"]
Kind = Literal["binary_pos", "binary_neg", "mc", "oe"]

TASKS: tuple[Task, ...] = ("action_recognition", "character_recognition")
FORMATS: tuple[Format, ...] = ("binary", "multiple_choice", "open_ended")
KINDS: tuple[Kind, ...] = ("binary_pos", "binary_neg", "mc", "oe")
FORMAT_OF: dict[Kind, Format] = {
    "binary_pos": "binary",
    "binary_neg": "binary",
    "mc": "multiple_choice",
    "oe": "open_ended",
}
SHORT: dict[Task, str] = {"action_recognition": "ar", "character_recognition": "cr"}

OPEN: dict[Task, str] = {
    "action_recognition": "Which action does the player perform?",
    "character_recognition": "Which character is on the screen?",
}
BINARY: dict[Task, str] = {
    "action_recognition": "Is the player {label}?",
    "character_recognition": "Is {label} on the screen?",
}
YES, NO = "yes", "no"
DESCRIPTION = (
    "First-person play in a game: fourteen frames after four given ones, under given buttons."
)
"""What a judge of rollouts is told that a clip was made from."""


@dataclass(frozen=True, slots=True)
class AnswerSpace:
    """All labels that occur in a data set, in the order in which options are listed."""

    actions: tuple[str, ...]
    characters: tuple[str, ...]

    def of(self, task: Task) -> tuple[str, ...]:
        """The labels of a task."""
        return self.actions if task == "action_recognition" else self.characters


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """One question about a clip and its answer."""

    task: Task
    kind: Kind
    question: str
    answer: str

    @property
    def format(self) -> Format:
        """The cell it belongs to; both yes/no questions belong to one."""
        return FORMAT_OF[self.kind]


def pairs(
    action: str, character: str, space: AnswerSpace, seed: int, shuffle: bool = False
) -> tuple[QuestionAnswer, ...]:
    """The eight pairs of a clip; the seed draws the two distractors and, if wanted, the order of
    options."""
    rng = np.random.default_rng([seed, 6])
    labels: dict[Task, str] = {"action_recognition": action, "character_recognition": character}
    return tuple(
        pair for task in TASKS for pair in _pairs(task, labels[task], space.of(task), rng, shuffle)
    )


def multiple_choice(task: Task, options: Sequence[str]) -> str:
    """The open question with its menu."""
    return f"{OPEN[task]} Choose one: {', '.join(options)}."


def _pairs(
    task: Task, label: str, labels: Sequence[str], rng: np.random.Generator, shuffle: bool
) -> tuple[QuestionAnswer, ...]:
    if label not in labels:
        raise ValueError(
            f"The label {label!r} is none of the {len(labels)} of the data set. Add it or correct "
            "it."
        )
    others = [candidate for candidate in labels if candidate != label]
    wrong = others[int(rng.integers(len(others)))]
    options = [str(option) for option in rng.permutation(list(labels))] if shuffle else list(labels)
    return (
        QuestionAnswer(task, "binary_pos", BINARY[task].format(label=label), YES),
        QuestionAnswer(task, "binary_neg", BINARY[task].format(label=wrong), NO),
        QuestionAnswer(task, "mc", multiple_choice(task, options), label),
        QuestionAnswer(task, "oe", OPEN[task], label),
    )
