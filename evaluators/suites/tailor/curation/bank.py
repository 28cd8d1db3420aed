"""From decided drafts to a bank: rows in the form of its files, checked like any other bank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.suites.tailor import checks
from evaluators.suites.tailor.bank import MODALITIES, Bank, Row
from evaluators.suites.tailor.curation.review import (
    COMMON_PARTS,
    OWN_PARTS,
    PROMPT_FIELDS,
    STANDING,
    BankDraft,
    Decisions,
    DraftDecision,
    TaskDrafts,
    UnfinishedTask,
)
from evaluators.suites.tailor.wording import BankFinding

SINGLE = ("expected_outcome", *PROMPT_FIELDS, *(f"{modality}_detail" for modality in MODALITIES))


@dataclass(frozen=True)
class Rows:
    """One task as it stands in a bank, with its five instances."""

    task: Row
    instances: tuple[Row, ...]


def fold(
    written: TaskDrafts, drafts: Sequence[BankDraft], decisions: Decisions
) -> Rows | UnfinishedTask:
    """The rows that the decisions leave, or why the task is not ready; every draft has to be
    decided."""
    decided = [(draft, decisions.get(draft.key)) for draft in drafts]
    waiting = sum(decision is None or decision.status == "candidate" for _, decision in decided)
    if waiting:
        return UnfinishedTask(
            written.task.task_id, f"{waiting} of {len(drafts)} drafts wait for a decision"
        )
    standing = [
        (draft, verdict.payload["text"])
        for draft, verdict in decided
        if verdict and verdict.status in STANDING
    ]
    present = {draft.where for draft, _ in standing}
    for draft, _ in decided:
        if draft.field in SINGLE and draft.where not in present:
            return UnfinishedTask(
                written.task.task_id,
                f"{draft.where} was dropped, and with it the task",
                dropped=True,
            )
    return _rows(written, standing)


def as_written(written: TaskDrafts, drafts: Sequence[BankDraft]) -> Rows:
    """The rows if everything were kept."""
    decisions = {draft.key: DraftDecision("kept", draft.payload) for draft in drafts}
    rows = fold(written, drafts, decisions)
    assert isinstance(rows, Rows), "nothing waits and nothing was dropped"
    return rows


def noted(action: Row, written: TaskDrafts, drafts: Sequence[BankDraft]) -> list[BankDraft]:
    """The drafts, each with what the checks say about it, for the people who decide."""
    rows = as_written(written, drafts)
    bank_findings = checks.findings(Bank((action,), (rows.task,), rows.instances))
    return [replace(draft, note="; ".join(_about(draft, bank_findings))) for draft in drafts]


def assemble(actions: Iterable[Row], rows: Sequence[Rows]) -> Bank:
    """All tasks as one bank, with the actions that they need."""
    used = {task_rows.task["action_name"] for task_rows in rows}
    used_actions = tuple(action for action in actions if action["action_name"] in used)
    return Bank(
        used_actions,
        tuple(task_rows.task for task_rows in rows),
        tuple(row for task_rows in rows for row in task_rows.instances),
    )


def _rows(written: TaskDrafts, standing: Sequence[tuple[BankDraft, str]]) -> Rows:
    instances = tuple(
        _instance(written, index, standing) for index in range(len(written.instances))
    )
    task: dict[str, Any] = written.task.model_dump()
    task["impossible_tools"] = list(written.task.impossible_tools)
    shared = [row for short in COMMON_PARTS for row in _questions(standing, None, short, 1)]
    return Rows({**task, "questions": shared}, instances)


def _instance(
    written: TaskDrafts, index: int, standing: Sequence[tuple[BankDraft, str]]
) -> dict[str, Any]:
    instance = written.instances[index]
    row: dict[str, Any] = {
        "task_id": written.task.task_id,
        "index": index,
        "tool_type": instance.tool_type,
        "tool": instance.tool,
    }
    row |= {name: _of(standing, index, name)[0] for name in ("expected_outcome", *PROMPT_FIELDS)}
    return row | {"questions": _own_questions(index, standing)}


def _own_questions(index: int, standing: Sequence[tuple[BankDraft, str]]) -> list[dict[str, str]]:
    rows = []
    for short in OWN_PARTS:
        shared = len(_of(standing, None, short))
        rows += _questions(standing, index, short, shared + 1)
    for modality in MODALITIES:
        for text in _of(standing, index, f"{modality}_detail"):
            scope = f"descriptive {modality}"
            rows.append(
                {"id": f"{modality}_detail", "part": "attribute", "text": text, "for": scope}
            )
    return rows


def _questions(
    standing: Sequence[tuple[BankDraft, str]], index: int | None, short: str, first: int
) -> list[dict[str, str]]:
    return [
        {"id": f"{short}_{number}", "part": short, "text": text}
        for number, text in enumerate(_of(standing, index, short), first)
    ]


def _of(standing: Sequence[tuple[BankDraft, str]], index: int | None, name: str) -> list[str]:
    return [text for draft, text in standing if (draft.index, draft.field) == (index, name)]


def _about(draft: BankDraft, bank_findings: Sequence[BankFinding]) -> list[str]:
    """What is said of this draft: of its place, and where a finding quotes a question, of its
    words."""
    if draft.kind != "question":
        return [finding.problem for finding in bank_findings if finding.where == draft.where]
    place = draft.where.split()[0]
    return [
        finding.problem
        for finding in bank_findings
        if finding.where.split()[0] == place and _quotes(finding.problem, draft.payload)
    ]


def _quotes(problem: str, payload: Mapping[str, Any]) -> bool:
    label = re.search(r"label '(.+)'", problem)
    return label[1] in payload["text"] if label else repr(payload["text"]) in problem
