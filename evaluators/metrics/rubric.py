"""TailOR's rubric: yes/no answers become six part scores and two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.metrics.means import mean

INSTRUCTION_ADHERENCE = ("entity_completeness", "attribute_fidelity", "scene_validity")
INTERACTION_ACCURACY = ("state_change_correctness", "affordance_grounding", "motion_plausibility")
PARTS = INSTRUCTION_ADHERENCE + INTERACTION_ACCURACY
ANSWERS = ("yes", "no", "unclear")

Modality = Literal["image", "video"]


@dataclass(frozen=True, slots=True)
class PartAnswers:
    """The answers to one part's checklist, in its order; None is an item nobody answered."""

    name: str
    answers: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class PartScore:
    """A part's score from 0 to 100, with how many items it has and how many were answered."""

    name: str
    value: float | None
    n_items: int
    n_answered: int


@dataclass(frozen=True, slots=True)
class RubricScore:
    """All six part scores in the rubric's order and the two dimensions made of them."""

    parts: tuple[PartScore, ...]
    instruction_adherence: float | None
    interaction_accuracy: float | None
    missing_answers: int


def score_rubric(parts: Sequence[PartAnswers], modality: Modality) -> RubricScore:
    """Score one sample's checklist; a part that is not given has no items.

    >>> completeness = PartAnswers("entity_completeness", ("yes", "unclear"))
    >>> score = score_rubric([completeness, PartAnswers("scene_validity", ("yes", None))], "image")
    >>> score.instruction_adherence, score.interaction_accuracy, score.missing_answers
    (75.0, None, 1)
    """
    _check(parts, modality)
    answers_by_part = {part.name: part.answers for part in parts}
    if modality == "image":
        # A still shows no motion; TailOR tolerates such items in an image rubric and never scores
        # them.
        answers_by_part["motion_plausibility"] = ()
    scores = tuple(_score_part(name, answers_by_part.get(name, ())) for name in PARTS)
    return RubricScore(
        parts=scores,
        instruction_adherence=_dimension(scores, INSTRUCTION_ADHERENCE),
        interaction_accuracy=_dimension(scores, INTERACTION_ACCURACY),
        missing_answers=sum(score.n_items - score.n_answered for score in scores),
    )


def _check(parts: Sequence[PartAnswers], modality: str) -> None:
    names = [part.name for part in parts]
    if modality not in ("image", "video"):
        raise ValueError(f"The modality is {modality!r}. Give 'image' or 'video'.")
    if unknown := [name for name in names if name not in PARTS]:
        raise ValueError(
            f"{unknown[0]!r} is not a part of the rubric. The parts are {', '.join(PARTS)}."
        )
    if repeated := [name for name in PARTS if names.count(name) > 1]:
        raise ValueError(
            f"The part {repeated[0]!r} is given {names.count(repeated[0])} times. Give each part "
            "once."
        )


def _score_part(name: str, answers: Sequence[str | None]) -> PartScore:
    answered = [answer for answer in answers if answer is not None]
    for answer in answered:
        if answer not in ANSWERS:
            raise ValueError(
                f"An answer in {name} is {answer!r}. Give 'yes', 'no', 'unclear', or None if "
                "unanswered."
            )
    value = 100 * answered.count("yes") / len(answered) if answered else None
    return PartScore(name, value, len(answers), len(answered))


def _dimension(scores: Sequence[PartScore], names: Sequence[str]) -> float | None:
    """Average the parts that have items, unless one of them has no answer at all."""
    values = [score.value for score in scores if score.name in names and score.n_items]
    answered = [value for value in values if value is not None]
    return mean(answered) if len(answered) == len(values) else None
