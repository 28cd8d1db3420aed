"""Adapts a vision-language model on a data folder, and leaves a judge that can be used and handed
in at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.suites import suite_named
from evaluators.suites.universe.construction import split
from evaluators.suites.universe.mixture import ALPHA, BETA, build
from evaluators.suites.universe.segments import BadData, problems, read_annotations
from submissions.bundle.declarations import DECLARATION

if TYPE_CHECKING:
    from evaluators.models.adapt.train import TrainingPlan, TrainingStep

SHOWN = 10
BASE = "Name a PaliGemma folder as save_pretrained wrote it."


@dataclass(frozen=True, slots=True)
class AdaptationRequest:
    """What is to be adapted, on what, and where the result goes."""

    base: Path | None
    data: Path
    to: Path
    frames: str
    held_out: float
    team: str
    name: str


@dataclass(frozen=True, slots=True)
class AdaptationResult:
    """What came of it; accuracy is on clips of sessions that were held out, None if none were."""

    folder: Path
    parameters: int
    of_parameters: int
    losses: tuple[float, ...]
    held_out: dict[str, float]


class CannotAdapt(ValueError):
    """The base or the data cannot be used; the message says what to do."""


def adapt(
    wish: AdaptationRequest,
    plan: TrainingPlan,
    device: str,
    on_step: Callable[[TrainingStep], None] | None = None,
) -> AdaptationResult:
    """Train, save the adapter with its card and declaration, and examine it on held-out
    sessions."""
    from evaluators.models.adapt import train as models
    from evaluators.models.adapt.batches import Teacher
    from evaluators.models.adapt.checkpoint import AnotherRun, drop_checkpoint
    from evaluators.models.adapt.exam import exam
    from evaluators.models.adapt.folder import base_of, save_adapted
    from evaluators.models.device import pick_device
    from evaluators.models.vlm.adapter import PACKAGED, packaged_base
    from evaluators.models.vlm.judge import read_folder

    count, policy = read_frame_rule(wish.frames)
    base = _model(wish.base or packaged_base())
    training, held = split(_annotations(wish.data), wish.held_out, plan.seed)
    lessons = build(wish.data, training, ALPHA, BETA, count, policy, seed=plan.seed)
    try:
        model, processor = read_folder(base, pick_device(device), "fp32")
    except (OSError, ValueError) as error:
        words = " ".join(str(error).split())[:200]
        raise CannotAdapt(f"The base {base} cannot be opened: {words}. {BASE}") from None
    try:
        adapted = models.adapt(model, processor, lessons, plan, wish.to, on_step)
    except AnotherRun as error:
        raise CannotAdapt(str(error)) from None
    stands_on = base_of(base, "" if wish.base else PACKAGED)
    save_adapted(wish.to, adapted, stands_on, plan, wish.frames)
    drop_checkpoint(wish.to)
    _declare(wish, plan)
    teacher = Teacher(adapted.model, processor, plan.mask)
    accuracies = _accuracy(lambda part: exam(teacher, part), wish.data, held, count, policy)
    return AdaptationResult(
        wish.to, adapted.parameters, adapted.of_parameters, adapted.losses, accuracies
    )


def _annotations(data: Path) -> Sequence[Any]:
    """The annotations of a folder that has nothing wrong with it."""
    wrong = list(problems(data))
    if wrong:
        remainder = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        raise BadData(f"The data in {data} cannot be used: {' '.join(wrong[:SHOWN])}{remainder}")
    return read_annotations(data)


def read_frame_rule(rule: str) -> tuple[int, Any]:
    """How many frames, and which: from uniform-n or first-n."""
    how, _, number = rule.partition("-")
    if how not in ("uniform", "first") or not number.isdigit() or not 1 <= int(number) <= 14:
        raise CannotAdapt(
            f"The frame rule is {rule!r}. Write uniform-n or first-n with n from 1 to 14."
        )
    return int(number), "uniform_n" if how == "uniform" else "first_n"


def _model(folder: Path) -> Path:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except FileNotFoundError:
        raise CannotAdapt(f"The base {folder} holds no config.json. {BASE}") from None
    except ValueError:
        raise CannotAdapt(f"The config.json of the base {folder} is not JSON. {BASE}") from None
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "paligemma":
        raise CannotAdapt(f"The base {folder} is of type {kind!r}. {BASE}")
    return folder


def _accuracy(
    examine: Callable[[Sequence[Any]], list[list[bool]]],
    data: Path,
    held: Sequence[Any],
    count: int,
    policy: Any,
) -> dict[str, float]:
    """Exact match of each task and format on the held-out clips, from all their questions."""
    from evaluators.models.adapt.batches import Lesson
    from evaluators.suites.universe.mixture import windows
    from evaluators.suites.universe.segments import read_segment

    frame_numbers = list(windows(count, policy)[0])
    lessons = [
        Lesson(
            read_segment(data, annotation.filename).frames[frame_numbers],
            tuple((p.question, p.answer) for p in annotation.pairs),
        )
        for annotation in held
    ]
    cells: dict[str, list[bool]] = {}
    for annotation, right in zip(held, examine(lessons), strict=True):
        for pair, good in zip(annotation.pairs, right, strict=True):
            cells.setdefault(f"{pair.task}, {pair.format}", []).append(good)
    return {name: 100 * sum(right) / len(right) for name, right in cells.items()}


def _recipe(wish: AdaptationRequest, plan: TrainingPlan) -> str:
    """All that runs of one recipe share, in words: everything but the seed."""
    stands_on = wish.base.resolve().name if wish.base else "packaged base"
    told = {name: value for name, value in asdict(plan).items() if name != "seed"}
    settings = ", ".join(f"{name} {value}" for name, value in sorted(told.items()))
    return f"Recipe: {stands_on}, frames {wish.frames}, {settings}."


def _declare(wish: AdaptationRequest, plan: TrainingPlan) -> None:
    """What `armillary submit --model DIR` reads; the team may correct it before."""
    suite = suite_named("universe")
    declaration = {
        "schema_version": 1,
        "suite": suite.name,
        "suite_version": suite.version,
        "subset": "full",
        "kind": "model",
        "modalities": ["text"],
        "team": wish.team,
        "contact": "unknown",
        "model": {
            "name": f"{wish.name}, seed {plan.seed}",
            "revision": f"seed {plan.seed}",
            "organisation": wish.team,
            "licence": "unknown",
            "open_weights": False,
        },
        "disclosure": {
            "trained_on_suite_data": "unknown",
            "statement": (
                f"Adapted with armillary universe adapt, {plan.strategy}, {plan.steps} steps."
            ),
        },
        "sampling": {"seed": plan.seed, "note": _recipe(wish, plan)},
    }
    (wish.to / DECLARATION).write_text(json.dumps(declaration, indent=1), "utf-8")
