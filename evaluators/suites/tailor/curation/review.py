"""What people decide in the curation: drafts to keep, edit or drop, and what follows from their
decisions.

Round 1 (step 4) is about tasks and tools, round 2 (step 7) about outcomes, prompts and questions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evaluators.suites.tailor.bank import MODALITIES, PARTS, SETTINGS
from evaluators.suites.tailor.curation.replies import (
    Contrary,
    Impossible,
    Instance,
    Unconventional,
)
from evaluators.suites.tailor.curation.rubrics import Common, Rubrics
from evaluators.suites.tailor.curation.steps import Chosen, Task

STANDING = ("kept", "edited")
ROUND_1, ROUND_2 = 4, 7
TASK_FIELDS = (
    "task_goal",
    "place",
    "environment",
    "original_tool",
    "expected_outcome",
    "required_tool_attributes",
)
PROMPT_FIELDS = tuple(
    f"{setting}_{modality}_prompt" for setting in SETTINGS for modality in MODALITIES
)
OWN_PARTS = ("entity", "attribute", "state_change", "affordance", "motion")
COMMON_PARTS = ("entity", "attribute", "scene")
TOOLS = 2


@dataclass(frozen=True)
class BankDraft:
    """One thing to decide about: where it belongs, what it says, and the question whose reply it
    comes from."""

    step: int
    kind: str
    task_id: str
    index: int | None
    field: str
    position: int
    payload: Mapping[str, Any]
    source: str
    context: Mapping[str, str]
    note: str = ""

    @property
    def key(self) -> str:
        """Other content is another draft, so that no decision is ever carried over to words nobody
        has read."""
        identity = [
            self.step,
            self.task_id,
            self.index,
            self.field,
            self.position,
            self.payload,
            self.context,
        ]
        return hashlib.sha256(
            json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        ).hexdigest()

    @property
    def where(self) -> str:
        """The place as the checks name it."""
        return f"{self.task_id}{'' if self.index is None else f'.{self.index}'} {self.field}"


@dataclass(frozen=True)
class DraftDecision:
    """What became of a draft (candidate, kept, edited or dropped), and its words after that."""

    status: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class UnfinishedTask:
    """Why a task does not go on yet, or not at all."""

    task_id: str
    reason: str
    dropped: bool = False


Decisions = Mapping[str, DraftDecision]
"""By the draft's key; a draft without one is a candidate."""


def first_round(
    task: Task,
    sources: Mapping[str, str],
    unconventional: Unconventional,
    contrary: Contrary,
    impossible: Impossible,
) -> list[BankDraft]:
    """The drafts of step 4: the task, then its candidates with their reasons; `sources` holds the
    key of the question of each step."""
    about = {"task_goal": task.task_goal, "required": ", ".join(task.required_tool_attributes)}
    payload = {
        **task.model_dump(include=set(TASK_FIELDS)),
        "opposite_tool_attributes": contrary.opposite_tool_attributes,
    }
    head = BankDraft(ROUND_1, "task", task.task_id, None, "task", 0, payload, sources["tasks"], {})
    candidates = (
        ("unconventional", unconventional.unconventional_tools),
        ("impossible", impossible.impossible_tools),
    )
    return [
        head,
        *(
            BankDraft(
                ROUND_1,
                "tool",
                task.task_id,
                None,
                f"{kind}_tools",
                position,
                candidate.model_dump(),
                sources[kind],
                about,
            )
            for kind, tools in candidates
            for position, candidate in enumerate(tools)
        ),
    ]


def choose(
    task: Task, drafts: Sequence[BankDraft], decisions: Decisions
) -> Chosen | UnfinishedTask:
    """The task with the tools that people left standing: exactly two of each kind, or why not
    yet."""
    (head,) = (draft for draft in drafts if draft.kind == "task")
    decided = decisions.get(head.key)
    if decided is None or decided.status == "candidate":
        return UnfinishedTask(task.task_id, "the task waits for a decision")
    if decided.status == "dropped":
        return UnfinishedTask(task.task_id, "the task was dropped", dropped=True)
    standing = {
        name: _standing(drafts, decisions, name)
        for name in ("unconventional_tools", "impossible_tools")
    }
    for name, payloads in standing.items():
        if len(payloads) != TOOLS:
            return UnfinishedTask(
                task.task_id,
                f"{len(payloads)} {name.replace('_', ' ')} are kept; exactly {TOOLS} are right",
            )
    return _chosen(task, decided.payload, standing)


