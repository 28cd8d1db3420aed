"""The suite's numbers over many draws of starts at once, from which intervals are made.

Each draw takes as many starts of every policy as there are, with replacement; all numbers rest on
the same draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.metrics.outcomes import Category, categorise
from evaluators.suites.sc3.agreement import Match, rolled
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
TAILS = (0.025, 0.975)
BOUNDS = {"pearson_r": (-1.0, 1.0), "pearson_r_within": (-1.0, 1.0)}
"""Of the correlations; every other number of agreement lies between 0 and 1."""


@dataclass(frozen=True, slots=True)
class ResampledAgreement:
    """What `agree` finds, one value a draw; NaN where a draw has none."""

    pearson_r: Floats
    mmrv: Floats
    pearson_r_within: Floats
    rate_error: Floats


@dataclass(frozen=True, slots=True)
class Draws:
    """Which matches each draw has [draws, matches], and both sides' rates [draws, policies,
    criteria].

    `endings` are the reproduction rates [draws, categories], NaN for a category that a draw has
    none of.
    """

    rows: Ints
    predicted: Floats
    real: Floats
    endings: Floats

    def agreement(self, criteria: Sequence[str] = CRITERIA) -> ResampledAgreement:
        """Predicted against real, over all points of these criteria."""
        columns = [CRITERIA.index(name) for name in criteria]
        sides = self.predicted[:, :, columns], self.real[:, :, columns]
        predicted, real = (side.reshape(len(side), -1) for side in sides)
        inside = [
            np.round(side - side.mean(axis=1, keepdims=True), 12).reshape(len(side), -1)
            for side in sides
        ]
        return ResampledAgreement(
            _pearson(predicted, real),
            _mmrv(predicted, real),
            _pearson(*inside),
            _error(predicted, real),
        )

    def reproduction(self) -> Floats:
        """The mean over the categories that a draw has."""
        return _mean(self.endings)

    def mean(self, values: Sequence[float | None]) -> Floats:
        """The mean of something that each match has one of, or None."""
        return _mean(np.array(values, float)[self.rows])


def draw(matches: Sequence[Match], count: int) -> Draws:
    """Starts drawn again within each policy, so many times."""
    rng = np.random.default_rng(0)
    policies = np.array([match.policy for match in matches])
    members = [np.flatnonzero(policies == policy) for policy in dict.fromkeys(policies.tolist())]
    picks = [mine[rng.integers(0, len(mine), (count, len(mine)))] for mine in members]
    rows = np.concatenate(picks, axis=1)
    predicted, real = (_rates(picks, *_held(outcomes)) for outcomes in _sides(matches))
    return Draws(rows, predicted, real, _endings(matches, rows))


def ends(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of the draws; None where fewer than half of them have a value."""
    present = np.sort(values[~np.isnan(values)])
    if len(present) < max(1, len(values) // 2):
        return None
    low, high = (_at(present, share * (len(present) - 1)) for share in TAILS)
    return low, high


def ends_around(
    values: Floats, figure: float | None, metric: str = ""
) -> tuple[float, float] | None:
    """The same spread laid around the figure itself, inside its bounds.

    A draw repeats some starts and leaves others out, so its rates are noisier than those of all
    starts, and agreement between noisier rates is lower: the middle of the draws lies below the
    figure, with few starts so far that the figure would lie outside of its own interval.
    """
    sure = ends(values)
    if sure is None or figure is None:
        return None
    shift = figure - float(np.nanmedian(values))
    least, most = BOUNDS.get(metric, (0.0, 1.0))
    low, high = (min(max(end + shift, least), most) for end in sure)
    return low, high


def _at(ordered: Floats, place: float) -> float:
    """Between two neighbours in proportion, as numpy's quantile, which takes ten times as long for
    so few."""
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return float(ordered[before] + (place - before) * (ordered[after] - ordered[before]))


def _sides(matches: Sequence[Match]) -> tuple[list[Floats], list[Floats]]:
    """For each match the criteria of its objects [objects, criteria], in the rollout and in
    reality."""
    both = ([rolled(match) for match in matches], [match.real for match in matches])
    predicted, real = (
        [
            np.array([[getattr(outcome, name) for name in CRITERIA] for outcome in outcomes], float)
            for outcomes in side
        ]
        for side in both
    )
    return predicted, real


def _held(outcomes_by_match: Sequence[Floats]) -> tuple[Floats, Floats]:
    """How many objects of each match meet each criterion, and how many there are."""
    return np.stack([outcomes.sum(axis=0) for outcomes in outcomes_by_match]), np.array(
        [float(len(outcomes)) for outcomes in outcomes_by_match]
    )


def _rates(picks: Sequence[Ints], held: Floats, objects: Floats) -> Floats:
    return np.stack(
        [held[mine].sum(axis=1) / objects[mine].sum(axis=1)[:, None] for mine in picks], axis=1
    )


def _endings(matches: Sequence[Match], rows: Ints) -> Floats:
    kinds = list(Category)
    real = np.array([kinds.index(categorise(match.real)) for match in matches])
    predicted = np.array(
        [kinds.index(categorise(match.rollout)) if match.rollout else -1 for match in matches]
    )
    is_category = np.eye(len(kinds))[real]
    with np.errstate(invalid="ignore"):
        rates: Floats = (is_category * (predicted == real)[:, None])[rows].sum(
            axis=1
        ) / is_category[rows].sum(axis=1)
    return rates


def _pearson(predicted: Floats, real: Floats) -> Floats:
    """Pearson's r of each row; scipy's, which gives p too, takes 14 times as long for 1,000
    draws."""
    correlations = np.clip((_unit(predicted) * _unit(real)).sum(axis=1), -1.0, 1.0)
    flat = (np.ptp(predicted, axis=1) == 0) | (np.ptp(real, axis=1) == 0)
    return np.where(flat, np.nan, correlations)


def _unit(values: Floats) -> Floats:
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit: Floats = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    return unit


def _mmrv(predicted: Floats, real: Floats) -> Floats:
    gaps = np.abs(real[:, :, None] - real[:, None, :])
    swapped = (predicted[:, :, None] > predicted[:, None, :]) != (
        real[:, :, None] > real[:, None, :]
    )
    violations: Floats = (gaps * swapped).max(axis=2).mean(axis=1)
    return violations


def _error(predicted: Floats, real: Floats) -> Floats:
    return np.asarray(np.abs(predicted - real).mean(axis=1), float)


def _mean(values: Floats) -> Floats:
    """The mean of each row's known values; NaN where nothing is known."""
    present = ~np.isnan(values)
    counts = present.sum(axis=1)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(present, values, 0.0).sum(axis=1) / np.where(
            counts > 0, counts, np.nan
        )
    return means
