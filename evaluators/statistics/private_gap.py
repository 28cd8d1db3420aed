"""Public against private samples: when a public score is higher than the private one by more than
chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from evaluators.metrics.student import student

MARK = 2.0
"""A gap beyond so many of its standard errors is marked."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, its standard error between clusters, and how many clusters carry it."""

    value: float
    error: float
    clusters: int


@dataclass(frozen=True, slots=True)
class Gap:
    """How much better the public mean is, with its error and 95 % interval; `marked` beyond two
    errors."""

    value: float
    error: float
    low: float
    high: float
    marked: bool


def gap(public: Mean, private: Mean, *, higher: bool = True) -> Gap | None:
    """Subtract two means over different samples; positive is: better in public. None with fewer
    than two clusters.

    The two share no task, so their errors add as squares; the interval is Welch's.

    >>> found = gap(Mean(70.0, 1.0, 80), Mean(66.0, 1.5, 40))
    >>> found.value, round(found.error, 3), found.marked
    (4.0, 1.803, True)
    """
    if public.clusters < 2 or private.clusters < 2:
        return None
    value = (public.value - private.value) * (1 if higher else -1)
    parts = [(side.error**2, side.clusters - 1) for side in (public, private)]
    error = sqrt(sum(square for square, _ in parts))
    if not error:
        return Gap(value, 0.0, value, value, value > 0)
    freedom = error**4 / sum(square**2 / degrees for square, degrees in parts)
    arm = error * student(max(int(freedom), 1), 0.95)
    return Gap(value, error, value - arm, value + arm, value > MARK * error)
