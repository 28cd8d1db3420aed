"""The SC3 experiment on the simulated bench: can the small model tell seven policies apart, and can the fakes?

`python -m tests.bench.sc3` trains what is missing, rolls out, prints the tables and writes .armillary/bench/sc3.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from evaluators.metrics.image import psnr
from evaluators.metrics.outcomes import Category, ObjectOutcome
from evaluators.models.dynamics_annotator import Annotator
from evaluators.models.dynamics_world import DynamicsWorld, through_tokeniser
from evaluators.suites.sc3.agreement import Agreement, Match, agree
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.rollouts import BENCH, Episode, RolloutConfig, real, roll_out
from evaluators.suites.sc3.stopping import cut, random_stops, stops, tune
from evaluators.suites.sc3.trajectories import Trajectory
from evaluators.suites.sc3.worlds import (
    NOISE_LEVELS,
    WorldModel,
    copy_last_frame,
    never_grasps,
    noisy_simulator,
    simulator,
)
from evaluators.worlds.bussing_starts import Start
from evaluators.worlds.policies import Policy, checkpoints, starts_of
from tests.bench.report import shown
from tests.bench.sc3_models import FOLDER, SEEDS, VARIANTS, Effort, Variant, annotator, model, tokeniser

HELD_OUT = 5
BATCHES = (1, 4, 16)
SPLITS = ("in_distribution", "out_of_distribution", "pooled")


@dataclass(frozen=True, slots=True)
class Line:
    """One evaluator in one mode over one split."""

    evaluator: str
    seed: int
    mode: str
    split: str
    pearson_r: float | None
    mmrv: float | None
    pearson_r_within: float | None
    reproduction: float | None
    rate_error: float | None
    categories: Mapping[str, float | None]
    psnr: float | None = None
    stopped: float | None = None
    mean_u: float | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What every evaluator is compared with: the policies, their starts, and what really happened."""

    policies: Mapping[int, Policy]
    episodes: tuple[Episode, ...]
    truth: tuple[Trajectory, ...]
    outcomes: tuple[ObjectOutcome, ...]
    reader: Annotator

    @property
    def starts(self) -> tuple[Start, ...]:
        return tuple(episode.start for episode in self.episodes)

    def recorded(self) -> tuple[Episode, ...]:
        """The same starts, driven by the recorded actions."""
        return tuple(replace(e, recorded=t.actions) for e, t in zip(self.episodes, self.truth, strict=True))

    def read(self, made: Sequence[Trajectory]) -> tuple[ObjectOutcome, ...]:
        """What the annotator sees in rollouts."""
        return self.reader.annotate([one.frames for one in made], self.starts)

    def matches(self, found: Sequence[ObjectOutcome]) -> list[Match]:
        splits = {one.id: one.split for one in checkpoints()}
        return [
            Match(e.start.id, e.policy, splits[e.policy], (was,), (now,))
            for e, was, now in zip(self.episodes, self.outcomes, found, strict=True)
        ]


def scene(reader: Annotator, starts: int, kind: str = "test") -> Scene:
    """The policies on the bench itself."""
    policies = {one.id: one.policy for one in checkpoints()}
    episodes = tuple(Episode(one.id, start) for one in checkpoints() for start in starts_of(one, starts, kind))
    truth = real(policies, episodes, BENCH)
    outcomes = simulator().outcomes([e.start for e in episodes], [t.actions for t in truth])
    return Scene(policies, episodes, truth, outcomes, reader)


def lines(
    name: str, seed: int, mode: str, here: Scene, found: Sequence[ObjectOutcome], made: Sequence[Trajectory] = ()
) -> Iterator[Line]:
    """An evaluator's numbers per split and pooled; PSNR offline only."""
    matches = here.matches(found)
    for split in SPLITS:
        rows = [n for n, match in enumerate(matches) if split in (match.split, "pooled")]
        agreed = agree([matches[row] for row in rows])
        chosen = [made[row] for row in rows] if made else []
        line = _line(name, seed, mode, split, agreed)
        if chosen and mode == "offline":
            line = replace(line, psnr=fmean(_psnr(made[row], here.truth[row]) for row in rows))
        us = [float(value) for one in chosen for value in one.u_chunk]
        stopped = fmean(one.terminated_at is not None for one in chosen) if chosen and mode == "online" else None
        yield replace(line, stopped=stopped, mean_u=fmean(us) if us else None)


def _line(name: str, seed: int, mode: str, split: str, agreed: Agreement) -> Line:
    categories = {str(rate.category): rate.value for rate in agreed.reproduction.rates}
    return Line(
        name,
        seed,
        mode,
        split,
        agreed.pearson_r,
        agreed.mmrv,
        agreed.pearson_r_within,
        agreed.reproduction.average,
        agreed.rate_error,
        categories,
    )


def _psnr(made: Trajectory, truth: Trajectory) -> float:
    length = min(made.steps, truth.steps)
    value = psnr(reference=truth.frames[:, 1 : length + 1], generated=made.frames[:, 1 : length + 1]).value
    return value or 0.0


def evaluate(name: str, seed: int, world: WorldModel, here: Scene, config: RolloutConfig = BENCH) -> Iterator[Line]:
    """A world model in both modes, never stopped."""
    for mode, episodes in (("offline", here.recorded()), ("online", here.episodes)):
        made = roll_out(world, here.policies, episodes, config)
        yield from lines(name, seed, mode, here, here.read(made), made)


def fakes(here: Scene) -> Iterator[Line]:
    """Evaluators that know nothing of any policy, or too little; those of outcomes alone have no frames."""
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


