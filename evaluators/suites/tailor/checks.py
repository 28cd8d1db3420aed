"""Whether an item bank is whole and sound: counts, ids, tools, rubrics and wording, every finding
at once; `armillary tailor check-bank` prints them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from evaluators.contracts import Sample
from evaluators.suites.tailor import wording
from evaluators.suites.tailor.bank import (
    MODALITIES,
    NAMES,
    PARTS,
    SETTINGS,
    Bank,
    Row,
    samples_of,
)
from evaluators.suites.tailor.soundness import dependencies
from evaluators.suites.tailor.wording import BankFinding

Check = Callable[[Bank], Iterator[BankFinding]]
ACTIONS, TASKS, INSTANCES, PROMPTS = 18, 80, 400, 1600
PROMPTS_BY_TYPE = {"regular": 320, "unconventional": 640, "impossible": 640}
TYPES = ("regular", "unconventional", "unconventional", "impossible", "impossible")
TASKS_AN_ACTION = (4, 5)
ITEMS_A_PART = (1, 6)
"""The paper has three to six. One that nobody can doubt tells more than three of which one repeats
another, cannot be seen or asks for what no prompt states. The README says so under "What differs
from the paper"."""
INDOOR_SHARE = (0.4, 0.6)
PLACES = ("indoor", "outdoor")
QUESTION_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

TEXTS: Mapping[str, tuple[str, ...]] = {
    "actions": ("action_name", "action_description", "physics", "affordance"),
    "tasks": (
        "task_id",
        "action_name",
        "place",
        "environment",
        "task_goal",
        "original_tool",
        "expected_outcome",
    ),
    "instances": (
        *("task_id", "tool_type", "tool", "expected_outcome"),
        *(f"{setting}_{modality}_prompt" for setting in SETTINGS for modality in MODALITIES),
    ),
}
LISTS: Mapping[str, tuple[str, ...]] = {
    "actions": (),
    "tasks": (
        "required_tool_attributes",
        "unconventional_tools",
        "opposite_tool_attributes",
        "impossible_tools",
    ),
    "instances": (),
}
QUESTION_TEXTS = ("id", "part", "text")


def findings(bank: Bank) -> tuple[BankFinding, ...]:
    """Everything wrong with a bank of any size; where rows lack a field, only that, for nothing
    else can be read."""
    if missing := tuple(unreadable(bank)):
        return missing
    return tuple(finding for check in SOUND for finding in check(bank))


def unreadable(bank: Bank) -> Iterator[BankFinding]:
    """What keeps the other checks from reading the rows at all."""
    yield from (missing := tuple(fields(bank)))
    if not missing:
        yield from dependencies.question_rows(bank)


def public_findings(bank: Bank) -> tuple[BankFinding, ...]:
    """Everything wrong with the open bank, whose size is fixed."""
    bank_findings = findings(bank)
    if any(unreadable(bank)):
        return bank_findings
    return (*bank_findings, *totals(bank), *balance(bank))


def fields(bank: Bank) -> Iterator[BankFinding]:
    """Rows without a field they need, or with one of another kind."""
    for name in NAMES:
        for number, row in enumerate(getattr(bank, name), 1):
            yield from _field_faults(name, _place(name, number, row), row)


def _place(name: str, number: int, row: Row) -> str:
    if name == "actions":
        return f"actions.jsonl line {number}"
    task = f"tasks/{row.get('task_id')}.json"
    return task if name == "tasks" else f"{task} instance {row.get('index')}"


def _field_faults(name: str, place: str, row: Row) -> Iterator[BankFinding]:
    for key in TEXTS[name]:
        if not isinstance(row.get(key), str) or not row[key].strip():
            yield BankFinding(place, f"{key!r} is not a text")
    for key in LISTS[name]:
        if not _is_list_of_texts(row.get(key)):
            yield BankFinding(place, f"{key!r} is not a list of texts")
    if name != "actions":
        yield from _question_faults(place, row.get("questions"))
    if name == "instances" and not isinstance(row.get("attributes", {}), dict):
        yield BankFinding(place, "'attributes' is not an object")


def _question_faults(place: str, rows: object) -> Iterator[BankFinding]:
    if not isinstance(rows, list) or not rows:
        yield BankFinding(place, "'questions' is not a list of questions")
        return
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            yield BankFinding(place, f"question {number} is not an object")
            continue
        for key in QUESTION_TEXTS:
            if not isinstance(row.get(key), str) or not row[key].strip():
                yield BankFinding(place, f"{key!r} of question {number} is not a text")


def _is_list_of_texts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(text, str) and text.strip() for text in value)
    )


def totals(bank: Bank) -> Iterator[BankFinding]:
    """How many there are of each, against the paper's numbers."""
    prompts = len(bank.instances) * len(SETTINGS) * len(MODALITIES)
    counts = {
        "actions": len(bank.actions),
        "tasks": len(bank.tasks),
        "instances": len(bank.instances),
        "prompts": prompts,
    }
    expected = {"actions": ACTIONS, "tasks": TASKS, "instances": INSTANCES, "prompts": PROMPTS}
    types = Counter(row["tool_type"] for row in bank.instances)
    for name, number in PROMPTS_BY_TYPE.items():
        counts[f"{name} prompts"], expected[f"{name} prompts"] = (
            types[name] * len(SETTINGS) * len(MODALITIES),
            number,
        )
    for name, number in expected.items():
        if counts[name] != number:
            yield BankFinding("bank", f"{counts[name]} {name}; {number} are right")


