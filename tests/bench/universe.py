"""What adaptation brings on recorded play: strategies, frames, samples, LoRA ranks, mixtures,
environments and masks, in CPU seconds.

`python -m tests.bench.universe` runs all of it in two processes of one thread each; `--quick` does
one seed of the main table, smaller; `--tables a,b` only some.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

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
from tests.bench.report import FOLDER

Cells = Mapping[str, float]
SHORT = {"action_recognition": "actions", "character_recognition": "characters"}
CELLS = tuple(f"{SHORT[task]}, {form}" for task in TASKS for form in FORMATS)
RATES: dict[Strategy, float] = {"projector": 5e-3, "lora": 5e-3, "full": 1e-3}
MAIN: tuple[Strategy, ...] = ("zero_shot", "projector", "full", "lora")
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
    steps: int = 300
    batch: int = 16
    questions: int = 3
    frames: int = 4
    seeds: tuple[int, ...] = (0, 1, 2)


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
            len(eight), self.size.questions, replace=False, p=weights / weights.sum()
        )
        return tuple((eight[i].question, eight[i].answer) for i in chosen)


@dataclass(frozen=True, slots=True)
class Job:
    """One adaptation of the packaged model: how, on what frames, for how long, and when to look on
    the way."""

    strategy: Strategy
    seed: int = 0
    frames: int = 4
    policy: Policy = "uniform_n"
    mask: Mask = "image_first"
    steps: int = 0
    look: tuple[int, ...] = ()
    rank: int = 8
    mixture: str = "ours"
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it: its cells, what it cost in CPU seconds, and cells on the way where they were
    asked for."""

    cells: Cells
    parameters: int
    training: float
    examining: float
    samples: Mapping[int, Cells]
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

    def examine(model: Any) -> Cells:
        return bench.examine(model, processor, job)

    def told(step: TrainingStep) -> None:
        if step.number in job.look:
            model.eval()
            on_the_way[step.number * bench.size.batch] = examine(model)
            model.train()

    lessons = bench.lessons(job)
    made, training = _cpu(lambda: adapt(model, processor, lessons, plan, report=told))
    cells, examining = _cpu(lambda: examine(made.model))
    names = [place.name for place in PLACES[1:]] if job.elsewhere else []
    elsewhere = {
        name: bench.examine(made.model, processor, job, bank_clips(name)) for name in names
    }
    return Ran(cells, made.parameters, training, examining, on_the_way, elsewhere)


def strategies(size: Size) -> list[Job]:
    """The main table; what is not trained needs one seed."""
    return [
        Job(strategy, seed, size.frames, steps=size.steps)
        for strategy in MAIN
        for seed in (size.seeds if strategy != "zero_shot" else size.seeds[:1])
    ]


