"""The item bank: 18 actions, 80 tasks, 400 instances, 1,600 prompts, each with its rubric, written
for this project."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from evaluators.contracts import Facets, Question, Sample

DATA = files(__package__) / "data"
SETTINGS = ("predictive", "descriptive")
MODALITIES = ("image", "video")
YES_NO = ("yes", "no", "unclear")
STARS = ("0", "1", "2", "3", "4", "5")
PARTS = {
    "entity": "entity_completeness",
    "attribute": "attribute_fidelity",
    "scene": "scene_validity",
    "state_change": "state_change_correctness",
    "affordance": "affordance_grounding",
    "motion": "motion_plausibility",
}
NAMES = ("actions", "tasks", "instances")
SCOPES = {
    "all": tuple((setting, modality) for setting in SETTINGS for modality in MODALITIES),
    **{setting: tuple((setting, modality) for modality in MODALITIES) for setting in SETTINGS},
    **{modality: tuple((setting, modality) for setting in SETTINGS) for modality in MODALITIES},
    **{
        f"{setting} {modality}": ((setting, modality),)
        for setting in SETTINGS
        for modality in MODALITIES
    },
}
"""What a question's `for` may say, and the prompts that it means."""
Row = Mapping[str, Any]

RATINGS = (
    Question(
        "physical_realism",
        "From 0 to 5, how well does what is shown agree with gravity, contact, the limits of the "
        "materials, and cause "
        "and effect? 0 is an obvious, severe violation; 5 is fully consistent.",
        "rating",
        part="physical_realism",
        options=STARS,
        low=0,
        high=5,
    ),
    Question(
        "perceptual_quality",
        "From 0 to 5, how clear and clean is the picture or clip, and in a clip, do things stay "
        "the same things from "
        "frame to frame? 0 is severe artefacts; 5 is clean.",
        "rating",
        part="perceptual_quality",
        options=STARS,
        low=0,
        high=5,
    ),
)


class NotABank(ValueError):
    """A file of a bank cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Bank:
    """The rows of one bank, in their order; an instance's row names its task and its index."""

    actions: tuple[Row, ...]
    tasks: tuple[Row, ...]
    instances: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One question of one prompt's rubric: with its parent, if it has one, and whether its yes is
    evidence of an attempt."""

    id: str
    part: str
    text: str
    parent: str = ""
    attempt: bool = False
    scope: str = "all"


def read(folder: Traversable | Path) -> Bank:
    """The bank in a folder, as it is: tasks in the order of its card, others by action and name;
    `checks` tells whether it is sound."""
    lines = (folder / "actions.jsonl").read_text("utf-8").splitlines()
    actions = [_object("actions.jsonl", line) for line in lines]
    tasks = folder / "tasks"
    names = [file.name for file in tasks.iterdir() if file.name.endswith(".json")]
    rows = [_object(f"tasks/{name}", (tasks / name).read_text("utf-8")) for name in names]
    listed = card(folder).get("tasks", ()) if (folder / "bank.json").is_file() else ()
    return bank_of(actions, rows, listed)


def card(folder: Traversable | Path = DATA) -> Row:
    """What a bank says of itself: version, licence, canary, the order of its tasks, and whether
    they are still being read."""
    return _object("bank.json", (folder / "bank.json").read_text("utf-8"))


def task_names() -> list[str]:
    """The tasks of the open bank, by the names of their files."""
    return sorted(file.name.removesuffix(".json") for file in (DATA / "tasks").iterdir())


def _object(name: str, text: str) -> Row:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotABank(
            f"{name} is not JSON: {error.msg} in line {error.lineno}. Mend this line; the file "
            "of a task is one object."
        ) from None
    if not isinstance(row, dict):
        raise NotABank(f"{name} does not hold one JSON object. Compare it with another task's.")
    return row


def bank_of(actions: Iterable[Row], tasks: Iterable[Row], listed: Sequence[str] = ()) -> Bank:
    """A bank of actions and of tasks as their files hold them, with the instances inside."""
    actions = tuple(actions)
    places = {name: place for place, name in enumerate(listed)}
    action_places = {row.get("action_name"): place for place, row in enumerate(actions)}

    def order(task: Row) -> tuple[int, int, str]:
        name = str(task.get("task_id"))
        action = action_places.get(task.get("action_name"), len(actions))
        return (places.get(name, len(places)), action, name)

    ordered = sorted(tasks, key=order)
    instances = (
        {"task_id": task.get("task_id"), "index": index, **instance}
        for task in ordered
        for index, instance in enumerate(task.get("instances", ()))
    )
    heads = ({key: task[key] for key in task if key != "instances"} for task in ordered)
    return Bank(actions, tuple(heads), tuple(instances))


@cache
def public() -> Bank:
    """The open bank that comes with this package."""
    return read(DATA)


@cache
def samples() -> tuple[Sample, ...]:
    """Every prompt of the open bank as a sample."""
    return samples_of(public())


def samples_of(bank: Bank, prefix: str = "") -> tuple[Sample, ...]:
    """Every prompt as a sample: five instances a task, two settings, two modalities."""
    tasks = {task["task_id"]: task for task in bank.tasks}
    return tuple(
        _sample(prefix, tasks[instance["task_id"]], instance, setting, modality)
        for instance in bank.instances
        for setting in SETTINGS
        for modality in MODALITIES
    )


def rubric(task: Row, instance: Row, setting: str, modality: str) -> tuple[RubricItem, ...]:
    """The checklist of one prompt, part by part: the task's questions but for those that the
    instance leaves out, then the instance's own."""
    left_out = instance.get("without", ())
    rows = [row for row in task["questions"] if row["id"] not in left_out]
    items = [item_of(row) for row in (*rows, *instance["questions"])]
    asked = [item for item in items if (setting, modality) in prompts_of(item)]
    return tuple(_parents_first([item for short in PARTS for item in asked if item.part == short]))


