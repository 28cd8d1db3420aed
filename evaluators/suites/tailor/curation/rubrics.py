"""The checklists a language model has to reply with: complete for every prompt, and alike where the
prompts are alike.

A bank keeps the questions that all five tools share with the task and the others with the tool,
once for its four prompts; only the two descriptive prompts have a question of their own. So the
four checklists have to agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import StringConstraints, ValidationInfo, model_validator

from evaluators.suites.tailor.bank import MODALITIES, SETTINGS
from evaluators.suites.tailor.curation.replies import (
    StrictReply,
    Text,
    context_of,
    distinct,
    require,
)

Name = Annotated[str, StringConstraints(max_length=80, pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")]
SHARED = ("entity_completeness", "attribute_fidelity", "scene_validity")
ITEMS_A_PART = (3, 6)
"""So many a draft must have; those who review it may leave two."""
MOST_IMAGE_MOTION = 2
"""So many questions on motion are tolerated in an image's checklist; they are never asked."""


class RubricQuestion(StrictReply):
    """One yes/no question."""

    id: Name
    question: Text


class RubricPart(StrictReply):
    """The questions on one sub-dimension."""

    checklist_items: list[RubricQuestion]

    @property
    def questions(self) -> list[str]:
        """The questions as texts."""
        return [item.question for item in self.checklist_items]


class Common(StrictReply):
    """The first reply of step 6: what all five tools of a task share."""

    entity_completeness: RubricPart
    attribute_fidelity: RubricPart
    scene_validity: RubricPart

    @model_validator(mode="after")
    def _enough(self) -> Common:
        _count("entity_completeness", self.entity_completeness, 2, 4)
        _count("attribute_fidelity", self.attribute_fidelity, 2, 4)
        _count("scene_validity", self.scene_validity, *ITEMS_A_PART)
        _once("the reply", [self.entity_completeness, self.attribute_fidelity, self.scene_validity])
        return self


class InstructionAdherence(StrictReply):
    """The first dimension."""

    entity_completeness: RubricPart
    attribute_fidelity: RubricPart
    scene_validity: RubricPart


class InteractionAccuracy(StrictReply):
    """The second dimension."""

    state_change_correctness: RubricPart
    affordance_grounding: RubricPart
    motion_plausibility: RubricPart


class Rubric(StrictReply):
    """The checklist of one prompt."""

    instruction_adherence: InstructionAdherence
    interaction_accuracy: InteractionAccuracy

    @property
    def parts(self) -> Mapping[str, RubricPart]:
        """The six parts by name."""
        return {**dict(self.instruction_adherence), **dict(self.interaction_accuracy)}


class Rubrics(StrictReply):
    """The second reply of step 6: the four checklists of one tool."""

    predictive_image_rubric: Rubric
    descriptive_image_rubric: Rubric
    predictive_video_rubric: Rubric
    descriptive_video_rubric: Rubric

    @model_validator(mode="after")
    def _whole(self, info: ValidationInfo) -> Rubrics:
        for name in _names():
            _complete(name, self.rubric(name))
        for part in self.predictive_image_rubric.parts:
            _alike(part, self)
        for part in SHARED:
            _with_common(
                part, self.questions("predictive_image", part), context_of(info)["common"][part]
            )
        return self

    def rubric(self, prompt: str) -> Rubric:
        """The checklist of a prompt, `predictive_image` and so on."""
        checklist: Rubric = getattr(self, f"{prompt}_rubric")
        return checklist

    def questions(self, prompt: str, part: str) -> list[str]:
        """The questions on one part of a prompt."""
        return self.rubric(prompt).parts[part].questions


def _names() -> list[str]:
    return [f"{setting}_{modality}" for setting in SETTINGS for modality in MODALITIES]


def _complete(name: str, rubric: Rubric) -> None:
    for part, rubric_part in rubric.parts.items():
        still = part == "motion_plausibility" and name.endswith("image")
        _count(
            f"{name}_rubric.{part}",
            rubric_part,
            *((0, MOST_IMAGE_MOTION) if still else ITEMS_A_PART),
        )
    _once(f"{name}_rubric", list(rubric.parts.values()))


def _alike(part: str, rubrics: Rubrics) -> None:
    """All four ask the same, but for motion in images and one detail in each descriptive
    checklist."""
    moving = part == "motion_plausibility"
    names = [name for name in _names() if name.endswith("video") or not moving]
    first = rubrics.questions(names[0], part)
    for name in names[1:]:
        asked_questions = rubrics.questions(name, part)
        if part == "state_change_correctness" and name.startswith("descriptive"):
            own = (
                f"{name}_rubric.{part} must be the questions of {names[0]}_rubric, then exactly "
                "one more"
            )
            require(asked_questions[:-1] == first, own)
        else:
            require(
                asked_questions == first,
                f"{part} of {name}_rubric must ask the same as {names[0]}_rubric, in the same "
                "order",
            )


def _with_common(part: str, asked_questions: Sequence[str], common: Sequence[str]) -> None:
    require(
        asked_questions[: len(common)] == list(common),
        f"{part} must begin with the given questions, word for word",
    )
    own = len(asked_questions) - len(common)
    if part == "scene_validity":
        require(own == 0, f"{part} must be the given questions and no other")
    else:
        require(own >= 1, f"{part} needs at least one question on this tool after the given ones")


def _count(name: str, part: RubricPart, low: int, high: int) -> None:
    count = len(part.checklist_items)
    require(low <= count <= high, f"{name} has {count} questions; {low} to {high} are right")


def _once(where: str, parts: Sequence[RubricPart]) -> None:
    items = [item for part in parts for item in part.checklist_items]
    distinct(f"in {where} the id", [item.id for item in items])
    distinct(f"in {where} the question", [item.question for item in items])
