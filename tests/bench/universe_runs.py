"""One adaptation of the packaged model on recorded play, and what came of it: what the tables of
`tests/bench/universe.py` are made of."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch

from evaluators.media import Pixels
from evaluators.metrics.sampling import Policy, choose_frames
from evaluators.models.adapt.batches import Judged, Lesson, Mask, Teacher
from evaluators.models.adapt.exam import exam
from evaluators.models.adapt.strategies import Strategy
from evaluators.models.adapt.train import TrainingPlan, TrainingStep, adapt
from evaluators.models.vlm.adapter import packaged_base
from evaluators.models.vlm.judge import read_folder, revision
from evaluators.suites.universe.bank import SPACE
from evaluators.suites.universe.mixture import board_words, both_and_one
from evaluators.suites.universe.questions import (
    DESCRIPTION,
    FORMATS,
    TASKS,
    QuestionAnswer,
    pairs,
)
from evaluators.worlds.doom.places import PLACES
from tests.bench.universe_clips import EXAMINING, TRAINING, Clips, bank_clips, home_clips

Cells = Mapping[str, float]
SHORT = {"action_recognition": "actions", "character_recognition": "characters"}
CELLS = tuple(f"{SHORT[task]}, {form}" for task in TASKS for form in FORMATS)
RATES: dict[Strategy, float] = {"projector": 5e-3, "lora": 2e-3, "full": 1e-3, "upper": 2e-3}
ACTION_SHARE, PAIRS = 0.6, "pairs"
MIXTURES = {
    "ours": (ACTION_SHARE, {"binary": 0.2, "multiple_choice": 0.15, "open_ended": 0.45}),
    "paper": (0.8, {"binary": 0.075, "multiple_choice": 0.05, "open_ended": 0.8}),
    "drawn": (0.8, {"binary": 1 / 3, "multiple_choice": 1 / 9, "open_ended": 2 / 9}),
    "pairs": (0.8, {"binary": 1 / 3, "multiple_choice": 1 / 9, "open_ended": 2 / 9}),
}
"""The share of actions, and the weight of one question of each format; `pairs` asks of one task
both yes/no questions and one that has to name the label, the others draw one by one."""


BATCH = 24 << 20
"""Bytes of a batch of the exam: what stays in a core's cache is read three times as fast."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything; clips are held out from this session on."""

    train: int = 1200
    held: int = 240
    steps: int = 300
    batch: int = 8
    questions: int = 8
    frames: int = 8
    seeds: tuple[int, ...] = (0, 1, 2)
    looked: int = 120
    """Held-out clips of a look on the way."""
    held_from: int = EXAMINING

    def steps_of(self, epochs: float) -> int:
        """The steps that show every training clip so many times."""
        return max(1, round(epochs * self.train / self.batch))


QUICK = Size(train=120, held=64, steps=40, seeds=(0,))


@dataclass(frozen=True)
class Bench:
    """The clips of the target environment, those to adapt on and those held out, and the folder
    where others and finished runs are kept."""

    size: Size
    train: Clips
    held: Clips
    folder: Path | None = None

    def lessons(self, job: Job) -> list[Lesson]:
        """A lesson a training clip, its questions drawn by seed; those of each epoch are drawn
        anew."""
        rng = np.random.default_rng([job.seed, 18])
        clips = [_seen(clip, job.frames, job.policy) for clip in self.train.frames]
        epochs = max(1, ceil(job.steps * self.size.batch / len(clips)))
        return [
            _worded(clip, self._drawn(number, job, rng), job.in_board_words)
            for _ in range(epochs)
            for number, clip in enumerate(clips)
        ]

    def examine(self, model: Any, processor: Any, job: Job, held: Clips) -> Cells:
        """Exact match of every cell on held-out clips, all eight questions each."""
        asked = [pairs(*labels, SPACE, number) for number, labels in enumerate(held.labels)]
        lessons = [
            Lesson(
                _seen(clip, job.frames, job.policy), tuple((p.question, p.answer) for p in eight)
            )
            for clip, eight in zip(held.frames, asked, strict=True)
        ]
        found: dict[str, list[bool]] = {name: [] for name in CELLS}
        with torch.autocast("cpu", torch.bfloat16):
            answered = exam(Teacher(model, processor, job.mask), lessons, BATCH)
        for eight, right in zip(asked, answered, strict=True):
            for pair, good in zip(eight, right, strict=True):
                found[f"{SHORT[pair.task]}, {pair.format}"].append(good)
        return {name: 100 * mean(right) for name, right in found.items()}

    def _drawn(self, number: int, job: Job, rng: np.random.Generator) -> tuple[QuestionAnswer, ...]:
        eight = pairs(*self.train.labels[number], SPACE, int(rng.integers(2**31)))
        if job.mixture == PAIRS:
            share, formats = MIXTURES[PAIRS]
            alpha: dict[str, float] = dict(zip(TASKS, (share, 1 - share), strict=True))
            return both_and_one(eight, alpha, formats, rng)
        weights = np.array([_weight(pair, job.mixture) for pair in eight])
        chosen = rng.choice(
            len(eight),
            job.questions or self.size.questions,
            replace=False,
            p=weights / weights.sum(),
        )
        return tuple(eight[i] for i in chosen)


