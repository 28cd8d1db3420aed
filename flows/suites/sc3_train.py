"""Training for SC3 from the command line: a video world model, the policies, and their trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from submissions.format.suggestions import no_such

MODES = ("cross_view", "inverse")
EXAMPLE = '{"depth": 6, "hidden": 192}'


class CannotTrain(ValueError):
    """What is asked for cannot be trained; the message says why."""


@dataclass(frozen=True, slots=True)
class WorldTrainingPlan:
    """From which kit and where to, how large, how long, which modes are left out."""

    kit: Path
    to: Path
    config: Path | None
    steps: int
    batch: int
    without: tuple[str, ...]
    seed: int


def train_here(plan: WorldTrainingPlan, on_step: Callable[[int, float], None]) -> None:
    """Train a video world model on a kit's practice, or go on training."""
    from evaluators.models.video_world.config import VideoPlan, VideoWorldConfig
    from evaluators.models.video_world.lessons import Recording
    from evaluators.models.video_world.training import train_world
    from evaluators.suites.sc3.kit import KIT, PRACTICE
    from evaluators.worlds.lerobot.layout import BadDataset
    from evaluators.worlds.lerobot.reading import open_dataset

    sizes = _read(plan.config)
    _check_names(sizes, VideoWorldConfig)
    try:
        card = json.loads((plan.kit / KIT).read_text("utf-8"))
        recordings = [
            Recording(np.stack(list(episode.cameras.values())), episode.actions)
            for episode in open_dataset(plan.kit / PRACTICE)
        ]
        (height, width), views = card["size"], tuple(card["views"])
    except (OSError, ValueError, KeyError, TypeError, BadDataset) as error:
        raise CannotTrain(
            f"{plan.kit} is no kit with practice: kit.json and practice/ cannot be read as one. "
            "Write one: armillary sc3 kit FOLDER --size 64"
        ) from error
    known = {"views": views, "height": height, "width": width, "rate": card["rate"]}
    modes = tuple(mode for mode in VideoWorldConfig().modes if mode not in plan.without)
    try:
        config = VideoWorldConfig(**{**known, "modes": modes, **_tuples(sizes)}).checked()
        length = VideoPlan(steps=plan.steps, batch=plan.batch, seed=plan.seed)
        train_world(recordings, config, length, plan.to, on_step)
    except (TypeError, ValueError) as error:
        raise CannotTrain(f"{plan.config or plan.kit} does not fit: {error}") from None


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise CannotTrain(f"{path} cannot be read as JSON. Write {EXAMPLE}.") from None
    if not isinstance(config, dict):
        raise CannotTrain(f"{path} must hold an object like {EXAMPLE}.")
    return config


def _check_names(sizes: dict[str, Any], config: type[Any]) -> None:
    """Refuse a size that does not exist."""
    names = [field.name for field in fields(config)]
    for name in sizes:
        if name not in names:
            raise CannotTrain(
                no_such(
                    "size", name, names, f"Correct it, as in {EXAMPLE}.", within="a video world"
                )
            )


def _tuples(sizes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in sizes.items()
    }


class CannotTeach(ValueError):
    """The policies cannot be trained here; the message says why."""


def teach_policies(
    to: Path, practice: Path, parts: Sequence[str], say: Callable[[str], None]
) -> list[Path]:
    """The networks that were asked for, in their folder."""
    from evaluators.models.robots.roster import PARTS, NoSuchPart, train_policies
    from evaluators.worlds.tabletop.engine import NoSimulator

    try:
        return train_policies(to, practice, parts or PARTS, say)
    except (NoSimulator, NoSuchPart) as error:
        raise CannotTeach(str(error)) from error
    except FileNotFoundError as error:
        raise CannotTeach(
            f"{error.filename} is missing: cloned policies begin with the eyes of the same folder. "
            "Train the eyes first: --part eyes."
        ) from error


def try_policies(to: Path, starts: int, secret: str, say: Callable[[str], None]) -> str:
    """Every policy from so many starts on the table; what comes back are rates and agreement, never
    a start."""
    from evaluators.suites.sc3.table.controls import show
    from evaluators.suites.sc3.table.studio import record_trials
    from evaluators.worlds.tabletop.engine import NoSimulator

    try:
        return show(record_trials(to, starts, secret, say))
    except NoSimulator as error:
        raise CannotTeach(str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CannotTeach(
            f"{to} holds something else than trials of the table. Name a new folder."
        ) from error


def shipped_controls() -> str:
    """The control rows of the shipped trials, which cost no simulation."""
    from evaluators.suites.sc3.table.controls import show
    from evaluators.suites.sc3.table.trials import read_trials

    return show(read_trials())
