"""What adaptation brings on recorded play: strategies, environments, frames by epochs, LoRA ranks,
mixtures and masks, three seeds each, in CPU seconds.

`python -m tests.bench.universe` runs all of it in two processes of one thread each, and goes on
where it was stopped; `--quick` does one seed of each table, much smaller; `--tables a,b` only some;
`--seeds 1` fewer seeds, and the main table then in environment 1 only; `--one` runs in one process;
`--choosing` examines the clips by which strategies and rates may be chosen, not those of the
tables. The recipe is the paper's but for what a small base needs: higher rates, two epochs or less
of 1,200 clips in batches of 8, all eight questions of a clip (or as many as a table says) behind
frames that do not see them, drawn anew each epoch, and a strategy of its own (`upper`: the decoder
without its first layer).
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

from evaluators.models.adapt.batches import Mask
from evaluators.models.adapt.sizing.count import step_cost
from evaluators.models.adapt.sizing.weightless import LessonSize
from evaluators.models.adapt.strategies import Strategy
from evaluators.worlds.doom.places import HOME
from tests.bench.report import FOLDER
from tests.bench.universe_clips import CHOOSING
from tests.bench.universe_runs import (
    CELLS,
    PAIRS,
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
FRAMES, EPOCHS = (1, 2, 4, 8), (0.5, 1.0, 1.5)
BEST: Strategy = "upper"
"""What the other tables adapt by: the one strategy that learns to read actions."""
PAIRED = 3
"""Questions a clip there."""
ALSO_PAIRED: tuple[Strategy, ...] = ("lora", "full")
"""What else learns from those lessons."""
RANKED = 0.5
"""Epochs of the table of ranks."""
MASKS: tuple[Mask, ...] = ("own", "image_first")
ON_THE_WAY = ("masks", "frames")
"""Tables with a row for each look on the way."""
ELSEWHERE = ("strategies", "masks")
"""Tables with a row for each environment."""


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


def best(size: Size, seed: int) -> Job:
    """The judge that learns to read actions and yes/no questions about them; it stands in several
    tables and is trained once a seed."""
    *looks, steps = (size.steps_of(epochs) for epochs in EPOCHS)
    return Job(
        BEST,
        seed,
        size.frames,
        steps=steps,
        look=tuple(looks),
        mixture=PAIRS,
        questions=PAIRED,
        elsewhere=len(size.seeds) > 1,
    )


def masks(size: Size) -> Iterator[Entry]:
    """PaliGemma's own mask, under which the base was taught, against images that do not see the
    question, which it never saw: eight frames, looks on the way and environments 2 to 8."""
    for mask in MASKS:
        for seed in size.seeds:
            yield Entry("masks", (("mask", mask),), replace(best(size, seed), mask=mask))


def frames(size: Size) -> Iterator[Entry]:
    """Frames by epochs, which are looks at one run."""
    for number in FRAMES:
        for seed in size.seeds:
            job = best(size, seed)
            if number != size.frames:
                job = replace(job, frames=number, elsewhere=False)
            yield Entry("frames", (("frames", number),), job)


def mixtures(size: Size) -> Iterator[Entry]:
    """Mixtures of tasks and formats, three questions a clip."""
    for name in (PAIRS, "drawn", "paper"):
        for seed in size.seeds:
            job = best(size, seed)
            if name != PAIRS:
                job = replace(job, mixture=name, elsewhere=False, look=())
            yield Entry("mixtures", (("mixture", name),), job)


def paired(size: Size) -> Iterator[Entry]:
    """LoRA and full tuning on the lessons by which the best judge learns yes and no."""
    for strategy in ALSO_PAIRED:
        for seed in size.seeds:
            job = replace(best(size, seed), strategy=strategy, elsewhere=False, look=())
            yield Entry("paired", (("strategy", strategy),), job)


def ranks(size: Size) -> Iterator[Entry]:
    """LoRA at the paper's ranks, half an epoch."""
    for rank in RANKS:
        for seed in size.seeds:
            job = Job("lora", seed, size.frames, steps=size.steps_of(RANKED), rank=rank)
            yield Entry("ranks", (("rank", rank),), job)


TABLES = {
    "strategies": strategies,
    "masks": masks,
    "frames": frames,
    "mixtures": mixtures,
    "paired": paired,
    "ranks": ranks,
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
        for questions in (1, 4, 8):
            size = LessonSize(frames=8, questions=questions)
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
    measured: dict[str, Any] = {}
    workers = 1 if "--one" in arguments else 2
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (size,)) as pool:
        tables = {name: list(TABLES[name](size)) for name in named or TABLES}
        # All at once, so that nobody waits at the end of a table.
        running = {name: [pool.submit(_run, e.job) for e in tables[name]] for name in tables}
        for name, entries in tables.items():
            ran = [_told(e, r.result()) for e, r in zip(entries, running[name], strict=True)]
            _keep(name, list(table_rows(entries, ran)), measured, quick)
    if not named:
        _keep("operations", list(operations()), measured, quick)
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
    looks = ran.looks if entry.table in ON_THE_WAY else {}
    elsewhere = ran.elsewhere if entry.table in ELSEWHERE else {}
    for steps, cells in looks.items():
        yield (*entry.label, *_columns(entry, HOME, steps)), cells
    yield (*entry.label, *_columns(entry, HOME, entry.job.steps)), ran.cells
    for place, cells in elsewhere.items():
        yield (*entry.label, *_columns(entry, place, entry.job.steps)), cells


def _columns(entry: Entry, place: str, steps: int) -> Label:
    """What a row is of beside its label; in a table with one place or one time it goes unsaid."""
    where: Label = (("environment", place),) if entry.job.elsewhere else ()
    when: Label = (("steps", steps),)
    told = entry.table in ELSEWHERE, entry.table in ON_THE_WAY
    return (*(where if told[0] else ()), *(when if told[1] else ()))


def _told(entry: Entry, ran: Ran) -> Ran:
    cells = {cell: round(value, 1) for cell, value in ran.cells.items()}
    label = ", ".join(str(value) for _, value in entry.label)
    seed, seconds = entry.job.seed, ran.training
    print(f"{entry.table}: {label}, seed {seed}: {seconds:.0f} CPU s, {cells}", flush=True)
    return ran


def _keep(name: str, rows: list[dict[str, Any]], measured: dict[str, Any], quick: bool) -> None:
    """Write all tables that are there, and print this one."""
    measured[name] = rows
    file = FOLDER / f"universe{'-quick' if quick else ''}.json"
    file.write_text(json.dumps(measured, indent=1) + "\n")
    _print(name, rows)


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
