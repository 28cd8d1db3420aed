"""The SC3 experiment on the simulated table: what does the small video world model say of seven
policies, and what do the fakes?

`python -m tests.bench.sc3 [--seeds 3]` records practice, trains what is missing a process a core,
measures the gates, rolls out, prints the paper's Tables 1, 2, 4, 5 and 6 in our numbers, as far as
the gates allow, and writes .armillary/bench/sc3.json. Killed and started again, it goes on.
`--shipped` asks only the model that is shipped, `--processes N` says how many work at a time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from time import time

import numpy as np
import torch
from rich.console import Console

from evaluators.contracts import Sample
from evaluators.models.video_world.folder import CONFIG
from evaluators.models.video_world.gates import GateReport
from evaluators.models.video_world.table_course import usual_tau
from evaluators.models.video_world.world import VideoWorld
from evaluators.suites.sc3.rollouts.trajectories import write_whole
from evaluators.suites.sc3.samples import samples
from evaluators.suites.sc3.table.trials import read_trials
from tests.bench.sc3_lines import Evaluated, Line, control_lines, lines
from tests.bench.sc3_models import (
    FOLDER,
    FULL,
    SEEDS,
    Effort,
    Variant,
    gates,
    model,
    never_stopping,
    practice,
    shipped,
)
from tests.bench.sc3_rolled import RolledStart, rolled, standing_still, through_codec
from tests.bench.sc3_tables import CHANCE, NEVER, SWEPT, SWEPT_CHANCE, refused, tables

QUANTILES = (0.98, 0.95, 0.9, 0.8, 0.5)
"""Of U, at which the sweep of tau stops."""


def asked(starts: int, mode: str) -> list[Sample]:
    """The samples of a mode, so many starts of each policy."""
    return [
        sample
        for sample in samples()
        if sample.facets.setting == mode and int(sample.cluster.rpartition("-")[2]) < starts
    ]


def learned_lines(
    world: VideoWorld, name: str, seed: int, starts: int, tau: float | None
) -> Iterator[Line]:
    """A world online, the full one offline too; with a tau, stopped by U, never, and as often by
    chance."""
    if name == FULL.name:
        offline = list(rolled(world, asked(starts, "offline")))
        yield from lines(Evaluated(name, seed, "offline", [r.match() for r in offline], offline))
    online = list(rolled(world, asked(starts, "online")))
    if tau is None:
        yield from lines(Evaluated(name, seed, "online", [r.match() for r in online], online))
        return
    yield from lines(_stopped(name + NEVER, seed, online, [None] * len(online)))
    stops = [rollout.stop(tau) for rollout in online]
    yield from lines(_stopped(name, seed, online, stops, tau))
    yield from lines(_stopped(name + CHANCE, seed, online, by_chance(stops, seed)))
    if name == FULL.name:
        yield from _sweep(online, seed)


def by_chance(stops: Sequence[int | None], seed: int) -> list[int | None]:
    """The same stops, each given to another rollout by lot."""
    order = np.random.default_rng(seed).permutation(len(stops))
    return [stops[number] for number in order]


def _sweep(online: Sequence[RolledStart], seed: int) -> Iterator[Line]:
    us = [u for rollout in online for u in rollout.u_chunk]
    for level in QUANTILES:
        tau = float(np.quantile(us, level))
        stops = [rollout.stop(tau) for rollout in online]
        name = f"{FULL.name}, tau at the {level:.0%} {SWEPT}"
        yield from lines(_stopped(name, seed, online, stops, tau))
        name = f"{FULL.name}, {SWEPT_CHANCE} ({level:.0%})"
        yield from lines(_stopped(name, seed, online, by_chance(stops, seed), tau))


def _stopped(
    name: str,
    seed: int,
    online: Sequence[RolledStart],
    stops: Sequence[int | None],
    tau: float | None = None,
) -> Evaluated:
    matched = [rollout.match(stop) for rollout, stop in zip(online, stops, strict=True)]
    return Evaluated(name, seed, "online", matched, online, stops, tau)


def _variant_lines(where: Path, effort: Effort, variant: Variant, seed: int) -> list[Line]:
    torch.set_num_threads(1)
    world = model(where, effort, variant, seed)
    tau = world.card.tau
    if tau is None and world.inverse:
        tau = usual_tau(world, practice(effort).held_out)
    unstopped = never_stopping(world)
    return list(learned_lines(unstopped, variant.name, seed, effort.starts, tau))


def _painted_lines(where: Path, effort: Effort) -> list[Line]:
    """Beside every model, offline: the real run through its codec, and the first frame for ever."""
    torch.set_num_threads(1)
    codec = model(where, effort, FULL, effort.seeds[0]).model.codec
    offline = asked(effort.starts, "offline")
    shown = {
        "real run through the codec, as annotated": list(through_codec(codec, offline)),
        "frozen": list(standing_still(offline)),
    }
    return [
        line
        for name, rows in shown.items()
        for line in lines(Evaluated(name, 0, "offline", [row.match() for row in rows], rows))
    ]


def experiment(where: Path, effort: Effort, pool: Executor) -> tuple[list[Line], list[GateReport]]:
    """All lines and the gates of each seed; what is finished is kept and not made again."""
    where.mkdir(parents=True, exist_ok=True)
    folders = [v.folder(where, seed) for v in effort.variants for seed in effort.seeds]
    if not all((folder / CONFIG).is_file() for folder in folders):
        practice(effort)
    parts: list[tuple[Path, Future[None] | None]] = []
    for seed in effort.seeds:
        for variant in effort.variants:
            path = variant.folder(where, seed).with_suffix(".json")
            parts.append((path, _begun(pool, path, _variant_lines, where, effort, variant, seed)))
    made = [line for path, begun in parts for line in _finished(path, begun)]
    painted = where / "painted.json"
    made += _finished(painted, _begun(pool, painted, _painted_lines, where, effort))
    trials = [t for t in read_trials() if int(t.start.rpartition("-")[2]) < effort.starts]
    reports = [gates(where, effort, seed) for seed in effort.seeds]
    return [*control_lines(trials), *made], reports


def proven_by_all(reports: Sequence[GateReport]) -> frozenset[str]:
    """The modes whose gates every seed passed."""
    return frozenset.intersection(*(frozenset[str](report.proven) for report in reports))


def _begun(
    pool: Executor, path: Path, make: Callable[..., list[Line]], *given: object
) -> Future[None] | None:
    return None if path.is_file() else pool.submit(_keep, path, make, *given)


def _finished(path: Path, begun: Future[None] | None) -> list[Line]:
    if begun is not None:
        begun.result()
    return [Line(**row) for row in json.loads(path.read_text("utf-8"))]


def _keep(path: Path, make: Callable[..., list[Line]], *given: object) -> None:
    write_whole(path, json.dumps([asdict(line) for line in make(*given)]).encode())


def show(lines_made: Sequence[Line], reports: Sequence[GateReport], console: Console) -> None:
    """The gates, what they refuse, and the tables."""
    for report in reports:
        console.print(f"{report.verdict}; {report.as_json()}")
    proven = proven_by_all(reports)
    for words in refused(proven):
        console.print(words)
    for table in tables(lines_made, proven):
        console.print(table)


def main() -> int:
    """The whole experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    torch.set_num_threads(1)
    begun, effort = time(), replace(Effort(), seeds=tuple(range(options.seeds)))
    where = effort.folder()
    if options.shipped:
        where, effort = shipped(effort)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, context) as pool:
        made, reports = experiment(where, effort, pool)
    console = Console(width=240)
    show(made, reports, console)
    console.print(f"{(time() - begun) / 60:.1f} minutes (without what was kept from before)")
    stored = {
        "lines": [asdict(line) for line in made],
        "gates": [report.as_json() for report in reports],
    }
    FOLDER.with_suffix(".json").write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
