"""Adapts a vision-language model on a data folder, and leaves a judge that can be used and handed
in at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.media import frame_indices
from evaluators.suites import suite_named
from evaluators.suites.universe.construction import split
from evaluators.suites.universe.mixture import (
    A_PAIR,
    ALPHA,
    BETA,
    Dataset,
    build,
    in_board_words,
)
from evaluators.suites.universe.segments import (
    BadData,
    answer_space,
    problems,
    read_annotations,
)
from flows.suites.judges.bases import CannotAdapt, KnownBase, find_base, put_on_shelf
from flows.suites.judges.exam import ExamPaper, sit_exam
from submissions.bundle.declarations import DECLARATION

if TYPE_CHECKING:
    from evaluators.models.adapt.processes import Processes
    from evaluators.models.adapt.train import Adapted, TrainingPlan, TrainingStep

SHOWN = 10
MOST_FRAMES = 14


@dataclass(frozen=True, slots=True)
class LessonMixture:
    """What is asked: shares of tasks and formats, and questions a clip; the paper's unless told. So
    many lessons are in the words in which the board of worlds asks its judge."""

    tasks: Mapping[str, float] = field(default_factory=lambda: dict(ALPHA))
    formats: Mapping[str, float] = field(default_factory=lambda: dict(BETA))
    questions: int = 1
    pairs: bool = False
    board_words: float = 0.0

    @classmethod
    def read(
        cls,
        tasks: str,
        formats: str,
        questions: int,
        pairs: bool = False,
        board_words: float = 0.0,
    ) -> LessonMixture:
        """From shares separated by commas, in the order of the tasks and of the formats."""
        if pairs and questions not in (1, A_PAIR):
            raise CannotAdapt(
                f"--pairs asks {A_PAIR} questions a clip, --questions {questions}. Leave one away."
            )
        shares = [[float(share) for share in text.split(",")] for text in (tasks, formats)]
        return cls(
            dict(zip(ALPHA, shares[0], strict=True)),
            dict(zip(BETA, shares[1], strict=True)),
            A_PAIR if pairs else questions,
            pairs,
            board_words,
        )


@dataclass(frozen=True, slots=True)
class AdaptationRequest:
    """What is to be adapted, on what, and where the result goes; with epochs, the steps follow from
    the clips."""

    base: Path | None
    data: Path
    to: Path
    frames: str
    held_out: float
    team: str
    name: str
    base_id: str = ""
    shelf: Path | None = None
    epochs: float | None = None
    mixture: LessonMixture = field(default_factory=LessonMixture)


@dataclass(frozen=True, slots=True)
class AdaptationResult:
    """What came of it; accuracy is on clips of sessions that were held out, none if none were."""

    folder: Path
    parameters: int
    of_parameters: int
    losses: tuple[float, ...]
    held_out: dict[str, float]
    base: KnownBase


def adapt(
    wish: AdaptationRequest,
    plan: TrainingPlan,
    device: str,
    on_step: Callable[[TrainingStep], None] | None = None,
) -> AdaptationResult:
    """Train, save the adapter with its card and declaration, and examine it on held-out
    sessions.

    Started by `accelerate launch` or `torchrun`, the processes share the work; the first one
    writes. The checkpoint stays until the exam is over.
    """
    from evaluators.models.adapt.checkpoint import drop_checkpoint
    from evaluators.models.adapt.processes import joined
    from evaluators.models.device import pick_device

    _frames_wanted(wish.frames)
    known = find_base(wish.base, wish.base_id, wish.shelf)
    with joined(pick_device(device)) as processes:
        place = processes.device(pick_device(device))
        training, held = split(_annotations(wish.data, processes), wish.held_out, plan.seed)
        adapted, plan = _trained(wish, plan, known, training, processes, place, on_step)
        _save(wish, plan, known, adapted, processes)
        numbers = adapted.parameters, adapted.of_parameters, adapted.losses
        del adapted
        paper = ExamPaper(wish.data, tuple(held), wish.frames)
        cells = sit_exam(wish.to, known.folder, paper, place, processes)
        if processes.is_main:
            drop_checkpoint(wish.to)
        processes.wait()
    return AdaptationResult(wish.to, *numbers, cells, known)


def lessons_of(wish: AdaptationRequest, training: Sequence[Any], seed: int) -> Dataset:
    """What is learned from: the mixture over the training clips."""
    count, policy = read_frame_rule(wish.frames)
    mixture = wish.mixture
    try:
        lessons = build(
            wish.data,
            training,
            mixture.tasks,
            mixture.formats,
            count,
            policy,
            seed=seed,
            questions=mixture.questions,
            pairs=mixture.pairs,
        )
    except ValueError as error:
        raise CannotAdapt(str(error)) from None
    space = answer_space(wish.data, training)
    return in_board_words(lessons, mixture.board_words, space, seed)


def read_frame_rule(rule: str) -> tuple[int, Any]:
    """How many frames, and which: from uniform-n or first-n."""
    _frames_wanted(rule)
    how, _, number = rule.partition("-")
    return int(number), "uniform_n" if how == "uniform" else "first_n"


def _frames_wanted(rule: str) -> None:
    number = rule.partition("-")[2]
    try:
        frame_indices(rule, MOST_FRAMES)
        fits = int(number) <= MOST_FRAMES
    except ValueError:
        fits = False
    if not fits:
        raise CannotAdapt(
            f"The frame rule is {rule!r}. Write uniform-n or first-n with n from 1 to "
            f"{MOST_FRAMES}."
        )


def _trained(
    wish: AdaptationRequest,
    plan: TrainingPlan,
    known: KnownBase,
    training: Sequence[Any],
    processes: Processes,
    device: str,
    on_step: Callable[[TrainingStep], None] | None,
) -> tuple[Adapted, TrainingPlan]:
    from evaluators.models.adapt import train
    from evaluators.models.adapt.checkpoint import AnotherRun
    from evaluators.models.vlm.judge import read_folder

    lessons = lessons_of(wish, training, plan.seed)
    if wish.epochs is not None:
        steps = train.steps_of(wish.epochs, len(lessons), plan, processes.count)
        plan = replace(plan, steps=steps)
    identity = train.RunIdentity(lessons.fingerprint, f"{known.base.name}@{known.base.revision}")
    try:
        # What is trained is kept in full precision; sharded weights are cast when they are used.
        dtype = "fp32" if plan.sharded else plan.precision
        # A sharded model is laid out from main memory, for it fits on no single card.
        place = "cpu" if plan.sharded else device
        model, processor = read_folder(known.folder, place, dtype)
    except (OSError, ValueError) as error:
        words = " ".join(str(error).split())[:200]
        raise CannotAdapt(f"The base {known.folder} cannot be opened: {words}.") from None
    try:
        adapted = train.adapt(
            model, processor, lessons, plan, wish.to, on_step, processes, identity, device
        )
    except (AnotherRun, train.CannotShard) as error:
        raise CannotAdapt(str(error)) from None
    return adapted, plan


def _annotations(data: Path, processes: Processes) -> Sequence[Any]:
    """The annotations of a folder that has nothing wrong with it; each process reads its share of
    the clips."""
    parts = processes.gather(list(problems(data, processes.rank, processes.count)))
    wrong = list(dict.fromkeys(problem for part in parts for problem in part))
    if wrong:
        remainder = f" (and {len(wrong) - SHOWN} more)" if len(wrong) > SHOWN else ""
        raise BadData(f"The data in {data} cannot be used: {' '.join(wrong[:SHOWN])}{remainder}")
    return read_annotations(data)


def _save(
    wish: AdaptationRequest,
    plan: TrainingPlan,
    known: KnownBase,
    adapted: Adapted,
    processes: Processes,
) -> None:
    from evaluators.models.adapt.folder import save_adapted

    save_adapted(wish.to, adapted, known.base, plan, wish.frames, processes)
    if processes.is_main:
        _declare(wish, plan, known)
        put_on_shelf(known, wish.shelf)
    processes.wait()


def _recipe(wish: AdaptationRequest, plan: TrainingPlan, known: KnownBase) -> str:
    """All that runs of one recipe share, in words: everything but the seed."""
    stands_on = known.base.name if wish.base or wish.base_id else "packaged base"
    told = {name: value for name, value in asdict(plan).items() if name != "seed"}
    settings = ", ".join(f"{name} {value}" for name, value in sorted(told.items()))
    shares = ", ".join(
        f"{name} {share:g}"
        for name, share in {**wish.mixture.tasks, **wish.mixture.formats}.items()
    )
    board = wish.mixture.board_words
    words = f", {board:g} of them in the words of the board of worlds" if board else ""
    return (
        f"Recipe: {stands_on}, frames {wish.frames}, {settings}, {shares}, "
        f"{wish.mixture.questions} questions a clip{' in pairs' if wish.mixture.pairs else ''}"
        f"{words}."
    )


def _declare(wish: AdaptationRequest, plan: TrainingPlan, known: KnownBase) -> None:
    """What `armillary submit --model DIR` reads; the team may correct it before."""
    suite = suite_named("universe")
    base = {"id": known.base.name, "revision": known.base.revision}
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
            **({"base": base} if known.declared else {}),
        },
        "disclosure": {
            "trained_on_suite_data": "unknown",
            "statement": (
                f"Adapted with armillary universe adapt, {plan.strategy}, {plan.steps} steps."
            ),
        },
        "sampling": {"seed": plan.seed, "note": _recipe(wish, plan, known)},
    }
    (wish.to / DECLARATION).write_text(json.dumps(declaration, indent=1), "utf-8")
