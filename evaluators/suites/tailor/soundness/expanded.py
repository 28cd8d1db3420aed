"""A bank laid out for checking: each instance with its task and the questions of each of its
prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.suites.tailor.bank import SCOPES, Bank, Row, RubricItem, item_of, rubric

ADHERENCE = ("entity", "attribute", "scene")
INTERACTION = ("state_change", "affordance", "motion")
STOP = frozenset(
    re.findall(
        r"\w+",
        "a about after all an and any are as at be been being both by can do does each from had "
        "has have her his in into is it its look looks of on one onto or over own same shown some "
        "still than that the their there they this to under up visible was were where with",
    )
)


@dataclass(frozen=True, slots=True)
class ReadInstance:
    """One instance with its task, and every question that any of its prompts asks."""

    where: str
    task: Row
    row: Row
    items: tuple[RubricItem, ...]
    rubrics: Mapping[tuple[str, str], tuple[RubricItem, ...]]

    @property
    def impossible(self) -> bool:
        return bool(self.row["tool_type"] == "impossible")


def instances(bank: Bank) -> Iterator[ReadInstance]:
    """Every instance whose task the bank has."""
    tasks = {task["task_id"]: task for task in bank.tasks}
    for row in bank.instances:
        if task := tasks.get(row["task_id"]):
            yield _instance(task, row)


def _instance(task: Row, row: Row) -> ReadInstance:
    left_out = row.get("without", ())
    rows = [shared for shared in task["questions"] if shared["id"] not in left_out]
    return ReadInstance(
        where=f"{row['task_id']}.{row['index']}",
        task=task,
        row=row,
        items=tuple(item_of(question) for question in (*rows, *row["questions"])),
        rubrics={at: rubric(task, row, *at) for at in SCOPES["all"]},
    )


def ancestors(item: RubricItem, by_id: Mapping[str, RubricItem]) -> Iterator[RubricItem]:
    """The question's parent, that one's parent, and so on; stops where a circle closes."""
    passed = {item.id}
    while item.parent in by_id and item.parent not in passed:
        item = by_id[item.parent]
        passed.add(item.id)
        yield item


def content_words(text: str) -> frozenset[str]:
    """The words that carry the meaning, without their endings.

    >>> sorted(content_words("Are the stakes still standing upright?"))
    ['stak', 'stand', 'upright']
    """
    words = re.findall(r"[a-z]+", text.lower())
    return frozenset(stem(word) for word in words if word not in STOP)


def stem(word: str) -> str:
    """A word without the endings of plural and verb; rough, and the same for all.

    >>> [stem(word) for word in ("berries", "boxes", "cutting", "cracked", "glass", "shape")]
    ['berry', 'box', 'cut', 'crack', 'glass', 'shap']
    """
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            root = word[: -len(ending)]
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "ls"
            return root[:-1] if doubled else root
    return word
