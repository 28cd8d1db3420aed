"""One adaptation of the packaged model on recorded play, and what came of it: what the tables of
`tests/bench/universe.py` are made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import Policy, choose_frames
from evaluators.models.adapt.batches import Lesson, Mask, Teacher
from evaluators.models.adapt.exam import exam
from evaluators.models.adapt.strategies import Strategy
from evaluators.models.adapt.train import TrainingPlan, TrainingStep, adapt
from evaluators.models.vlm.adapter import packaged_base
from evaluators.models.vlm.judge import read_folder
from evaluators.suites.universe.bank import FILE, SPACE, read_rows
from evaluators.suites.universe.bank_making import labelled
from evaluators.suites.universe.course.reader import shrunk
from evaluators.suites.universe.questions import FORMATS, TASKS, QuestionAnswer, pairs
from evaluators.worlds.doom.engine import running
from evaluators.worlds.doom.places import HOME, PLACES
from evaluators.worlds.doom.sessions import SessionOrder

Cells = Mapping[str, float]
SHORT = {"action_recognition": "actions", "character_recognition": "characters"}
CELLS = tuple(f"{SHORT[task]}, {form}" for task in TASKS for form in FORMATS)
RATES: dict[Strategy, float] = {"projector": 5e-3, "lora": 2e-3, "full": 1e-3, "upper": 2e-3}
ACTION_SHARE = 0.6
MIXTURES = {
    "ours": (ACTION_SHARE, {"binary": 0.2, "multiple_choice": 0.15, "open_ended": 0.45}),
    "paper": (0.8, {"binary": 0.075, "multiple_choice": 0.05, "open_ended": 0.8}),
    "even": (0.5, {"binary": 1 / 6, "multiple_choice": 1 / 3, "open_ended": 1 / 3}),
}
"""The share of actions, and the weight of one question of each format."""
HELD_SESSION = 80_000
"""Sessions from here on are held out."""


@dataclass(frozen=True, slots=True)
class Clips:
    """Labelled clips at the size the small model takes: clip, frame, height, width, RGB."""

    frames: Pixels
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    train: int = 1200
    held: int = 240
    steps: int = 200
    batch: int = 16
    questions: int = 2
    frames: int = 8
    seeds: tuple[int, ...] = (0, 1, 2)

    def steps_of(self, epochs: float) -> int:
        """The steps that show every training clip so many times."""
        return max(1, round(epochs * self.train / self.batch))


QUICK = Size(train=120, held=60, steps=40, seeds=(0,))


@dataclass(frozen=True)
class Bench:
    """The clips of the target environment: those to adapt on and those held out."""

    size: Size
    train: Clips
    held: Clips

    def lessons(self, job: Job) -> list[Lesson]:
        """A lesson a training clip, its questions drawn by seed."""
        rng = np.random.default_rng([job.seed, 18])
        return [
            Lesson(_seen(self.train.frames[i], job.frames, job.policy), self._drawn(i, job, rng))
            for i in range(len(self.train.labels))
        ]

    def examine(self, model: Any, processor: Any, job: Job, held: Clips | None = None) -> Cells:
        """Exact match of every cell on held-out clips, all eight questions each."""
        held = held or self.held
        asked = [pairs(*labels, SPACE, number) for number, labels in enumerate(held.labels)]
        lessons = [
            Lesson(
                _seen(clip, job.frames, job.policy), tuple((p.question, p.answer) for p in eight)
            )
            for clip, eight in zip(held.frames, asked, strict=True)
        ]
        found: dict[str, list[bool]] = {name: [] for name in CELLS}
        for eight, right in zip(
            asked, exam(Teacher(model, processor, job.mask), lessons), strict=True
        ):
            for pair, good in zip(eight, right, strict=True):
                found[f"{SHORT[pair.task]}, {pair.format}"].append(good)
        return {name: 100 * mean(right) for name, right in found.items()}

    def _drawn(
        self, number: int, job: Job, rng: np.random.Generator
    ) -> tuple[tuple[str, str], ...]:
        eight = pairs(*self.train.labels[number], SPACE, int(rng.integers(2**31)))
        weights = np.array([_weight(pair, job.mixture) for pair in eight])
        chosen = rng.choice(
            len(eight),
            job.questions or self.size.questions,
            replace=False,
            p=weights / weights.sum(),
        )
        return tuple((eight[i].question, eight[i].answer) for i in chosen)


@dataclass(frozen=True, slots=True)
class Job:
    """One adaptation of the packaged model: how, on what frames, for how long, and when to look on
    the way."""

    strategy: Strategy
    seed: int = 0
    frames: int = 8
    policy: Policy = "uniform_n"
    mask: Mask = "own"
    steps: int = 0
    look: tuple[int, ...] = ()
    rank: int = 8
    mixture: str = "ours"
    questions: int = 0
    """A clip; 0 is as many as the size says."""
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it: its cells, what it cost in CPU seconds, and cells on the way where they were
    asked for."""

    cells: Cells
    parameters: int
    training: float
    examining: float
    looks: Mapping[int, Cells]
    """By the clips seen until then."""
    elsewhere: Mapping[str, Cells]