def _parents_first(items: Sequence[RubricItem]) -> list[RubricItem]:
    """The same questions, each behind those that it hangs on; a circle is left as it stands."""
    by_id = {item.id: item for item in items}
    ordered: dict[str, RubricItem] = {}
    for item in items:
        chain = [item]
        while chain[-1].parent in by_id and by_id[chain[-1].parent] not in chain:
            chain.append(by_id[chain[-1].parent])
        ordered |= {link.id: link for link in reversed(chain) if link.id not in ordered}
    return list(ordered.values())


def item_of(row: Row) -> RubricItem:
    """A question as its row says it."""
    return RubricItem(
        id=row["id"],
        part=row["part"],
        text=row["text"],
        parent=row.get("parent", ""),
        attempt=row.get("attempt", False),
        scope=row.get("for", "all"),
    )


def prompts_of(item: RubricItem) -> tuple[tuple[str, str], ...]:
    """The prompts that a question belongs to, as setting and modality; a still has no motion.

    >>> prompts_of(RubricItem("fibres_cling", "attribute", "Do fibres cling?", scope="video"))
    (('predictive', 'video'), ('descriptive', 'video'))
    """
    prompts = SCOPES[item.scope]
    return tuple(at for at in prompts if at[1] == "video") if item.part == "motion" else prompts


def _sample(prefix: str, task: Row, instance: Row, setting: str, modality: str) -> Sample:
    items = rubric(task, instance, setting, modality)
    return Sample(
        id=f"{prefix}{task['task_id']}.{instance['index']}.{setting}.{modality}",
        facets=Facets(instance["tool_type"], task["action_name"], setting, modality),
        cluster=f"{prefix}{task['task_id']}",
        prompt=instance[f"{setting}_{modality}_prompt"],
        questions=tuple(map(_question, items)) + RATINGS,
        reference={
            "tool": instance["tool"],
            "expected_outcome": instance["expected_outcome"],
            "details": [item.id for item in items if is_detail(item)],
        },
    )


def is_detail(item: RubricItem) -> bool:
    """Whether only one setting asks it."""
    return len({setting for setting, _ in SCOPES[item.scope]}) == 1


def _question(item: RubricItem) -> Question:
    part = PARTS[item.part]
    return Question(item.id, item.text, "yes_no", part, YES_NO, parent=item.parent)