def learned(world: DynamicsWorld, name: str, seed: int, here: Scene, held_out: Scene | None) -> Iterator[Line]:
    """A trained variant; the full one also stopped by U, beside random stops at the same rate."""
    config = replace(BENCH, horizon=world.model.config.horizon)
    view = world.world()
    offline = roll_out(view, here.policies, here.recorded(), config)
    yield from lines(name, seed, "offline", here, here.read(offline), offline)
    online = roll_out(view, here.policies, here.episodes, config)
    yield from lines(name, seed, "online", here, here.read(online), online)
    if held_out is None:
        return
    practised = roll_out(view, held_out.policies, held_out.episodes, config)
    tau = tune(practised, lambda made: agree(held_out.matches(held_out.read(made))).pearson_r)
    for what, stopped in (
        (f"{name}, stopped by U", [cut(one, tau, BENCH.execute) for one in online]),
        (f"{name}, stopped at random", random_stops(online, stops(online, tau), BENCH.execute, seed)),
    ):
        yield from lines(what, seed, "online", here, here.read(stopped), stopped)
    for level in (0.5, 0.8, 0.9, 0.95):
        at = float(np.quantile([u for one in online for u in one.u_chunk], level))
        swept = [cut(one, at, BENCH.execute) for one in online]
        yield from lines(f"{name}, tau at the {level:.0%} quantile of U", seed, "online", here, here.read(swept), swept)


def dead_world_u(world: DynamicsWorld, here: Scene) -> float:
    """What the model's own U says of a world in which nothing happens."""
    view = world.world()
    dead = WorldModel("copy with U", copy_last_frame().forward, view.inverse, view.scale)
    made = roll_out(dead, here.policies, here.episodes[::6], BENCH)
    return fmean(float(value) for one in made for value in one.u_chunk)


def throughput(world: DynamicsWorld, here: Scene) -> dict[str, float]:
    """Rollouts a CPU second, one by one and in batches."""
    found = {}
    for size in BATCHES:
        chosen, begun = here.episodes[:16], process_time()
        for first in range(0, len(chosen), size):
            roll_out(world.world(), here.policies, chosen[first : first + size], BENCH)
        found[str(size)] = len(chosen) / (process_time() - begun)
    return found


def experiment(
    folder: Path, effort: Effort, seeds: Sequence[int], starts: int, variants: Sequence[Variant] = VARIANTS
) -> dict[str, object]:
    """All lines; those of a finished part are kept in the folder and not made again."""
    reader = annotator(folder, effort)
    here, held_out = scene(reader, starts), scene(reader, HELD_OUT, "tuning")
    found = _once(folder / "fakes.json", lambda: list(fakes(here)))
    eyes = tokeniser(folder, effort)
    found += _once(
        folder / "ceiling.json", lambda: list(evaluate("simulator through tokeniser", 0, through_tokeniser(eyes), here))
    )
    for seed in seeds:
        for variant in variants:
            spot = folder / f"{variant.name.replace(' ', '-')}-{seed}.json"
            full = held_out if variant.name == "full" else None
            found += _once(spot, lambda v=variant, s=seed, f=full: _variant(folder, v, s, effort, here, f))  # type: ignore[misc]
    first = model(folder, variants[0], seeds[0], effort)
    error = 1 - np.mean([a == b for a, b in zip(here.read(here.truth), here.outcomes, strict=True)])
    return {
        "lines": [asdict(line) for line in found],
        "annotator_error": float(error),
        "mean_u_of_a_dead_world": dead_world_u(first, here),
        "rollouts_a_cpu_second": throughput(first, here),
        "starts": starts,
        "seeds": list(seeds),
    }


def _variant(
    folder: Path, variant: Variant, seed: int, effort: Effort, here: Scene, held_out: Scene | None
) -> list[Line]:
    return list(learned(model(folder, variant, seed, effort), variant.name, seed, here, held_out))


def _once(path: Path, make: Callable[[], list[Line]]) -> list[Line]:
    if not path.is_file():
        path.write_text(json.dumps([asdict(line) for line in make()]))
    return [Line(**row) for row in json.loads(path.read_text())]


COLUMNS = ("pearson_r", "mmrv", "pearson_r_within", "reproduction", "rate_error", "psnr", "stopped", "mean_u")


def tables(found: Sequence[Line]) -> Iterator[Table]:
    """Mean over seeds, with the least and the greatest in brackets; a table a mode and split."""
    for mode in ("offline", "online"):
        for split in SPLITS:
            table = Table("evaluator", *COLUMNS, title=f"{mode}, {split}")
            for name in dict.fromkeys(line.evaluator for line in found):
                same = [x for x in found if (x.evaluator, x.mode, x.split) == (name, mode, split)]
                if same:
                    table.add_row(name, *(_spread([getattr(x, column) for x in same]) for column in COLUMNS))
            yield table
        table = Table("evaluator", *Category, title=f"{mode}, reproduction by category, pooled")
        for name in dict.fromkeys(line.evaluator for line in found):
            same = [x for x in found if (x.evaluator, x.mode, x.split) == (name, mode, "pooled")]
            if same:
                table.add_row(name, *(_spread([x.categories[category] for x in same]) for category in Category))
        yield table


def _spread(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "—"
    ends = f" [{min(known):.2f}, {max(known):.2f}]" if len(known) > 1 else ""
    return f"{fmean(known):.3f}{ends}"


def main() -> int:
    """The whole experiment, three seeds."""
    torch.set_num_threads(1)
    begun = process_time()
    found = experiment(FOLDER, Effort(), SEEDS, 36)
    console = Console(width=170)
    listed = [Line(**line) for line in found["lines"]]  # type: ignore[attr-defined]
    for table in tables(listed):
        console.print(table)
    rows = {name: value for name, value in found.items() if name != "lines"}
    console.print(rows)
    console.print(shown("CPU seconds of this process", process_time() - begun))
    FOLDER.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
