"""The SC3 experiment on the simulated bench: can the small model tell seven policies apart, and can
the fakes?

`python -m tests.bench.sc3` trains what is missing in two processes, rolls out, prints the paper's
Tables 1, 2, 4, 5 and 6 in our numbers and writes .armillary/bench/sc3.json. Killed and started
again, it goes on.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from time import time

import numpy as np
import torch
from rich.console import Console

from evaluators.metrics.image import psnr
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.models.dynamics.training import keep_tau
from evaluators.models.dynamics.world import DynamicsWorld, through_tokeniser
from evaluators.suites.sc3.agreement import agree
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.rollouts.loops import BENCH, RolloutConfig, roll_out
from evaluators.suites.sc3.rollouts.stopping import cut, random_stops, stops
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, Trajectory, write_whole
from evaluators.suites.sc3.rollouts.trial import Trial, try_out
from evaluators.suites.sc3.rollouts.tuning import choose_tau
from evaluators.worlds.bussing.world_models import (
    NOISE_LEVELS,
    WorldModel,
    copy_last_frame,
    never_grasps,
    noisy_simulator,
    simulator,
)
from tests.bench.sc3_models import FOLDER, Effort, Variant, model, tokeniser
from tests.bench.sc3_tables import SPLITS, Line, tables

SWEPT = (0.98, 0.95, 0.9, 0.8, 0.5)
"""Quantiles of U at which the sweep of tau stops."""


scene = cache(try_out)
"""One trial a process, however many parts of the experiment it does."""


def lines(
    name: str,
    seed: int,
    mode: str,
    here: Trial,
    found: Sequence[ObjectOutcome],
    made: Sequence[Trajectory] = (),
) -> Iterator[Line]:
    """An evaluator's numbers per split and pooled; PSNR offline only."""
    matches = here.matches(found)
    for split in SPLITS:
        rows = [n for n, match in enumerate(matches) if split in (match.split, "pooled")]
        agreed = agree([matches[row] for row in rows])
        chosen = [made[row] for row in rows] if made else []
        us = [float(value) for one in chosen for value in one.u_chunk]
        yield Line(
            evaluator=name,
            seed=seed,
            mode=mode,
            split=split,
            pearson_r=agreed.pearson_r,
            mmrv=agreed.mmrv,
            pearson_r_within=agreed.pearson_r_within,
            reproduction=agreed.reproduction.average,
            rate_error=agreed.rate_error,
            categories={str(rate.category): rate.value for rate in agreed.reproduction.rates},
            psnr=fmean(_psnr(made[row], here.truth[row]) for row in rows)
            if chosen and mode == "offline"
            else None,
            stopped=fmean(o.terminated_at is not None for o in chosen)
            if chosen and mode == "online"
            else None,
            mean_u=fmean(us) if us else None,
        )


def _psnr(made: Trajectory, truth: Trajectory) -> float:
    length = min(made.steps, truth.steps)
    value = psnr(
        reference=truth.frames[:, 1 : length + 1], generated=made.frames[:, 1 : length + 1]
    ).value
    return value or 0.0


def evaluate(
    name: str, seed: int, world: WorldModel, here: Trial, config: RolloutConfig = BENCH
) -> Iterator[Line]:
    """A world model in both modes, never stopped."""
    for mode, episodes in (("offline", here.recorded()), ("online", here.episodes)):
        made = roll_out(world, here.policies, episodes, config)
        yield from lines(name, seed, mode, here, here.read(made), made)


def fakes(here: Trial) -> Iterator[Line]:
    """Evaluators that know nothing of any policy, or too little; those of outcomes alone have no
    frames."""
    for fake, found in (
        ("criterion mean", criterion_mean(here.matches(here.outcomes))),
        ("shuffled policies", shuffled_policies(here.matches(here.outcomes))),
    ):
        for mode in ("offline", "online"):
            yield from lines(fake, 0, mode, here, found)
    yield from evaluate("copy of the last frame", 0, copy_last_frame(), here)
    yield from evaluate("never grasps", 0, never_grasps().world(), here)
    for level in NOISE_LEVELS:
        yield from evaluate(f"noisy simulator {level:g}", 0, noisy_simulator(level).world(), here)
    yield from evaluate("simulator", 0, simulator().world(), here)


def learned(
    world: DynamicsWorld, variant: Variant, seed: int, here: Trial, folder: Path
) -> Iterator[Line]:
    """A trained variant: stopped by its U online if it has one, beside never stopping and the same
    stops by chance."""
    config, name = replace(BENCH, horizon=world.model.config.horizon), variant.name
    view = world.world()
    offline = roll_out(view, here.policies, here.recorded(), config)
    yield from lines(name, seed, "offline", here, here.read(offline), offline)
    online = roll_out(view, here.policies, here.episodes, config)
    tau = choose_tau(view, config)
    keep_tau(folder, tau)
    ways = {name: [cut(one, tau, config.execute) for one in online]}
    if view.inverse:
        ways |= {
            f"{name}, never stopped": list(online),
            f"{name}, stopped by chance": random_stops(
                online, stops(online, tau), config.execute, seed
            ),
        }
    for what, made in ways.items():
        for line in lines(what, seed, "online", here, here.read(made), made):
            yield replace(line, tau=tau if what == name else None)
    if name == "full":
        yield from _sweep(online, name, seed, here, config)
        yield from _dead(view, name, seed, here, config)