@dataclass(frozen=True, slots=True)
class Job:
    """One adaptation of the packaged model: how, on what frames, for how long, and when to look on
    the way."""

    strategy: Strategy
    seed: int = 0
    frames: int = 8
    policy: Policy = "uniform_n"
    mask: Mask = "image_first"
    steps: int = 0
    look: tuple[int, ...] = ()
    rank: int = 8
    mixture: str = "ours"
    questions: int = 0
    """A clip; 0 is as many as the size says."""
    rate: float = 0.0
    """0 is the rate of the strategy."""
    elsewhere: bool = False
    in_board_words: bool = False
    """Whether lessons are asked as the board of worlds asks its judge."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it: its cells, what it cost in CPU seconds, and cells on the way where they were
    asked for."""

    cells: Cells
    parameters: int
    training: float
    examining: float
    looks: Mapping[int, Cells] = field(default_factory=dict)
    """By the steps made until then."""
    elsewhere: Mapping[str, Cells] = field(default_factory=dict)
    losses: tuple[float, ...] = ()
    """The mean of each tenth of the training."""


def run(bench: Bench, job: Job) -> Ran:
    """Adapt the packaged model once and examine it."""
    model, processor = read_folder(packaged_base(), "cpu", "fp32")
    on_the_way: dict[int, Cells] = {}
    looking: list[float] = []

    def told(step: TrainingStep) -> None:
        if step.number in job.look:
            model.eval()
            held = bench.held.first(bench.size.looked)
            cells, seconds = _cpu(lambda: bench.examine(model, processor, job, held))
            on_the_way[step.number] = cells
            looking.append(seconds)
            model.train()

    lessons, plan = bench.lessons(job), plan_of(bench.size, job)
    made, training = _cpu(lambda: adapt(model, processor, lessons, plan, report=told))
    cells, examining = _cpu(lambda: bench.examine(made.model, processor, job, bench.held))
    names = [place.name for place in PLACES[1:]] if job.elsewhere else []
    elsewhere = {
        name: bench.examine(made.model, processor, job, bank_clips(name, bench.folder))
        for name in names
    }
    # What the looks on the way took is no part of training.
    learning = training - sum(looking)
    return Ran(
        cells, made.parameters, learning, examining, on_the_way, elsewhere, _tenths(made.losses)
    )


def run_once(bench: Bench, job: Job) -> Ran:
    """As `run`, but what ran already, for another table or before a stop, is read from the bench's
    folder."""
    assert bench.folder
    file = bench.folder / "universe-runs.jsonl"
    size = {name: value for name, value in asdict(bench.size).items() if name != "seeds"}
    order = {
        "base": revision(packaged_base()),
        "size": size,
        "job": asdict(job),
        "plan": asdict(plan_of(bench.size, job)),
        "mixture": MIXTURES[job.mixture],
    }
    order = json.loads(json.dumps(order))
    for line in file.read_text("utf-8").splitlines() if file.is_file() else ():
        kept = json.loads(line)
        if kept["order"] == order:
            return _read(kept["ran"])
    ran = run(bench, job)
    with file.open("a", encoding="utf-8") as runs:
        runs.write(json.dumps({"order": order, "ran": asdict(ran)}) + "\n")
    return ran


def make(size: Size, folder: Path | None = None) -> Bench:
    """The clips of a bench; those held out are of other sessions."""
    train = home_clips(size.train, TRAINING, folder)
    return Bench(size, train, home_clips(size.held, size.held_from, folder), folder)


def _read(kept: dict[str, Any]) -> Ran:
    looks = {int(step): cells for step, cells in kept["looks"].items()}
    return Ran(**{**kept, "looks": looks, "losses": tuple(kept["losses"])})


def plan_of(size: Size, job: Job) -> TrainingPlan:
    """How a job is trained."""
    return TrainingPlan(
        strategy=job.strategy,
        steps=job.steps,
        batch=size.batch,
        accumulate=1,
        rate=job.rate or RATES.get(job.strategy, 0.0),
        rank=job.rank,
        mask=job.mask,
        precision="bf16",
        seed=job.seed,
        every=10**9,
    )


def _tenths(losses: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(part.mean()) for part in np.array_split(losses, 10) if len(part))


def _worded(clip: Pixels, asked: tuple[QuestionAnswer, ...], in_board_words: bool) -> Lesson:
    if not in_board_words:
        return Lesson(clip, tuple((pair.question, pair.answer) for pair in asked))
    told = [board_words(pair.task, pair.format, pair.question, SPACE) for pair in asked]
    questions = tuple((one.text, pair.answer) for one, pair in zip(told, asked, strict=True))
    return Lesson(clip, questions, Judged(DESCRIPTION, tuple(one.menu for one in told)))


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
