"""One evaluator's numbers in one mode over one split, with intervals from starts drawn again, and
the fakes beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.metrics.means import mean
from evaluators.metrics.outcomes import Category
from evaluators.suites.sc3.agreement import Match, agree
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.resampling import draw, ends_around
from evaluators.suites.sc3.table.controls import faked
from evaluators.suites.sc3.table.controls import matches as trial_matches
from evaluators.suites.sc3.table.trials import TableTrial
from tests.bench.sc3_rolled import RolledStart

SPLITS = ("in_distribution", "out_of_distribution", "pooled")
RESAMPLES = 400
AGREED = ("pearson_r", "pearson_r_within", "mmrv", "rate_error")

RUNS: Mapping[str, Mapping[str, str]] = {
    "second real run: the ceiling": {"offline": "again offline", "online": "again online"},
    "real run as annotated": {"offline": "real as annotated"},
    "simulator with four times the noise": {"online": "noisy"},
    "never grasps": {"online": "never grasps"},
    "frozen": {"online": "frozen"},
    "grey": {"online": "grey"},
    "noise": {"online": "noise"},
}
FAKES = {"criterion mean": criterion_mean, "shuffled policies": shuffled_policies}


@dataclass(frozen=True, slots=True)
class Line:
    """Numbers by name, with the interval of each that has one."""

    evaluator: str
    seed: int
    mode: str
    split: str
    values: Mapping[str, float | None]
    sure: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluator in one mode: its matches, and what else was read off its rollouts."""

    name: str
    seed: int
    mode: str
    matches: Sequence[Match]
    rollouts: Sequence[RolledStart] = ()
    stops: Sequence[int | None] = ()
    tau: float | None = None


def lines(evaluated: Evaluated) -> Iterator[Line]:
    """In distribution, out of it, and both."""
    for split in SPLITS:
        rows = [n for n, m in enumerate(evaluated.matches) if split in (m.split, "pooled")]
        if rows:
            yield _line(evaluated, split, rows)


def control_lines(trials: Sequence[TableTrial]) -> Iterator[Line]:
    """The second real run, worlds that know too little, and fakes that look at nothing."""
    for name, runs in RUNS.items():
        for mode, run in runs.items():
            yield from lines(Evaluated(name, 0, mode, trial_matches(trials, run)))
    real = trial_matches(trials, "real")
    for name, fake in FAKES.items():
        yield from lines(Evaluated(name, 0, "online", faked(trials, fake(real))))


def _line(evaluated: Evaluated, split: str, rows: Sequence[int]) -> Line:
    matched = [evaluated.matches[row] for row in rows]
    agreed, draws = agree(matched), draw(matched, RESAMPLES)
    drawn = draws.agreement()
    rates = {str(rate.category): rate.value for rate in agreed.reproduction.rates}
    values = {
        **{name: getattr(agreed, name) for name in AGREED},
        "reproduction": agreed.reproduction.average,
        **{str(category): rates.get(str(category)) for category in Category},
        **_read(evaluated, rows),
    }
    sure = {name: ends_around(getattr(drawn, name), values[name], name) for name in AGREED}
    sure["reproduction"] = ends_around(draws.reproduction(), values["reproduction"])
    known = {name: interval for name, interval in sure.items() if interval is not None}
    return Line(evaluated.name, evaluated.seed, evaluated.mode, split, values, known)


def _read(evaluated: Evaluated, rows: Sequence[int]) -> dict[str, float | None]:
    shown = [evaluated.rollouts[row] for row in rows] if evaluated.rollouts else []
    us = [u for rollout in shown for u in rollout.u_chunk]
    psnrs = [rollout.psnr for rollout in shown if rollout.psnr is not None]
    stops = [evaluated.stops[row] is not None for row in rows] if evaluated.stops else []
    return {
        "psnr": mean(psnrs),
        "mean_u": mean(us),
        "stopped": mean(stops),
        "tau": evaluated.tau,
    }
