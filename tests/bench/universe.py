"""What adaptation brings on recorded play: strategies, environments, frames by epochs, LoRA ranks,
mixtures and masks, three seeds each, in CPU seconds.

`python -m tests.bench.universe` runs all of it in two processes of one thread each; `--quick` does
one seed of each table, much smaller; `--tables a,b` only some; `--seeds 1` fewer seeds, and the
main table then in environment 1 only; `--one` runs in one process. The
recipe is the paper's but for what a small base needs: higher rates, batches of 16 clips with two
questions each, fp32, 8 frames where the table does not say otherwise, and a strategy of its own
(`upper`: the decoder without its first layer).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from statistics import mean, stdev
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from evaluators.metrics.sampling import Policy
from evaluators.models.adapt.batches import Mask
from evaluators.models.adapt.sizing.count import step_cost
from evaluators.models.adapt.sizing.weightless import LessonSize
from evaluators.models.adapt.strategies import Strategy
from evaluators.worlds.doom.places import HOME
from tests.bench.report import FOLDER
from tests.bench.universe_clips import CHOOSING
from tests.bench.universe_runs import (
    CELLS,
    MIXTURES,
    QUICK,
    Bench,
    Cells,
    Job,
    Ran,
    Size,
    make,
    run_once,
)

Label = tuple[tuple[str, str | int | float], ...]
MAIN: tuple[Strategy, ...] = ("zero_shot", "projector", "lora", "full", "upper")
RANKS = (8, 16, 32, 48, 64)
FRAMES, EPOCHS = (1, 2, 4, 8), (0.5, 1.0, 2.0)
BEST: Strategy = "upper"
"""What the other tables adapt by: the one strategy that learns to read actions."""
RANKED = 1.5
"""Epochs of the table of ranks."""
MASKS: tuple[Mask, ...] = ("own", "image_first")
MASKED = 8
"""Frames of the table of masks."""
ASKED = 4
"""Questions a clip in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A job, the table it belongs to, and what its row is called; seeds of one row are averaged."""

    table: str
    label: Label
    job: Job


def strategies(size: Size) -> Iterator[Entry]:
    """The main table, and the same judges in environments 2 to 8; what is not trained needs one
    seed."""
    for strategy in MAIN:
        for seed in size.seeds if strategy != "zero_shot" else size.seeds[:1]:
            job = Job(strategy, seed, size.frames, steps=size.steps, elsewhere=len(size.seeds) > 1)
            yield Entry("strategies", (("strategy", strategy),), job)


def frames(size: Size) -> Iterator[Entry]:
    """Frames by epochs, which are looks at one run, and first frames instead of uniform ones."""
    wanted: list[tuple[Policy, int]] = [
        *(("uniform_n", number) for number in FRAMES),
        *(("first_n", number) for number in FRAMES[1:]),
    ]
    *looks, steps = (size.steps_of(epochs) for epochs in EPOCHS)
    for policy, number in wanted:
        label = (("frames", f"{policy.removesuffix('_n')}-{number}"),)
        for seed in size.seeds:
            job = Job(BEST, seed, number, policy, steps=steps, look=tuple(looks), questions=ASKED)
            yield Entry("frames", label, job)


def ranks(size: Size) -> Iterator[Entry]:
    """LoRA at the paper's ranks."""
    for rank in RANKS:
        for seed in size.seeds:
            job = Job("lora", seed, size.frames, steps=size.steps_of(RANKED), rank=rank)
            yield Entry("ranks", (("rank", rank),), job)


def mixtures(size: Size) -> Iterator[Entry]:
    """Three mixtures of tasks and formats, two questions a clip."""
    for name in MIXTURES:
        for seed in size.seeds:
            job = Job(BEST, seed, size.frames, steps=size.steps, mixture=name, questions=2)
            yield Entry("mixtures", (("mixture", name),), job)


def masks(size: Size) -> Iterator[Entry]:
    """PaliGemma's own mask, under which the base was taught, against images that do not see the
    question, which it never saw: eight frames, four questions a clip, with looks on the way."""
    *looks, steps = (size.steps_of(epochs) for epochs in EPOCHS)
    for mask in MASKS:
        for seed in size.seeds:
            job = Job(
                BEST, seed, MASKED, mask=mask, steps=steps, look=tuple(looks), questions=ASKED
            )
            yield Entry("masks", (("mask", mask),), job)