def frames(size: Size) -> list[Job]:
    """Uniform against first frames, full tuning, one seed."""
    wanted: list[tuple[Policy, int]] = [
        ("uniform_n", 1),
        ("uniform_n", 2),
        ("first_n", 2),
        ("uniform_n", 4),
        ("first_n", 4),
        ("uniform_n", 8),
        ("first_n", 8),
    ]
    return [Job("full", 0, number, policy, steps=size.steps * 3 // 4) for policy, number in wanted]


def samples(size: Size) -> list[Job]:
    """Exact match after so many clips, full tuning, one seed."""
    look = tuple(round(size.steps * share) for share in (0.125, 0.25, 0.5, 1.0))
    return [Job("full", 0, size.frames, steps=size.steps, look=look)]


def ranks(size: Size) -> list[Job]:
    """LoRA at the paper's ranks, one seed."""
    return [Job("lora", 0, size.frames, steps=size.steps, rank=r) for r in (8, 16, 32, 48, 64)]


def mixtures(size: Size) -> list[Job]:
    """Full tuning on three mixtures of tasks and formats, one seed."""
    return [Job("full", 0, size.frames, steps=size.steps, mixture=name) for name in MIXTURES]


def environments(size: Size) -> list[Job]:
    """Adapted to environment 1, examined in all, one seed."""
    kinds: tuple[Strategy, ...] = ("projector", "full")
    return [Job(kind, 0, size.frames, steps=size.steps, elsewhere=True) for kind in kinds]


def masks(size: Size) -> list[Job]:
    """PaliGemma's own mask against images that do not see the question, full tuning, one seed."""
    return [Job("full", 0, 2, mask=mask, steps=size.steps // 2) for mask in ("own", "image_first")]


def strategies_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """Mean and spread over seeds."""
    for strategy in MAIN:
        same = [one for job, one in zip(jobs, ran, strict=True) if job.strategy == strategy]
        yield {
            "strategy": strategy,
            "parameters": same[0].parameters,
            "cpu_s": mean(one.training for one in same),
            **{name: _spread([one.cells[name] for one in same]) for name in CELLS},
        }


def frames_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row a choice of frames."""
    for job, one in zip(jobs, ran, strict=True):
        yield {
            "frames": f"{job.policy.removesuffix('_n')}-{job.frames}",
            "cpu_s": one.training,
            **one.cells,
        }


def samples_rows(_jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row a look on the way."""
    for clips, cells in ran[0].samples.items():
        yield {"clips": clips, **cells}


def masks_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """Accuracy of both, and CPU seconds of both."""
    for job, one in zip(jobs, ran, strict=True):
        yield {
            "mask": job.mask,
            "training_cpu_s": one.training,
            "examining_cpu_s": one.examining,
            **one.cells,
        }


def ranks_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row a rank."""
    for job, one in zip(jobs, ran, strict=True):
        yield {"rank": job.rank, "parameters": one.parameters, **one.cells}


def mixtures_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row a mixture."""
    for job, one in zip(jobs, ran, strict=True):
        yield {"mixture": job.mixture, **one.cells}


def environments_rows(jobs: Sequence[Job], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row an environment and strategy."""
    for job, one in zip(jobs, ran, strict=True):
        for name, cells in {HOME: one.cells, **one.elsewhere}.items():
            yield {"strategy": job.strategy, "environment": name, **cells}


TABLES = {
    "strategies": (strategies, strategies_rows),
    "environments": (environments, environments_rows),
    "frames": (frames, frames_rows),
    "samples": (samples, samples_rows),
    "ranks": (ranks, ranks_rows),
    "mixtures": (mixtures, mixtures_rows),
    "masks": (masks, masks_rows),
}


def main(arguments: Sequence[str]) -> int:
    """Run the tables, print them and write them; each is written as soon as it is there."""
    quick = "--quick" in arguments
    named = arguments[arguments.index("--tables") + 1].split(",") if "--tables" in arguments else []
    chosen = named or (["strategies"] if quick else list(TABLES))
    size, began = QUICK if quick else Size(), time.monotonic()
    found: dict[str, Any] = {}
    with ProcessPoolExecutor(2, get_context("spawn"), _begin, (size,)) as pool:
        going = {
            name: [(job, pool.submit(_run, job)) for job in wanted(size)]
            for name, (wanted, _) in TABLES.items()
            if name in chosen
        }
        for name, asked in going.items():
            jobs, ran = zip(
                *[(job, _told(name, job, future.result())) for job, future in asked], strict=True
            )
            found[name] = list(TABLES[name][1](jobs, ran))
            found["seconds"] = time.monotonic() - began
            FOLDER.mkdir(parents=True, exist_ok=True)
            (FOLDER / "universe.json").write_text(json.dumps(found, indent=1) + "\n")
            _print(name, found[name])
    return 0


_BENCH: list[Bench] = []


def _begin(size: Size) -> None:
    torch.set_num_threads(1)
    _BENCH.append(make(size))


def _run(job: Job) -> Ran:
    return run(_BENCH[0], job)


def _told(name: str, job: Job, ran: Ran) -> Ran:
    cells = {cell: round(value, 1) for cell, value in ran.cells.items()}
    print(f"{name}: {job}: {ran.training:.0f} CPU s, {cells}", flush=True)
    return ran


def make(size: Size) -> Bench:
    """Record the clips; those held out are of other sessions."""
    with running() as engine:
        train = _recorded(engine.record, size.train, 0)
        return Bench(size, train, _recorded(engine.record, size.held, HELD_SESSION))


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


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": mean(values), "std": stdev(values) if len(values) > 1 else 0.0}


def _print(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    table = Table(*rows[0], title=name)
    for row in rows:
        table.add_row(*(_words(value) for value in row.values()))
    Console(width=170).print(table)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['mean']:.1f} ± {value['std']:.1f}"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
