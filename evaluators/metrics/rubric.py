"""TailOR's rubric: yes/no answers become six part scores and two dimensions.

A question may hang on another one, its parent, as in a Davidsonian scene graph (DSG): where the
parent is not met, the question has fallen. It then counts as not met, whatever was answered, so
that nothing scores "yes" about what is not there and no answer withheld or spoiled raises a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evaluators.metrics.means import mean

INSTRUCTION_ADHERENCE = ("entity_completeness", "attribute_fidelity", "scene_validity")
INTERACTION_ACCURACY = ("state_change_correctness", "affordance_grounding", "motion_plausibility")
PARTS = INSTRUCTION_ADHERENCE + INTERACTION_ACCURACY
ANSWERS = ("yes", "no", "unclear")

Modality = Literal["image", "video"]


@dataclass(frozen=True, slots=True)
class PartAnswers:
    """The answers to one part's checklist, in its order; None is an item nobody answered. `ids` are
    needed where questions have parents."""

    name: str
    answers: tuple[str | None, ...]
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartScore:
    """A part's score from 0 to 100, with how many items it has, how many count as answered and how
    many of these have fallen."""

    name: str
    value: float | None
    n_items: int
    n_answered: int
    n_fallen: int = 0


@dataclass(frozen=True, slots=True)
class RubricScore:
    """All six part scores in the rubric's order and the two dimensions made of them."""

    parts: tuple[PartScore, ...]
    instruction_adherence: float | None
    interaction_accuracy: float | None
    missing_answers: int
    fallen_answers: int = 0


NO_PARENTS: Mapping[str, str] = MappingProxyType({})


def score_rubric(
    parts: Sequence[PartAnswers], modality: Modality, parents: Mapping[str, str] = NO_PARENTS
) -> RubricScore:
    """Score one sample's checklist; a part that is not given has no items. `parents` holds the id
    of the question that an id hangs on.

    >>> completeness = PartAnswers("entity_completeness", ("yes", "unclear"))
    >>> score = score_rubric([completeness, PartAnswers("scene_validity", ("yes", None))], "image")
    >>> score.instruction_adherence, score.interaction_accuracy, score.missing_answers
    (75.0, None, 1)
    >>> things = PartAnswers("entity_completeness", ("no",), ("walnut",))
    >>> change = PartAnswers("state_change_correctness", ("yes",), ("cracked",))
    >>> score_rubric([things, change], "image", {"cracked": "walnut"}).interaction_accuracy
    0.0
    """
    _check(parts, modality)
    if modality == "image":
        # A still shows no motion; TailOR tolerates such items in an image rubric and never scores
        # them.
        parts = [part for part in parts if part.name != "motion_plausibility"]
    named = [part for part in parts if part.ids]
    pairs = (pair for part in named for pair in zip(part.ids, part.answers, strict=True))
    down = fallen(dict(pairs), parents)
    by_name = {part.name: part for part in parts}
    scores = tuple(_score_part(by_name.get(name, PartAnswers(name, ())), down) for name in PARTS)
    return RubricScore(
        parts=scores,
        instruction_adherence=_dimension(scores, INSTRUCTION_ADHERENCE),
        interaction_accuracy=_dimension(scores, INTERACTION_ACCURACY),
        missing_answers=sum(score.n_items - score.n_answered for score in scores),
        fallen_answers=sum(score.n_fallen for score in scores),
    )


def fallen(answers: Mapping[str, str | None], parents: Mapping[str, str]) -> frozenset[str]:
    """The questions that hang, directly or not, on one that was answered and is not met; a parent
    that nobody answered lets nothing fall.

    >>> sorted(fallen({"nut": "no", "shell": "yes", "crack": "yes"}, {"shell": "nut", "crack":
    ... "shell"}))
    ['crack', 'shell']
    """
    down: set[str] = set()
    for name in answers:
        passed, parent = {name}, parents.get(name, "")
        while parent and parent not in passed:
            if answers.get(parent) not in (None, "yes"):
                down.add(name)
                break
            passed.add(parent)
            parent = parents.get(parent, "")
    return frozenset(down)


def _check(parts: Sequence[PartAnswers], modality: str) -> None:
    names = [part.name for part in parts]
    if modality not in ("image", "video"):
        raise ValueError(f"The modality is {modality!r}. Give 'image' or 'video'.")
    if unknown := [name for name in names if name not in PARTS]:
        raise ValueError(
            f"{unknown[0]!r} is not a part of the rubric. The parts are {', '.join(PARTS)}."
        )
    for part in parts:
        if part.ids and len(part.ids) != len(part.answers):
            raise ValueError(
                f"{part.name} has {len(part.ids)} ids and {len(part.answers)} answers. Give one id "
                "an answer."
            )
    if repeated := [name for name in PARTS if names.count(name) > 1]:
        raise ValueError(
            f"The part {repeated[0]!r} is given {names.count(repeated[0])} times. Give each part "
            "once."
        )


def _score_part(part: PartAnswers, down: frozenset[str]) -> PartScore:
    for answer in part.answers:
        if answer is not None and answer not in ANSWERS:
            raise ValueError(
                f"An answer in {part.name} is {answer!r}. Give 'yes', 'no', 'unclear', or None if "
                "unanswered."
            )
    lost = [id in down for id in part.ids] or [False] * len(part.answers)
    counted = [
        "no" if is_down else answer
        for answer, is_down in zip(part.answers, lost, strict=True)
        if is_down or answer is not None
    ]
    value = 100 * counted.count("yes") / len(counted) if counted else None
    return PartScore(part.name, value, len(part.answers), len(counted), sum(lost))


def _dimension(scores: Sequence[PartScore], names: Sequence[str]) -> float | None:
    """Average the parts that have items, unless one of them has no answer at all."""
    values = [score.value for score in scores if score.name in names and score.n_items]
    answered = [value for value in values if value is not None]
    return mean(answered) if len(answered) == len(values) else None
