"""How many tasks it would take to tell two entries apart, and how small a difference so many tasks can find."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from evaluators.metrics.student import student

LEVEL = 0.95
MOST = 1_000_000
"""Beyond this the two are the same for all purposes."""


def clusters_needed(difference: float, error: float, clusters: int, power: float = 0.8) -> int | None:
    """How many clusters would separate the two with this power, if they differ as much as seen; None if never.

    >>> clusters_needed(difference=2.0, error=1.0, clusters=80), clusters_needed(0.0, 1.0, 80)
    (159, None)
    """
    _check(error, clusters)
    if not difference or abs(difference) * sqrt(MOST / clusters) < error:
        return None
    if not error:
        return clusters
    low, high = 2, MOST
    while low < high:
        middle = (low + high) // 2
        found = smallest_difference(error * sqrt(clusters / middle), middle, power) <= abs(difference)
        low, high = (low, middle) if found else (middle + 1, high)
    return low


def smallest_difference(error: float, clusters: int, power: float = 0.8) -> float:
    """Give the difference that so many clusters find with this power, at 5 %, on two sides.

    >>> round(smallest_difference(error=1.0, clusters=80), 3)
    2.832
    """
    _check(error, clusters)
    return error * (student(clusters - 1, LEVEL) + NormalDist().inv_cdf(power))


def power_note(difference: float, error: float, clusters: int, noun: str = "tasks") -> str:
    """Say in a sentence what it would take to separate two entries.

    >>> power_note(2.0, 1.0, 80)
    'A difference of 2 needs about 159 tasks to be found four times in five; there are 80.'
    >>> power_note(0.0, 1.0, 80)
    'No number of tasks would separate these two.'
    """
    needed = clusters_needed(difference, error, clusters)
    if needed is None:
        return f"No number of {noun} would separate these two."
    seen = f"A difference of {abs(difference):.3g}"
    if needed <= clusters:
        return f"{seen} is found four times in five with {needed} {noun}; there are {clusters}."
    return f"{seen} needs about {needed} {noun} to be found four times in five; there are {clusters}."


def _check(error: float, clusters: int) -> None:
    if clusters < 2 or error < 0:
        raise ValueError(f"There are {clusters} clusters and the error is {error}. Give at least 2, and 0 or more.")
