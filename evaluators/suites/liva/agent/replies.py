"""What each step of the agent has to say, as schemas, and reading it strictly: the whole reply or a
reason why not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from evaluators.judges.replies import BadReply, find_object
from evaluators.suites.liva.agent.belief import (
    MOST_GOALS,
    Belief,
    Goal,
    Line,
    StrictBelief,
    Text,
    View,
)

THINKING = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
MOST_PROBLEMS = 6


class Init(Belief):
    """The first belief: at least one goal, none of them begun."""

    task_checklist: tuple[Goal, ...] = Field(min_length=1, max_length=MOST_GOALS)


class Thought(StrictBelief):
    """What is off, what comes next, and how the scene should look after it."""

    discrepancy: Line | None
    checklist: tuple[Goal, ...] = Field(min_length=1, max_length=MOST_GOALS)
    next_goal: Line | None
    action_plan: Line
    expected_state: View
    done: bool


class Action(StrictBelief):
    """A caption in the words that the video model follows, and the things that matter in it."""

    caption: Text
    key_objects: tuple[Line, ...] = Field(max_length=40)


class Actions(StrictBelief):
    """All captions of a plan at once."""

    captions: Annotated[tuple[Action, ...], Field(min_length=1, max_length=MOST_GOALS)]


class Reflection(StrictBelief):
    """Whether a clip shows what was asked for, why, and what to say differently."""

    success: bool
    reason: Text
    correction: Line | None


S = TypeVar("S", bound=StrictBelief)
Check = Callable[[S], None]


def read(text: str, schema: type[S], check: Check[S] | None = None) -> S:
    """The reply in a text; reasoning in a tagged block is left out, and everything else wrong is
    told at once."""
    decoded = find_object(THINKING.sub("", text))
    try:
        reply = schema.model_validate_json(json.dumps(decoded))
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise BadReply("; ".join(problems[:MOST_PROBLEMS])) from None
    if check:
        check(reply)
    return reply


def fresh(reply: Init) -> None:
    """A first checklist has begun nothing and repeats nothing."""
    if any(goal.status != "pending" for goal in reply.task_checklist):
        raise BadReply("task_checklist: every status must be pending at the start")
    if len({goal.goal for goal in reply.task_checklist}) < len(reply.task_checklist):
        raise BadReply("task_checklist: a goal is there twice")


def follows(before: Belief) -> Check[Thought]:
    """A thought keeps every goal, says what comes next, and calls it done only when all of it
    is."""

    def check(reply: Thought) -> None:
        goals = [goal.goal for goal in reply.checklist]
        if lost := [goal.goal for goal in before.task_checklist if goal.goal not in goals]:
            raise BadReply(
                f"checklist: the goal {lost[0][:60]!r} is lost; keep every goal in its own words"
            )
        if len(set(goals)) < len(goals):
            raise BadReply("checklist: a goal is there twice")
        if reply.done and any(goal.status != "done" for goal in reply.checklist):
            raise BadReply("done: it is true while a goal is not done")
        if not reply.done and reply.next_goal not in goals:
            raise BadReply(
                "next_goal: it must be one of the goals on the checklist, in the same words"
            )
        if not reply.done and not reply.action_plan.strip():
            raise BadReply("action_plan: say what the person does next")

    return check


def one_each(goals: int) -> Check[Actions]:
    """One caption a goal."""

    def check(reply: Actions) -> None:
        if len(reply.captions) != goals:
            raise BadReply(
                f"captions: there are {len(reply.captions)} for {goals} goals; write one a goal, "
                "in order"
            )

    return check