def _sweep(
    online: Sequence[Trajectory], name: str, seed: int, here: Trial, config: RolloutConfig
) -> Iterator[Line]:
    us = [u for one in online for u in one.u_chunk]
    for level in SWEPT:
        tau = float(np.quantile(us, level))
        for what, made in (
            (
                f"{name}, tau at the {level:.0%} quantile of U",
                [cut(one, tau, config.execute) for one in online],
            ),
            (
                f"{name}, as many by chance ({level:.0%})",
                random_stops(online, stops(online, tau), config.execute, seed),
            ),
        ):
            yield from (
                replace(x, tau=tau)
                for x in lines(what, seed, "online", here, here.read(made), made)
            )


def _dead(
    view: WorldModel, name: str, seed: int, here: Trial, config: RolloutConfig
) -> Iterator[Line]:
    """What the model's own U says of a world in which nothing happens, whatever is done."""
    dead = WorldModel("copy with U", copy_last_frame().forward, view.inverse, view.scale)
    made = roll_out(dead, here.policies, here.episodes, config)
    yield from lines(
        f"copy of the last frame, with the U of {name}", seed, "online", here, here.read(made), made
    )


def _fake_lines(effort: Effort) -> list[Line]:
    torch.set_num_threads(1)
    return list(fakes(scene(effort.starts)))


def _ceiling_lines(where: Path, effort: Effort) -> list[Line]:
    torch.set_num_threads(1)
    ceiling = through_tokeniser(tokeniser(where, effort))
    return list(evaluate("simulator through tokeniser", 0, ceiling, scene(effort.starts)))


def _variant_lines(where: Path, effort: Effort, variant: Variant, seed: int) -> list[Line]:
    torch.set_num_threads(1)
    world = model(where, effort, variant, seed)
    return list(learned(world, variant, seed, scene(effort.starts), variant.folder(where, seed)))


def experiment(where: Path, effort: Effort, pool: Executor) -> dict[str, object]:
    """All lines; those of a finished part are kept in the folder and not made again."""
    where.mkdir(parents=True, exist_ok=True)
    parts = [_once(pool, where / "fakes.json", _fake_lines, effort)]
    tokeniser(where, effort)
    parts.append(_once(pool, where / "ceiling.json", _ceiling_lines, where, effort))
    for seed in effort.seeds:
        for variant in effort.variants:
            spot = variant.folder(where, seed).with_suffix(".json")
            parts.append(_once(pool, spot, _variant_lines, where, effort, variant, seed))
    found = [line for part in parts for line in part()]
    here, painted = scene(effort.starts), through_tokeniser(tokeniser(where, effort))
    return {
        "lines": [asdict(line) for line in found],
        "annotator_error": annotator_error(here),
        "annotator_error_on_painted_frames": annotator_error(here, painted),
        "starts": effort.starts,
        "seeds": list(effort.seeds),
    }


def annotator_error(here: Trial, world: WorldModel | None = None) -> dict[str, float]:
    """How often the annotator is wrong, by criterion: on the table itself, or on the table as a
    tokeniser paints it."""
    made = roll_out(world, here.policies, here.recorded(), BENCH) if world else here.truth
    pairs = list(zip(here.read(made), here.outcomes, strict=True))
    return {
        name: fmean(getattr(a, name) != getattr(b, name) for a, b in pairs) for name in CRITERIA
    }


def _once(
    pool: Executor, path: Path, make: Callable[..., list[Line]], *given: object
) -> Callable[[], list[Line]]:
    """The lines of a part, begun now if they are not there, and waited for when they are asked
    for."""
    begun = None if path.is_file() else pool.submit(_kept, path, make, *given)

    def wait() -> list[Line]:
        if begun is not None:
            begun.result()
        return [Line(**row) for row in json.loads(path.read_text())]

    return wait


def _kept(path: Path, make: Callable[..., list[Line]], *given: object) -> None:
    write_whole(path, json.dumps([asdict(line) for line in make(*given)]).encode())


def main() -> int:
    """The whole experiment, three seeds, on all cores."""
    torch.set_num_threads(1)
    begun, effort = time(), Effort()
    with ProcessPoolExecutor(
        multiprocessing.cpu_count(), multiprocessing.get_context("spawn")
    ) as pool:
        found = experiment(effort.folder(), effort, pool)
    console = Console(width=200)
    for table in tables([Line(**line) for line in found["lines"]]):  # type: ignore[attr-defined]
        console.print(table)
    console.print({name: value for name, value in found.items() if name != "lines"})
    console.print(
        f"{(time() - begun) / 60:.1f} minutes (what was kept from an earlier run is not in them)"
    )
    FOLDER.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
