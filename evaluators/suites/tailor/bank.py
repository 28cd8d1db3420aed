"""The item bank: 18 actions, 80 tasks, 400 instances, 1,600 prompts, each with its rubric, written
for this project."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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


@dataclass(frozen=True, slots=True)
class Bank:
    """The rows of one bank, in their order."""

    actions: tuple[Row, ...]
    tasks: tuple[Row, ...]
    instances: tuple[Row, ...]


def read(folder: Traversable | Path) -> Bank:
    """The bank in a folder, as it is; `checks` tells whether it is sound."""
    return Bank(*(_rows(folder / f"{name}.jsonl") for name in NAMES))


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


def _rows(file: Traversable | Path) -> tuple[Row, ...]:
    return tuple(json.loads(line) for line in file.read_text("utf-8").splitlines())


def _sample(prefix: str, task: Row, instance: Row, setting: str, modality: str) -> Sample:
    return Sample(
        id=f"{prefix}{task['task_id']}.{instance['index']}.{setting}.{modality}",
        facets=Facets(instance["tool_type"], task["action_name"], setting, modality),
        cluster=f"{prefix}{task['task_id']}",
        prompt=instance[f"{setting}_{modality}_prompt"],
        questions=tuple(_rubric(task, instance, setting, modality)) + RATINGS,
        reference={"tool": instance["tool"], "expected_outcome": instance["expected_outcome"]},
    )


def _rubric(task: Row, instance: Row, setting: str, modality: str) -> Iterator[Question]:
    """The checklist of one prompt: the task's questions, the tool's, and what only this prompt
    states."""
    for short, part in PARTS.items():
        if short == "motion" and modality == "image":
            continue
        texts = [*task.get(short, ()), *instance.get(short, ())]
        if short == "state_change" and setting == "descriptive":
            texts.append(instance[f"{modality}_detail"])
        for number, text in enumerate(texts, 1):
            yield Question(f"{short}_{number}", text, "yes_no", part=part, options=YES_NO)
