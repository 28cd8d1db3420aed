"""Two or more entries sample by sample: who did better where, and where they are furthest apart.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SampleValue:
    """One sample's value in one run."""

    sample_id: str
    cluster: str
    scenario: str
    value: float


@dataclass(frozen=True, slots=True)
class WinTally:
    """How often the first won, tied and lost among the samples of one scenario."""

    scenario: str
    won: int
    tied: int
    lost: int


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
