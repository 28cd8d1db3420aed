"""Two entries on the same samples: differences with intervals that respect tasks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20260801
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """One sample's value in one run."""

    sample_id: str
    cluster: str
    scenario: str
    value: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How far the first is ahead of the second, over the samples that both have."""

    mean: float
    low: float
    high: float
    p: float
    n: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How often the first won, tied and lost among the samples of one scenario."""

    scenario: str
    won: int
    tied: int
    lost: int


def difference(first: Sequence[Scored], second: Sequence[Scored]) -> Difference | None:
    """Mean of the paired differences; 95 % interval by bootstrap over tasks, p by flipping whole tasks' signs.

    None with fewer than two tasks in common: one task says nothing about the next.
    """
    sums, counts = _by_cluster(first, second)
    if len(sums) < 2:
        return None
    dice = np.random.default_rng(SEED)
    drawn = dice.integers(0, len(sums), (RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    flipped = np.abs((dice.choice([-1.0, 1.0], (RESAMPLES, len(sums))) * sums).sum(axis=1))
    p = (1 + int((flipped >= abs(sums.sum()) - 1e-12).sum())) / (1 + RESAMPLES)
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(float(sums.sum() / counts.sum()), float(low), float(high), p, int(counts.sum()), len(sums))


def tallies(first: Sequence[Scored], second: Sequence[Scored], best_is_high: bool) -> list[Tally]:
    """Wins, ties and losses by scenario."""
    sign = 1 if best_is_high else -1
    theirs = {one.sample_id: one.value for one in second}
    found: dict[str, list[int]] = {}
    for one in first:
        if one.sample_id in theirs:
            ahead = sign * (one.value - theirs[one.sample_id])
            found.setdefault(one.scenario, [0, 0, 0])[0 if ahead > 0 else 1 if ahead == 0 else 2] += 1
    return [Tally(scenario, *counts) for scenario, counts in found.items()]


def widest(runs: Mapping[str, Sequence[Scored]], most: int = 12) -> list[tuple[str, float]]:
    """Samples on which the runs differ most, with how far apart they are."""
    values: dict[str, list[float]] = {}
    for some in runs.values():
        for one in some:
            values.setdefault(one.sample_id, []).append(one.value)
    apart = [(sample, max(found) - min(found)) for sample, found in values.items() if len(found) == len(runs)]
    return sorted(apart, key=lambda pair: (-pair[1], pair[0]))[:most]


def _by_cluster(first: Sequence[Scored], second: Sequence[Scored]) -> tuple[Floats, Floats]:
    theirs = {one.sample_id: one.value for one in second}
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for one in first:
        if one.sample_id in theirs:
            sums[one.cluster] = sums.get(one.cluster, 0.0) + one.value - theirs[one.sample_id]
            counts[one.cluster] = counts.get(one.cluster, 0) + 1
    return np.array(list(sums.values())), np.array(list(counts.values()), np.float64)