def balance(bank: Bank) -> Iterator[BankFinding]:
    """Actions with too few or too many tasks, and places that are not in balance."""
    per_action = Counter(task["action_name"] for task in bank.tasks)
    low, high = TASKS_AN_ACTION
    for action in bank.actions:
        count = per_action[action["action_name"]]
        if not low <= count <= high:
            yield BankFinding(action["action_name"], f"{count} tasks; {low} or {high} are right")
    indoor = sum(task["place"] == "indoor" for task in bank.tasks) / max(len(bank.tasks), 1)
    if not INDOOR_SHARE[0] <= indoor <= INDOOR_SHARE[1]:
        yield BankFinding("bank", f"{indoor:.0%} of the tasks are indoors; about half is right")


def ids(bank: Bank) -> Iterator[BankFinding]:
    """Ids that stand twice or name nothing."""
    actions = [row["action_name"] for row in bank.actions]
    tasks = [row["task_id"] for row in bank.tasks]
    instances = [f"{row['task_id']}.{row['index']}" for row in bank.instances]
    for name in (*_twice(actions), *_twice(tasks), *_twice(instances)):
        yield BankFinding(name, "this id stands twice")
    for task in bank.tasks:
        if task["action_name"] not in actions:
            yield BankFinding(task["task_id"], f"there is no action {task['action_name']!r}")
        if not task["task_id"].startswith(f"{task['action_name']}_"):
            yield BankFinding(task["task_id"], "a task's id begins with its action")
        if task["place"] not in PLACES:
            yield BankFinding(
                task["task_id"], f"the place is {task['place']!r}; indoor or outdoor is right"
            )
    for row, where in zip(bank.instances, instances, strict=True):
        if row["task_id"] not in tasks:
            yield BankFinding(where, f"there is no task {row['task_id']!r}")


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def tools(bank: Bank) -> Iterator[BankFinding]:
    """Tasks without their five instances, and instances whose tool is not one of the task's."""
    for task in bank.tasks:
        own = [row for row in bank.instances if row["task_id"] == task["task_id"]]
        lists = _tools_by_type(task)
        if tuple(row["tool_type"] for row in own) != TYPES or [row["index"] for row in own] != list(
            range(len(TYPES))
        ):
            yield BankFinding(
                task["task_id"],
                "five instances, 0 to 4, one regular, two unconventional, two impossible",
            )
        if len({row["tool"] for row in own}) != len(own):
            yield BankFinding(task["task_id"], "one tool is used twice")
        for row in own:
            yield from _tool_faults(row, lists)


def _tools_by_type(task: Row) -> dict[str, Sequence[str]]:
    return {
        "regular": (task["original_tool"],),
        "unconventional": task["unconventional_tools"],
        "impossible": task["impossible_tools"],
    }


def _tool_faults(row: Row, lists: Mapping[str, Sequence[str]]) -> Iterator[BankFinding]:
    where = f"{row['task_id']}.{row['index']}"
    if row["tool"] not in lists.get(row["tool_type"], ()):
        yield BankFinding(where, f"{row['tool']!r} is none of the task's {row['tool_type']} tools")
    head = row["tool"].lower().split()[-1].rstrip("s")
    for setting in SETTINGS:
        for modality in MODALITIES:
            if head not in row[f"{setting}_{modality}_prompt"].lower():
                yield BankFinding(
                    f"{where} {setting}_{modality}_prompt", f"the tool {row['tool']!r} is not named"
                )


def rubrics(bank: Bank) -> Iterator[BankFinding]:
    """Rubrics with too few or too many questions in a part, motion in a picture, or a question
    twice."""
    task_ids = {task["task_id"] for task in bank.tasks}
    sound = Bank(
        bank.actions, bank.tasks, tuple(row for row in bank.instances if row["task_id"] in task_ids)
    )
    for sample in samples_of(sound):
        yield from _rubric_faults(sample)


def _rubric_faults(sample: Sample) -> Iterator[BankFinding]:
    checklist = [question for question in sample.questions if question.kind == "yes_no"]
    counts = Counter(question.part for question in checklist)
    low, high = ITEMS_A_PART
    for part in PARTS.values():
        still = part == "motion_plausibility" and sample.facets.modality == "image"
        if not (counts[part] == 0 if still else low <= counts[part] <= high):
            right = "none" if still else f"{low} to {high}"
            yield BankFinding(sample.id, f"{counts[part]} questions on {part}; {right} are right")
    for name in _twice([question.id for question in sample.questions]):
        yield BankFinding(sample.id, f"the question id {name!r} stands twice")
    for question in checklist:
        if not QUESTION_ID.fullmatch(question.id):
            yield BankFinding(sample.id, f"the question id {question.id!r} is not snake_case")
    for text in _twice([question.text for question in sample.questions]):
        yield BankFinding(sample.id, f"asked twice: {text!r}")


SOUND: tuple[Check, ...] = (
    *(ids, tools, rubrics),
    *(wording.leaks, wording.labels, wording.lengths, wording.duplicates, wording.repeated_tasks),
    wording.question_form,
)
