"""The questions that the curation puts to a language model, step by step, and what makes a question
the same one.

Steps 1 to 3 write tasks and tools, step 5 prompts, step 6 checklists; steps 4 and 7 are people's
(`curation_review`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from evaluators.contracts import Json
from evaluators.judges.prompts import Message
from evaluators.suites.tailor.bank import Row
from evaluators.suites.tailor.checks import TYPES
from evaluators.suites.tailor.curation import prompts
from evaluators.suites.tailor.curation.replies import (
    Contrary,
    Impossible,
    Instance,
    Instances,
    Opposites,
    StrictReply,
    Tasks,
    Text,
    Unconventional,
    WrittenTask,
    read,
)
from evaluators.suites.tailor.curation.rubrics import SHARED, Common, Rubrics
from evaluators.suites.tailor.graph import Affordance, AffordanceGraph, contraries
from evaluators.suites.tailor.wording import STOP

NUMBERS = {
    "tasks": 1,
    "unconventional": 2,
    "opposites": 3,
    "impossible": 3,
    "instances": 5,
    "common": 6,
    "rubrics": 6,
}
"""Which of the seven steps a question belongs to; the first round of review is 4, the second 7."""

SCHEMAS: Mapping[str, type[StrictReply]] = {
    "tasks": Tasks,
    "unconventional": Unconventional,
    "opposites": Contrary,
    "impossible": Impossible,
    "instances": Instances,
    "common": Common,
    "rubrics": Rubrics,
}
TASKS_AN_ACTION = 20
SLUG_WORDS = 3


class CannotCurate(ValueError):
    """The curation cannot begin or go on; the message says what to change."""


class Task(WrittenTask):
    """A task with its id."""

    task_id: str
    action_name: str


class Chosen(Task):
    """A task as people left it: exactly two tools of each kind, and what comes of the impossible
    ones."""

    unconventional_tools: list[Text] = Field(min_length=2, max_length=2)
    opposite_tool_attributes: Opposites
    impossible_tools: dict[str, Text] = Field(min_length=2, max_length=2)

    @property
    def tools(self) -> list[str]:
        """The five tools in the order of the instances."""
        return [self.original_tool, *self.unconventional_tools, *self.impossible_tools]


@dataclass(frozen=True)
class CurationQuestion:
    """One question: its step, whom it is about, the content that makes it this question, and the
    words for it."""

    step: str
    subject: str
    content: Mapping[str, Any]
    messages: Sequence[Message]
    context: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same content is the same question, whoever is asked and however it is put."""
        canonical = json.dumps([self.step, self.content], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def title(self) -> str:
        """What a waiting person is told."""
        return f"step {NUMBERS[self.step]}, {self.step}"

    def read(self, text: str) -> dict[str, Json]:
        """The reply as plain data, or BadReply."""
        return read(SCHEMAS[self.step], text, self.context).model_dump()


def ask_tasks(action: Row, count: int = TASKS_AN_ACTION) -> CurationQuestion:
    """Step 1: so many tasks for an action."""
    content = {"action": dict(action), "count": count}
    prompt = prompts.messages("tasks", action=prompts.record(action), count=count)
    return CurationQuestion("tasks", str(action["action_name"]), content, prompt, {"count": count})


def tasks_of(action: Row, payload: Mapping[str, Any]) -> list[Task]:
    """The tasks in a reply of step 1, with their ids."""
    name = str(action["action_name"])
    return [
        Task(task_id=task_id(name, written["task_goal"]), action_name=name, **written)
        for written in Tasks.model_validate(
            payload, context={"count": len(payload["tasks"])}
        ).model_dump()["tasks"]
    ]


def task_id(action: str, goal: str) -> str:
    """An id that says what the task is, and that no other goal has.

    >>> task_id("cut", "Cut a taut jute twine between two stakes")
    'cut_taut_jute_twine_2d04'
    """
    words = [
        word
        for word in re.findall(r"[a-z0-9]+", goal.lower())
        if word not in STOP and word != action
    ]
    return "_".join([action, *words[:SLUG_WORDS], hashlib.sha256(goal.encode()).hexdigest()[:4]])


def ask_unconventional(task: Task, graph: AffordanceGraph) -> CurationQuestion:
    """Step 2: objects that would do."""
    affordances = graph.excerpt(task.required_tool_attributes, prompts.EXCERPT)
    return _ask_about_task("unconventional", task, _without_ids(task), affordances)


def ask_opposites(task: Task) -> CurationQuestion:
    """Step 3, first part: what a tool that must fail is like, before the graph is asked for one."""
    prompt = prompts.messages("opposites", task=prompts.record(_without_ids(task)))
    return CurationQuestion("opposites", task.task_id, task.model_dump(), prompt, {})


def ask_impossible(
    task: Task, opposites: Sequence[str], graph: AffordanceGraph
) -> CurationQuestion:
    """Step 3, second part: objects that would not do; the graph is asked for what is contrary."""
    wanted = (*opposites, *contraries(task.required_tool_attributes))
    fields = {**_without_ids(task), "opposite_tool_attributes": list(opposites)}
    return _ask_about_task("impossible", task, fields, graph.excerpt(wanted, prompts.EXCERPT))


def _ask_about_task(
    step: str, task: Task, fields: Mapping[str, Any], affordances: Sequence[Affordance]
) -> CurationQuestion:
    content = {**task.model_dump(), **fields}
    prompt = prompts.messages(step, task=prompts.record(fields), excerpt=prompts.lines(affordances))
    return CurationQuestion(
        step, task.task_id, content, prompt, {"original_tool": task.original_tool}
    )


def ask_instances(task: Chosen) -> CurationQuestion:
    """Step 5: what comes of each tool, and its four prompts."""
    fields = {**_without_ids(task), "tools": _tools(task)}
    prompt = prompts.messages("instances", task=prompts.record(fields))
    return CurationQuestion(
        "instances", task.task_id, task.model_dump(), prompt, {"tools": task.tools}
    )


def ask_common(task: Chosen, instances: Sequence[Instance]) -> CurationQuestion:
    """Step 6, first part: the questions that all five tools share."""
    fields = {**_goal(task), "prompts": [_prompts(instance) for instance in instances]}
    content = {
        "task": task.model_dump(),
        "instances": [instance.model_dump() for instance in instances],
    }
    return CurationQuestion(
        "common", task.task_id, content, prompts.messages("common", task=prompts.record(fields)), {}
    )


def ask_rubrics(task: Chosen, index: int, instance: Instance, common: Common) -> CurationQuestion:
    """Step 6, second part: the four checklists of one tool."""
    fields = {
        **_goal(task),
        "required_tool_attributes": task.required_tool_attributes,
        **instance.model_dump(),
    }
    common_questions = {part: getattr(common, part).questions for part in SHARED}
    prompt = prompts.messages(
        "rubrics", instance=prompts.record(fields), common=prompts.record(common_questions)
    )
    content = {
        "task": task.model_dump(),
        "instance": instance.model_dump(),
        "common": common_questions,
    }
    return CurationQuestion(
        "rubrics", f"{task.task_id}.{index}", content, prompt, {"common": common_questions}
    )


def _without_ids(task: Task) -> dict[str, Json]:
    hidden = {"task_id", "unconventional_tools", "impossible_tools", "opposite_tool_attributes"}
    return task.model_dump(exclude=hidden)


def _tools(task: Chosen) -> list[Json]:
    outcomes = [
        task.expected_outcome,
        *[""] * len(task.unconventional_tools),
        *task.impossible_tools.values(),
    ]
    tool_rows = zip(TYPES, task.tools, outcomes, strict=True)
    return [
        {"tool_type": kind, "tool": tool, **({"expected_outcome": end} if end else {})}
        for kind, tool, end in tool_rows
    ]


def _goal(task: Task) -> dict[str, Json]:
    return task.model_dump(include={"task_goal", "place", "environment"})


def _prompts(instance: Instance) -> dict[str, Json]:
    return {
        name: text
        for name, text in instance.model_dump().items()
        if name.endswith("_prompt") or name == "tool"
    }