def _chosen(
    task: Task, head: Mapping[str, Any], standing: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Chosen | UnfinishedTask:
    impossible = {
        entry["tool"]: entry["expected_outcome"] for entry in standing["impossible_tools"]
    }
    unconventional = [entry["tool"] for entry in standing["unconventional_tools"]]
    fields = {"task_id": task.task_id, "action_name": task.action_name, **head}
    fields |= {"unconventional_tools": unconventional, "impossible_tools": impossible}
    try:
        chosen = Chosen.model_validate(fields)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()
        )
        return UnfinishedTask(task.task_id, f"an edit is not valid: {problems}")
    if len({tool.casefold() for tool in chosen.tools}) != len(chosen.tools):
        return UnfinishedTask(
            task.task_id, "two of the five tools are the same; keep or edit others"
        )
    return chosen


def _standing(
    drafts: Iterable[BankDraft], decisions: Decisions, name: str
) -> list[Mapping[str, Any]]:
    draft_decisions = (decisions.get(draft.key) for draft in drafts if draft.field == name)
    return [
        decision.payload for decision in draft_decisions if decision and decision.status in STANDING
    ]


@dataclass(frozen=True)
class TaskDrafts:
    """Everything steps 5 and 6 wrote about one task; `sources` holds the key of each question."""

    task: Chosen
    instances: Sequence[Instance]
    common: Common
    rubrics: Sequence[Rubrics]
    sources: Mapping[str, str]


def second_round(written: TaskDrafts) -> list[BankDraft]:
    """The drafts of step 7: the shared questions, then outcome, prompts and questions tool by
    tool."""
    about = {"task_goal": written.task.task_goal, "place": written.task.environment}
    drafts = []
    for short in COMMON_PARTS:
        texts = getattr(written.common, PARTS[short]).questions
        drafts += _texts(
            "question", written.task.task_id, None, short, texts, written.sources["common"], about
        )
    for index in range(len(written.instances)):
        drafts += _of_tool(written, index, about)
    return drafts


def _of_tool(written: TaskDrafts, index: int, about: Mapping[str, str]) -> list[BankDraft]:
    instance, task = written.instances[index], written.task.task_id
    about = {
        **about,
        "tool": instance.tool,
        "tool_type": instance.tool_type,
        "outcome": instance.expected_outcome,
    }
    drafts = _texts(
        "outcome",
        task,
        index,
        "expected_outcome",
        [instance.expected_outcome],
        written.sources["instances"],
        about,
    )
    for name in PROMPT_FIELDS:
        drafts += _texts(
            "prompt",
            task,
            index,
            name,
            [getattr(instance, name)],
            written.sources["instances"],
            about,
        )
    for name, texts in _questions(written.rubrics[index], written.common).items():
        drafts += _texts(
            "question", task, index, name, texts, written.sources[f"rubrics {index}"], about
        )
    return drafts


def _questions(rubrics: Rubrics, common: Common) -> dict[str, list[str]]:
    """The four checklists as a bank keeps them: the tool's own questions, and one detail a
    descriptive prompt."""
    questions_by_part = {}
    for short in OWN_PARTS:
        prompt = "predictive_video" if short == "motion" else "predictive_image"
        shared = len(getattr(common, PARTS[short]).questions) if short in COMMON_PARTS else 0
        questions_by_part[short] = rubrics.questions(prompt, PARTS[short])[shared:]
    for modality in MODALITIES:
        questions_by_part[f"{modality}_detail"] = rubrics.questions(
            f"descriptive_{modality}", PARTS["state_change"]
        )[-1:]
    return questions_by_part


def _texts(
    kind: str,
    task: str,
    index: int | None,
    name: str,
    texts: Sequence[str],
    source: str,
    about: Mapping[str, str],
) -> list[BankDraft]:
    return [
        BankDraft(ROUND_2, kind, task, index, name, position, {"text": text}, source, about)
        for position, text in enumerate(texts)
    ]