TABLES = {
    "strategies": strategies,
    "masks": masks,
    "mixtures": mixtures,
    "ranks": ranks,
    "frames": frames,
}


def table_rows(entries: Sequence[Entry], ran: Sequence[Ran]) -> Iterator[dict[str, Any]]:
    """A row a label, with mean and spread over its seeds; looks on the way and other environments
    are rows of their own."""
    together: dict[Label, list[tuple[Cells, Ran]]] = {}
    for entry, result in zip(entries, ran, strict=True):
        for label, cells in _labelled(entry, result):
            together.setdefault(label, []).append((cells, result))
    for label, members in together.items():
        yield {
            **dict(label),
            "seeds": len(members),
            "parameters": members[0][1].parameters,
            "losses": [mean(tenth) for tenth in zip(*(r.losses for _, r in members), strict=True)],
            "training_cpu_s": mean(result.training for _, result in members),
            "examining_cpu_s": mean(result.examining for _, result in members),
            **{name: _spread([cells[name] for cells, _ in members]) for name in CELLS},
        }


def operations() -> Iterator[dict[str, Any]]:
    """What one clip costs in training at the size of PaliGemma 2 3B, by counted operations."""
    for mask in MASKS:
        for questions in (1, ASKED, 8):
            size = LessonSize(frames=MASKED, questions=questions)
            cost = step_cost("projector", size, mask)
            yield {
                "mask": mask,
                "questions": questions,
                "tera_operations": cost.operations / 1e12,
                "activations_gb": cost.activations / 1e9,
            }


def main(arguments: Sequence[str]) -> int:
    """Run the tables, print them and write them; each is written as soon as it is there, and a run
    that was stopped goes on."""
    quick = "--quick" in arguments
    named = arguments[arguments.index("--tables") + 1].split(",") if "--tables" in arguments else []
    size = _size(arguments)
    make(size, FOLDER)
    measured: dict[str, Any] = {"operations": list(operations())}
    _print("operations", measured["operations"])
    workers = 1 if "--one" in arguments else 2
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (size,)) as pool:
        for name in named or TABLES:
            entries = list(TABLES[name](size))
            ran = [
                _told(entry, result)
                for entry, result in zip(
                    entries, pool.map(_run, [entry.job for entry in entries]), strict=True
                )
            ]
            measured[name] = list(table_rows(entries, ran))
            file = FOLDER / f"universe{'-quick' if quick else ''}.json"
            file.write_text(json.dumps(measured, indent=1) + "\n")
            _print(name, measured[name])
    return 0


def _size(arguments: Sequence[str]) -> Size:
    size = QUICK if "--quick" in arguments else Size()
    if "--seeds" in arguments:
        number = int(arguments[arguments.index("--seeds") + 1])
        size = replace(size, seeds=size.seeds[:number])
    return replace(size, held_from=CHOOSING) if "--choosing" in arguments else size


_BENCH: list[Bench] = []


def _begin(size: Size) -> None:
    torch.set_num_threads(1)
    _BENCH.append(make(size, FOLDER))


def _run(job: Job) -> Ran:
    return run_once(_BENCH[0], job)


def _labelled(entry: Entry, ran: Ran) -> Iterator[tuple[Label, Cells]]:
    for steps, cells in ran.looks.items():
        yield (*entry.label, ("steps", steps)), cells
    home: Label = (("environment", HOME),) if ran.elsewhere else ()
    at_the_end: Label = (("steps", entry.job.steps),) if ran.looks else ()
    yield (*entry.label, *home, *at_the_end), ran.cells
    for place, cells in ran.elsewhere.items():
        yield (*entry.label, ("environment", place)), cells


def _told(entry: Entry, ran: Ran) -> Ran:
    cells = {cell: round(value, 1) for cell, value in ran.cells.items()}
    label = ", ".join(str(value) for _, value in entry.label)
    seed, seconds = entry.job.seed, ran.training
    print(f"{entry.table}: {label}, seed {seed}: {seconds:.0f} CPU s, {cells}", flush=True)
    return ran


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": mean(values), "std": stdev(values) if len(values) > 1 else 0.0}


def _print(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    shown = [key for key, value in rows[0].items() if not isinstance(value, list)]
    table = Table(*shown, title=name)
    for row in rows:
        table.add_row(*(_words(row[key]) for key in shown))
    Console(width=170).print(table)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['mean']:.1f} ± {value['std']:.1f}"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
