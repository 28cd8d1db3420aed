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
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
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
    run,
)

Label = tuple[tuple[str, str | int | float], ...]
MAIN: tuple[Strategy, ...] = ("zero_shot", "projector", "lora", "full", "upper")
RANKS = (8, 16, 32, 48, 64)
FRAMES, EPOCHS = (1, 2, 4, 8), (1, 2, 4)
MASKED = 8
"""Frames of the table of masks."""
ASKED = 4
"""Questions a clip in it."""
LOOKS = (0.25, 0.5, 0.75)


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
    """Frames by epochs, full tuning, and first frames instead of uniform ones."""
    wanted: list[tuple[Policy, int, float]] = [
        *(("uniform_n", number, epochs) for number in FRAMES for epochs in EPOCHS),
        *(("first_n", number, EPOCHS[-1]) for number in FRAMES[1:]),
    ]
    for policy, number, epochs in wanted:
        label = (("frames", f"{policy.removesuffix('_n')}-{number}"), ("epochs", epochs))
        for seed in size.seeds:
            steps = size.steps_of(epochs)
            yield Entry("frames", label, Job("full", seed, number, policy, steps=steps))


def ranks(size: Size) -> Iterator[Entry]:
    """LoRA at the paper's ranks."""
    for rank in RANKS:
        for seed in size.seeds:
            job = Job("lora", seed, size.frames, steps=size.steps, rank=rank)
            yield Entry("ranks", (("rank", rank),), job)


def mixtures(size: Size) -> Iterator[Entry]:
    """Full tuning on three mixtures of tasks and formats."""
    for name in MIXTURES:
        for seed in size.seeds:
            job = Job("full", seed, size.frames, steps=size.steps, mixture=name)
            yield Entry("mixtures", (("mixture", name),), job)


def masks(size: Size) -> Iterator[Entry]:
    """PaliGemma's own mask, under which the base was taught, against images that do not see the
    question, which it never saw: full tuning, eight frames, four questions a clip, with looks on
    the way."""
    steps = size.steps * 3 // 4
    looks = tuple(max(1, round(share * steps)) for share in LOOKS)
    for mask in ("own", "image_first"):
        for seed in size.seeds:
            job = Job("full", seed, MASKED, mask=mask, steps=steps, look=looks, questions=ASKED)
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
            "training_cpu_s": mean(result.training for _, result in members),
            "examining_cpu_s": mean(result.examining for _, result in members),
            **{name: _spread([cells[name] for cells, _ in members]) for name in CELLS},
        }


def operations() -> Iterator[dict[str, Any]]:
    """What one clip costs in training at the size of PaliGemma 2 3B, by counted operations."""
    masks: tuple[Mask, ...] = ("own", "image_first")
    for mask in masks:
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
    """Run the tables, print them and write them; each is written as soon as it is there."""
    quick = "--quick" in arguments
    named = arguments[arguments.index("--tables") + 1].split(",") if "--tables" in arguments else []
    size, began = QUICK if quick else Size(), time.monotonic()
    if "--seeds" in arguments:
        number = int(arguments[arguments.index("--seeds") + 1])
        size = replace(size, seeds=size.seeds[:number])
    clips = FOLDER / f"universe-clips-{size.train}-{size.held}.npz"
    make(size, clips)
    measured: dict[str, Any] = {"operations": list(operations())}
    _print("operations", measured["operations"])
    workers = 1 if "--one" in arguments else 2
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (size, clips)) as pool:
        for name in named or TABLES:
            entries = list(TABLES[name](size))
            ran = [
                _told(entry, result)
                for entry, result in zip(
                    entries, pool.map(_run, [entry.job for entry in entries]), strict=True
                )
            ]
            measured[name] = list(table_rows(entries, ran))
            measured["seconds"] = time.monotonic() - began
            file = FOLDER / f"universe{'-quick' if quick else ''}.json"
            file.write_text(json.dumps(measured, indent=1) + "\n")
            _print(name, measured[name])
    return 0


_BENCH: list[Bench] = []


def _begin(size: Size, clips: Path) -> None:
    torch.set_num_threads(1)
    _BENCH.append(make(size, clips))


def _run(job: Job) -> Ran:
    return run(_BENCH[0], job)


def _labelled(entry: Entry, ran: Ran) -> Iterator[tuple[Label, Cells]]:
    for clips, cells in ran.looks.items():
        yield (*entry.label, ("clips", clips)), cells
    home: Label = (("environment", HOME),) if ran.elsewhere else ()
    at_the_end: Label = (("clips", "all"),) if ran.looks else ()
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
    table = Table(*rows[0], title=name)
    for row in rows:
        table.add_row(*(_words(value) for value in row.values()))
    Console(width=170).print(table)


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['mean']:.1f} ± {value['std']:.1f}"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
