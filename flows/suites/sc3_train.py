"""Training for SC3 from the command line: a dynamics model, the policies, and their trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from submissions.format.suggestions import no_such

MODES = ("cross_view", "inverse")
EXAMPLE = '{"dynamics": {"width": 96}, "eyes": {"height": 24}}'


class CannotTrain(ValueError):
    """What is asked for cannot be trained; the message says why."""


@dataclass(frozen=True, slots=True)
class DynamicsTrainingPlan:
    """Where to, how large, how long, and which modes are left out."""

    to: Path
    config: Path | None
    steps: int
    sight_steps: int
    batch: int
    rate: float
    episodes: int
    without: tuple[str, ...]
    seed: int


def train_here(
    plan: DynamicsTrainingPlan, on_step: Callable[[str, int, float], None]
) -> float | None:
    """Train, or go on training; the tau that was chosen, None if it never stops."""
    from evaluators.models.dynamics.course import DynamicsCourse, make
    from evaluators.models.dynamics.flow_matching import SHARES
    from evaluators.models.dynamics.model import DynamicsConfig
    from evaluators.models.dynamics.tokeniser import EyesConfig
    from evaluators.models.dynamics.tokeniser_training import SightPlan
    from evaluators.models.dynamics.training import DynamicsPlan
    from evaluators.suites.sc3.producing import open_folder
    from evaluators.suites.sc3.rollouts.tuning import choose_tau

    sizes_by_part = _read(plan.config)
    _check_names(sizes_by_part, {"eyes": EyesConfig, "dynamics": DynamicsConfig})
    if unknown := set(plan.without) - set(MODES):
        raise CannotTrain(
            f"--without {sorted(unknown)[0]} is no mode that can be left out. Known: "
            f"{', '.join(MODES)}."
        )
    shares = {mode: share for mode, share in SHARES.items() if mode not in plan.without}
    try:
        course = DynamicsCourse(
            sight=SightPlan(
                min(SightPlan().episodes, plan.episodes), plan.sight_steps, seed=plan.seed
            ),
            training=DynamicsPlan(
                steps=plan.steps,
                batch=plan.batch,
                rate=plan.rate,
                seed=plan.seed,
                shares=shares,
                warm_up=min(DynamicsPlan().warm_up, plan.steps // 10),
            ),
            episodes=plan.episodes,
            eyes=EyesConfig(**sizes_by_part.get("eyes", {})),
            dynamics=DynamicsConfig(**_tuples(sizes_by_part.get("dynamics", {}))).checked(),
        )
    except (TypeError, ValueError) as error:
        raise CannotTrain(f"{plan.config} does not fit: {error}") from None
    return make(
        plan.to, course, on_step, lambda folder: choose_tau(*open_folder(folder, folder.name))
    ).tau


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise CannotTrain(f"{path} cannot be read as JSON. Write {EXAMPLE}.") from None
    if not isinstance(config, dict) or not all(isinstance(part, dict) for part in config.values()):
        raise CannotTrain(f"{path} must hold an object like {EXAMPLE}.")
    return config


def _check_names(sizes_by_part: dict[str, dict[str, Any]], parts: dict[str, type[Any]]) -> None:
    """Refuse a part, or a size in a part, that does not exist."""
    for part, sizes in sizes_by_part.items():
        if part not in parts:
            raise CannotTrain(no_such("part", part, parts, within="a dynamics model"))
        names = [field.name for field in fields(parts[part])]
        for name in sizes:
            if name not in names:
                raise CannotTrain(
                    no_such("size", name, names, f"Correct it, as in {EXAMPLE}.", within=part)
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
    from evaluators.suites.sc3.table.trials import record_trials
    from evaluators.worlds.tabletop.engine import NoSimulator

    try:
        return show(record_trials(to, starts, secret, say))
    except NoSimulator as error:
        raise CannotTeach(str(error)) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CannotTeach(
            f"{to} holds something else than trials of the table. Name a new file."
        ) from error


def shipped_controls() -> str:
    """The control rows of the shipped trials, which cost no simulation."""
    from evaluators.suites.sc3.table.controls import show
    from evaluators.suites.sc3.table.trials import read_trials

    return show(read_trials())
