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
PARTS = ("eyes", "annotator", "blurred", "clone", "clone_few")


class NoSuchPart(ValueError):
    """There is no such network; the message says which there are."""


def train_policies(
    folder: Path, cache: Path, parts: Sequence[str] = PARTS, say: Say = lambda _line: None
) -> list[Path]:
    """The networks by name into a folder; moments are taken once into the cache. The annotator and
    cloned policies begin with the eyes of the same folder, so eyes come first."""
    if unknown := set(parts) - set(PARTS):
        raise NoSuchPart(f"There is no network {sorted(unknown)[0]!r}. Known: {', '.join(PARTS)}.")
    lessons: dict[str, Callable[[], TableEyes | Clone]] = {
        "eyes": lambda: teach_eyes(
            _moments(cache, SHEETS, say), TableEyesConfig(), LessonPlan(2600, 48, 3e-3), say
        ),
        "annotator": lambda: _annotator(folder, cache, say),
        "blurred": lambda: teach_eyes(
            _moments(cache, FEW, say), BLURRED, LessonPlan(600, 32, 3e-3, seed=1), say
        ),
        "clone": lambda: _clone(folder, _moments(cache, SHEETS, say), 500, say),
        "clone_few": lambda: _clone(folder, _moments(cache, FEW, say), 200, say),
    }
    return [_make(folder / f"{part}.safetensors", lessons[part]) for part in PARTS if part in parts]


def _make(path: Path, lesson: Callable[[], TableEyes | Clone]) -> Path:
    save_network(lesson(), path)
    return path


def _annotator(folder: Path, cache: Path, say: Say) -> TableEyes:
    """The eyes of policies, which go on learning with objects in every bin."""
    begun = open_eyes(folder, "eyes")
    sheets = make_snapshots(_names(HELD_OUT, JUDGED), cache, everywhere=True)
    sheets += make_snapshots(_names(HELD_OUT, 2 * JUDGED), cache)
    lesson = LessonPlan(800, 48, 1.5e-3, seed=3)
    return teach_eyes(read_snapshots(sheets), begun.config, lesson, say, begun)


def _clone(folder: Path, moments: Snapshots, steps: int, say: Say) -> Clone:
    return teach_clone(moments, open_eyes(folder, "eyes"), LessonPlan(steps, seed=2), say)


def _moments(cache: Path, until: int, say: Say) -> Snapshots:
    names = _names(HELD_OUT, until)
    return read_snapshots(
        make_snapshots(names, cache, told=lambda name: say(f"moments {name} taken"))
    )


def _names(first: int, last: int) -> list[str]:
    return [f"{number:04d}" for number in range(first, last)]
