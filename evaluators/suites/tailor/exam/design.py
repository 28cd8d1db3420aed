"""How facts are combined so that neither words nor files give answers away: one balanced table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluators.contracts import Question
from evaluators.media import Pixels
from evaluators.suites.tailor.bank import PARTS, YES_NO

TABLE = (
    "yynn", "nnyy", "ynyn", "nyny", "ynny", "nyyn", "nyny", "ynyn", "nyyn", "ynny", "nnyy",
    "uyun", "yunu",
)  # fmt: skip
"""A row a scene, a column a question: yes, no or unclear.

Each column has six yes, six no and one unclear, so every question's words go with the same answers
and a rule on words is exactly chance. Each row has as many yes as no, so a rule on files is exactly
chance too. What the first and the third question are about is hidden in the last row but one, what
the second and the fourth are about in the last.
"""

LETTERS = {"y": "yes", "n": "no", "u": "unclear"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is so in one scene, question by question; the left or the right half may be hidden.

    What is hidden is drawn as well, and then covered.
    """

    first: bool
    second: bool
    third: bool
    fourth: bool
    left_hidden: bool
    right_hidden: bool


Draw = Callable[[Facts, np.random.Generator], Pixels]
"""From facts and a look drawn at random to frames: one of a picture, several of a clip."""


@dataclass(frozen=True, slots=True)
class Family:
    """Thirteen scenes of one kind, with one prompt and the same four questions about each."""

    name: str
    modality: str
    prompt: str
    questions: tuple[Question, Question, Question, Question]
    draw: Draw


def ask(part: str, text: str, number: int = 1) -> Question:
    """A question of the checklist, with the menu that the bank's questions have."""
    return Question(f"{part}_{number}", text, "yes_no", part=PARTS[part], options=YES_NO)


def facts(row: str) -> Facts:
    """A row of the table as facts.

    >>> facts("uyun")
    Facts(first=False, second=True, third=False, fourth=False, left_hidden=True, right_hidden=False)
    """
    first, second, third, fourth = (letter == "y" for letter in row)
    return Facts(first, second, third, fourth, row[0] == "u", row[1] == "u")
