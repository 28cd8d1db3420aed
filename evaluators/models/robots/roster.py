"""How the shipped networks of the seven policies and of the annotator are made, each in some
minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluators.models.robots.cloning import Clone
from evaluators.models.robots.eyes import TableEyes, TableEyesConfig
from evaluators.models.robots.lessons import LessonPlan, Say, teach_clone, teach_eyes
from evaluators.models.robots.snapshots import Snapshots, make_snapshots, read_snapshots
from evaluators.models.robots.weights import open_eyes, save_network

HELD_OUT, SHEETS, FEW, JUDGED = 4, 72, 10, 18
"""Sheets of moments: those that nothing learns from, those up to which networks learn, those of the
poor, and those on which anything may lie in any bin, for the annotator alone."""

BLURRED = TableEyesConfig(pixels=32, channels=8, hidden=48)
LESSONS = {
    "eyes": LessonPlan(2600, 48, 3e-3),
    "annotator": LessonPlan(800, 48, 1.5e-3, seed=3),
    "blurred": LessonPlan(600, 32, 3e-3, seed=1),
    "clone": LessonPlan(500, seed=2),
    "clone_few": LessonPlan(200, seed=2),
}
PARTS = tuple(LESSONS)


class NoSuchPart(ValueError):
    """There is no such network; the message says which there are."""


def train_policies(
    folder: Path, cache: Path, parts: Sequence[str] = PARTS, say: Say = lambda _line: None
) -> list[Path]:
    """The networks by name into a folder; moments are taken once into the cache. The annotator and
    cloned policies begin with the eyes of the same folder, so eyes come first."""
    if unknown := set(parts) - set(PARTS):
        raise NoSuchPart(f"There is no network {sorted(unknown)[0]!r}. Known: {', '.join(PARTS)}.")
    teach: dict[str, Callable[[LessonPlan], TableEyes | Clone]] = {
        "eyes": lambda plan: teach_eyes(_moments(cache, SHEETS, say), TableEyesConfig(), plan, say),
        "annotator": lambda plan: _annotator(folder, cache, plan, say),
        "blurred": lambda plan: teach_eyes(_moments(cache, FEW, say), BLURRED, plan, say),
        "clone": lambda plan: _clone(folder, _moments(cache, SHEETS, say), plan, say),
        "clone_few": lambda plan: _clone(folder, _moments(cache, FEW, say), plan, say),
    }
    return [
        _make(folder / f"{part}.safetensors", teach[part](LESSONS[part]))
        for part in PARTS
        if part in parts
    ]


def _make(path: Path, network: TableEyes | Clone) -> Path:
    save_network(network, path)
    return path


def _annotator(folder: Path, cache: Path, lesson: LessonPlan, say: Say) -> TableEyes:
    """The eyes of policies, which go on learning with objects in every bin."""
    begun = open_eyes(folder, "eyes")
    sheets = make_snapshots(_names(HELD_OUT, JUDGED), cache, everywhere=True)
    sheets += make_snapshots(_names(HELD_OUT, 2 * JUDGED), cache)
    return teach_eyes(read_snapshots(sheets), begun.config, lesson, say, begun)


def _clone(folder: Path, moments: Snapshots, lesson: LessonPlan, say: Say) -> Clone:
    return teach_clone(moments, open_eyes(folder, "eyes"), lesson, say)


def _moments(cache: Path, until: int, say: Say) -> Snapshots:
    names = _names(HELD_OUT, until)
    return read_snapshots(
        make_snapshots(names, cache, told=lambda name: say(f"moments {name} taken"))
    )


def _names(first: int, last: int) -> list[str]:
    return [f"{number:04d}" for number in range(first, last)]
