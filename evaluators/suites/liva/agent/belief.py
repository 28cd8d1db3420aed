"""What the agent believes: the scene, its things, the avatar's hands and the checklist; and how a
belief may change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Status = Literal["pending", "in_progress", "done", "failed"]
MOST_LETTERS = 4000
MOST_THINGS = 100
MOST_GOALS = 40


def _plain_text(text: str) -> str:
    if any(
        (ord(letter) < 32 and letter not in "\n\t") or 0xD800 <= ord(letter) <= 0xDFFF
        for letter in text
    ):
        raise ValueError("must be plain text without control characters")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Line = Annotated[str, Field(max_length=MOST_LETTERS), AfterValidator(_plain_text)]
Text = Annotated[Line, AfterValidator(_not_blank)]


class StrictBelief(BaseModel):
    """Every key there, none besides, nothing converted; never changed once made."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ThingState(StrictBelief):
    """A thing that can be used: what it is, and how it is now (null when that cannot be seen)."""

    description: Line
    state: Line | None


class AvatarState(StrictBelief):
    """What each hand holds or does; null when it cannot be seen."""

    right_hand: Line | None
    left_hand: Line | None


class Goal(StrictBelief):
    """One line of the checklist."""

    goal: Text
    status: Status


class View(StrictBelief):
    """The scene as it is seen: a belief without its checklist."""

    scene_description: Line | None
    interactive_objects: dict[Text, ThingState] = Field(max_length=MOST_THINGS)
    avatar_state: AvatarState


class Belief(View):
    """Everything the agent holds true."""

    task_checklist: tuple[Goal, ...] = Field(max_length=MOST_GOALS)

    @property
    def view(self) -> View:
        """The belief without its checklist."""
        return View(
            scene_description=self.scene_description,
            interactive_objects=self.interactive_objects,
            avatar_state=self.avatar_state,
        )


def believed(before: Belief, view: View) -> Belief:
    """The belief after a look: the view is new as a whole, the checklist is carried over
    untouched."""
    return Belief(
        scene_description=view.scene_description,
        interactive_objects=view.interactive_objects,
        avatar_state=view.avatar_state,
        task_checklist=before.task_checklist,
    )


def planned(before: Belief, checklist: Sequence[Goal], next_goal: str | None) -> Belief:
    """The belief after thinking: the checklist as thought, with the goal that is tried now in
    progress."""
    goals = [
        goal.model_copy(update={"status": "in_progress"}) if goal.goal == next_goal else goal
        for goal in checklist
    ]
    return before.model_copy(update={"task_checklist": tuple(goals)})


def settled(before: Belief, goal: str, status: Status) -> Belief:
    """The belief after a goal was tried: it alone changes its status."""
    goals = (
        item.model_copy(update={"status": status}) if item.goal == goal else item
        for item in before.task_checklist
    )
    return before.model_copy(update={"task_checklist": tuple(goals)})
