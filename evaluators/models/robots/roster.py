"""How the shipped networks of the seven policies are made from practice, each in a few minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluators.models.robots.eyes import TableEyes, TableEyesConfig
from evaluators.models.robots.lessons import LessonPlan, Say, teach_clone, teach_eyes
from evaluators.models.robots.weights import open_eyes, save_network
from evaluators.worlds.tabletop.library import PracticeClip, make_practice, read_practice

PRACTICE, HELD_OUT, FEW = 206, 24, 60
"""Episodes that networks learn from, those that they are measured on, and those of the poor."""

BLURRED = TableEyesConfig(pixels=32, channels=12, points=8, hidden=96)
PARTS = ("eyes", "blurred", "clone", "clone_few")


class NoSuchPart(ValueError):
    """There is no such network; the message says which there are."""


def train_policies(
    folder: Path, cache: Path, parts: Sequence[str] = PARTS, say: Say = lambda _line: None
) -> list[Path]:
    """The networks by name into a folder; practice is recorded once into the cache. Cloned
    policies begin with the eyes of the same folder, so eyes come first."""
    if unknown := set(parts) - set(PARTS):
        raise NoSuchPart(f"There is no network {sorted(unknown)[0]!r}. Known: {', '.join(PARTS)}.")
    names = [f"{number:04d}" for number in range(PRACTICE)]
    files = make_practice(names, cache, lambda name: say(f"practice {name} recorded"))
    clips = [read_practice(file) for file in files]
    return [_make(part, clips, folder, say) for part in PARTS if part in parts]


def _make(part: str, clips: Sequence[PracticeClip], folder: Path, say: Say) -> Path:
    path = folder / f"{part}.safetensors"
    lessons: dict[str, Callable[[], TableEyes]] = {
        "eyes": lambda: _sharp(clips, say),
        "blurred": lambda: teach_eyes(clips[:FEW], BLURRED, LessonPlan(seed=1), say),
    }
    if part in lessons:
        save_network(lessons[part](), path)
        return path
    few = part == "clone_few"
    shown = [clip for clip in clips[: FEW if few else None] if all(clip.criteria)]
    plan = LessonPlan(700 if few else 1300, seed=2)
    save_network(teach_clone(shown, open_eyes(folder, "eyes"), plan, say), path)
    return path


def _sharp(clips: Sequence[PracticeClip], say: Say) -> TableEyes:
    """Two courses, the second slower."""
    first = teach_eyes(clips, TableEyesConfig(), LessonPlan(2000), say)
    return teach_eyes(clips, first.config, LessonPlan(1500, rate=1.5e-3, seed=3), say, first)