def run(bench: Bench, job: Job) -> Ran:
    """Adapt the packaged model once and examine it."""
    model, processor = read_folder(packaged_base(), "cpu", "fp32")
    plan = TrainingPlan(
        strategy=job.strategy,
        steps=job.steps,
        batch=bench.size.batch,
        accumulate=1,
        rate=RATES.get(job.strategy, 0.0),
        rank=job.rank,
        mask=job.mask,
        seed=job.seed,
        every=10**9,
    )
    on_the_way: dict[int, Cells] = {}
    looking: list[float] = []

    def examine(model: Any) -> Cells:
        return bench.examine(model, processor, job)

    def told(step: TrainingStep) -> None:
        if step.number in job.look:
            model.eval()
            cells, seconds = _cpu(lambda: examine(model))
            on_the_way[step.number * bench.size.batch] = cells
            looking.append(seconds)
            model.train()

    lessons = bench.lessons(job)
    made, training = _cpu(lambda: adapt(model, processor, lessons, plan, report=told))
    cells, examining = _cpu(lambda: examine(made.model))
    names = [place.name for place in PLACES[1:]] if job.elsewhere else []
    elsewhere = {
        name: bench.examine(made.model, processor, job, bank_clips(name)) for name in names
    }
    # What the looks on the way took is no part of training.
    learning = training - sum(looking)
    return Ran(cells, made.parameters, learning, examining, on_the_way, elsewhere)


def make(size: Size, keep: Path | None = None) -> Bench:
    """Record the clips; those held out are of other sessions. With a file, they are kept there and
    read from it the next time."""
    if keep is not None and keep.is_file():
        return _read(size, keep)
    with running() as engine:
        train = _recorded(engine.record, size.train, 0)
        held = _recorded(engine.record, size.held, HELD_SESSION)
    if keep is not None:
        keep.parent.mkdir(parents=True, exist_ok=True)
        np.savez(
            keep,
            train=train.frames,
            held=held.frames,
            train_labels=np.array(train.labels),
            held_labels=np.array(held.labels),
        )
    return Bench(size, train, held)


def _read(size: Size, file: Path) -> Bench:
    with np.load(file, allow_pickle=False) as arrays:
        train, held = (
            Clips(arrays[name], tuple((str(a), str(c)) for a, c in arrays[f"{name}_labels"]))
            for name in ("train", "held")
        )
    return Bench(size, train, held)


def bank_clips(environment: str) -> Clips:
    """The open bank's clips of an environment."""
    rows = [row for row in read_rows(FILE) if row.clip.environment == environment]
    frames = np.stack([shrunk(row.clip.frames()) for row in rows])
    return Clips(frames, tuple((row.action, row.character) for row in rows))


def _recorded(record: Any, number: int, first: int) -> Clips:
    frames: list[Pixels] = []
    labels: list[tuple[str, str]] = []
    for seed in range(first, first + 10 * number):
        session = record(SessionOrder(HOME, seed))
        for row in labelled(session):
            frames.append(shrunk(session.clip(row.clip.take)))
            labels.append((row.action, row.character))
        if len(frames) >= number:
            return Clips(np.stack(frames[:number]), tuple(labels[:number]))
    raise ValueError(f"{HOME} gave {len(frames)} clips of {number}.")


def _seen(clip: Pixels, frames: int, policy: Policy) -> Pixels:
    return clip[list(choose_frames(len(clip), frames, policy))]


def _weight(pair: QuestionAnswer, mixture: str) -> float:
    actions, formats = MIXTURES[mixture]
    share = actions if pair.task == "action_recognition" else 1 - actions
    return share * formats[pair.format]


def _cpu(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    made = work()
    return made, time.process_time() - start
