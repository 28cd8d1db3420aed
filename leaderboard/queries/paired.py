"""Two entries on the same samples: differences with intervals that respect tasks. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 20260801
TAIL = 0.025
Z = 1.959963984540054
POWER = 0.8416212335729143
"""Where a normal variable leaves a fifth above it: a difference is to be found four times in
five."""

MOST_TASKS = 1_000_000
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampleValue:
    """One sample's value in one run."""

    sample_id: str
    cluster: str
    scenario: str
    value: float


@dataclass(frozen=True, slots=True)
class SampleDifference:
    """How far the first is ahead of the second, over the samples that both have; `error` is its
    standard error."""

    mean: float
    low: float
    high: float
    p: float
    n: int
    clusters: int
    error: float = 0.0

    @property
    def note(self) -> str:
        """How many tasks would tell the two apart four times in five, if they differ as much as
        seen."""
        needed = clusters_needed(self.mean, self.error, self.clusters)
        if needed is None:
            return "No number of tasks would separate these two."
        if needed <= self.clusters:
            return f"Found four times in five with {needed} tasks; there are {self.clusters}."
        return f"About {needed} tasks would find it four times in five; there are {self.clusters}."


@dataclass(frozen=True, slots=True)
class WinTally:
    """How often the first won, tied and lost among the samples of one scenario."""

    scenario: str
    won: int
    tied: int
    lost: int


def difference(
    first: Sequence[SampleValue], second: Sequence[SampleValue]
) -> SampleDifference | None:
    """Mean of the paired differences; see `by_cluster`. None with fewer than two tasks in
    common."""
    sums, counts = _by_cluster(first, second)
    return (
        by_cluster(sums / counts.sum(), counts / counts.sum(), int(counts.sum()))
        if len(sums)
        else None
    )


def by_cluster(contributions: Floats, weights: Floats, n: int) -> SampleDifference | None:
    """A difference from what each task gives of it: 95 % interval by bootstrap over tasks, p by
    flipping their signs.

    Both arms are stretched for few tasks and the one towards the longer tail too, as the board's
    intervals are. None with fewer than two tasks: one task says nothing about the next.
    """
    count = len(contributions)
    if count < 2:
        return None
    dice = np.random.default_rng(SEED)
    mean = float(contributions.sum())
    apart = contributions - mean * weights
    drawn = dice.integers(0, count, (RESAMPLES, count))
    low, high = np.quantile(apart[drawn].sum(axis=1), [TAIL, 1 - TAIL]) * widening(count)
    arm = _tail_arm(apart)
    flipped = np.abs((dice.choice([-1.0, 1.0], (RESAMPLES, count)) * contributions).sum(axis=1))
    p = (1 + int((flipped >= abs(mean) - 1e-12).sum())) / (1 + RESAMPLES)
    error = float(np.sqrt((apart**2).sum() * count / (count - 1)))
    ends = mean + float(low) + min(arm, 0.0), mean + float(high) + max(arm, 0.0)
    return SampleDifference(mean, *ends, p, n, count, error)


def widening(clusters: int) -> float:
    """By how much the bootstrap is too narrow: Student's t for the normal, and n - 1 for n in the
    variance.

    >>> [round(widening(n), 2) for n in (80, 30, 7, 4)]
    [1.02, 1.06, 1.35, 1.87]
    """
    return _student(clusters - 1) / Z * sqrt(clusters / (clusters - 1))


def _tail_arm(apart: Floats) -> float:
    """What the arm towards the longer tail lacks, by Cornish and Fisher; negative is on the
    left."""
    count, squares = len(apart), float((apart**2).sum())
    if not squares:
        return 0.0
    t = _student(count - 1)
    return float((apart**3).sum()) / squares * (t * t + 2) / 6 * sqrt(count / (count - 1))


def _student(freedom: int) -> float:
    """Student's t at 95 %, by its expansion around the normal; for one and two degrees of freedom
    as tables have it."""
    if freedom < 3:
        return (12.706, 4.303)[freedom - 1]
    z, f = Z, float(freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    last = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return float(z + sum(term / f ** (number + 1) for number, term in enumerate((*terms, last))))


def clusters_needed(difference: float, error: float, clusters: int) -> int | None:
    """How many tasks would separate the two four times in five, if they differ as much as seen;
    None if never.

    >>> clusters_needed(2.0, 1.0, 80), clusters_needed(0.0, 1.0, 80)
    (159, None)
    """
    if not difference or abs(difference) * sqrt(MOST_TASKS / clusters) < error:
        return None
    ratio = (error / difference) ** 2 * clusters
    needed = 2.0
    for _ in range(50):
        needed = max(ratio * (_student(max(ceil(needed) - 1, 1)) + POWER) ** 2, 2.0)
    return ceil(round(needed, 6))


def tallies(
    first: Sequence[SampleValue], second: Sequence[SampleValue], best_is_high: bool
) -> list[WinTally]:
    """Wins, ties and losses by scenario."""
    sign = 1 if best_is_high else -1
    second_values = {scored.sample_id: scored.value for scored in second}
    counts_by_scenario: dict[str, list[int]] = {}
    for scored in first:
        if scored.sample_id in second_values:
            ahead = sign * (scored.value - second_values[scored.sample_id])
            counts_by_scenario.setdefault(scored.scenario, [0, 0, 0])[
                0 if ahead > 0 else 1 if ahead == 0 else 2
            ] += 1
    return [WinTally(scenario, *counts) for scenario, counts in counts_by_scenario.items()]


def widest(runs: Mapping[str, Sequence[SampleValue]], limit: int = 12) -> list[tuple[str, float]]:
    """Samples on which the runs differ most, with how far apart they are."""
    values: dict[str, list[float]] = {}
    for scored_samples in runs.values():
        for scored in scored_samples:
            values.setdefault(scored.sample_id, []).append(scored.value)
    apart = [
        (sample, max(sample_values) - min(sample_values))
        for sample, sample_values in values.items()
        if len(sample_values) == len(runs)
    ]
    return sorted(apart, key=lambda pair: (-pair[1], pair[0]))[:limit]


def _by_cluster(
    first: Sequence[SampleValue], second: Sequence[SampleValue]
) -> tuple[Floats, Floats]:
    second_values = {scored.sample_id: scored.value for scored in second}
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for scored in first:
        if scored.sample_id in second_values:
            sums[scored.cluster] = (
                sums.get(scored.cluster, 0.0) + scored.value - second_values[scored.sample_id]
            )
            counts[scored.cluster] = counts.get(scored.cluster, 0) + 1
    return np.array(list(sums.values())), np.array(list(counts.values()), np.float64)
