"""How well a judge agrees with people, from pairs of answers to the same question about the same
file. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054
RESAMPLES, SEED = 1000, 20260801
Table = NDArray[np.float64]
"""How often the judge gave one answer (row) while people gave another (column)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; None where it has no meaning."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Closed questions: share of equal answers, kappa, alpha. Ratings: Spearman's rho and ordinal
    alpha."""

    closed: int
    equal: Estimate
    kappa: Estimate
    alpha: Estimate
    ratings: int
    spearman: Estimate
    rating_alpha: Estimate


def agreement(pairs: Sequence[tuple[str, str]]) -> JudgeAgreement:
    """Split answers into closed ones and numbers, and compare each in its own way."""
    ratings = [
        (float(ours), float(theirs))
        for ours, theirs in pairs
        if _is_number(ours) and _is_number(theirs)
    ]
    closed = [
        (ours, theirs) for ours, theirs in pairs if not (_is_number(ours) and _is_number(theirs))
    ]
    words, values = _table(closed), _table(ratings)
    return JudgeAgreement(
        closed=len(closed),
        equal=_equal(words),
        kappa=_estimate(words, kappa),
        alpha=_estimate(words, alpha),
        ratings=len(ratings),
        spearman=_estimate(values, spearman),
        rating_alpha=_estimate(values, ordinal_alpha),
    )


def _table(pairs: Sequence[tuple[object, object]]) -> Table:
    answers = sorted(
        {value for pair in pairs for value in pair},
        key=lambda value: (isinstance(value, str), value),
    )
    place = {value: number for number, value in enumerate(answers)}
    table = np.zeros((len(answers), len(answers)))
    for ours, theirs in pairs:
        table[place[ours], place[theirs]] += 1
    return table


def _equal(table: Table) -> Estimate:
    n = int(table.sum())
    if not n:
        return Estimate()
    share = float(np.trace(table)) / n
    return Estimate(share, *wilson(share, n))


def _estimate(table: Table, figure: Callable[[Table], float | None]) -> Estimate:
    """A figure of a table with the interval that drawing as many pairs again gives."""
    n = int(table.sum())
    value = figure(table) if n > 2 else None
    if value is None:
        return Estimate()
    redrawn_tables = (
        np.random.default_rng(SEED)
        .multinomial(n, (table / n).ravel(), RESAMPLES)
        .reshape(-1, *table.shape)
    )
    redrawn_values = [
        redrawn_value
        for redrawn_table in redrawn_tables
        if (redrawn_value := figure(redrawn_table.astype(np.float64))) is not None
    ]
    low, high = np.quantile(redrawn_values, [0.025, 0.975]) if redrawn_values else (None, None)
    return Estimate(
        value, None if low is None else float(low), None if high is None else float(high)
    )


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(0.5, 100)]
    [0.404, 0.596]
    """
    middle, wide = share + Z * Z / (2 * n), Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return (middle - wide) / (1 + Z * Z / n), (middle + wide) / (1 + Z * Z / n)


def kappa(table: Table) -> float | None:
    """Cohen's kappa; None when only one answer occurs.

    >>> kappa(np.array([[2.0, 0.0], [1.0, 1.0]]))
    0.5
    """
    n = table.sum()
    chance = float((table.sum(axis=1) * table.sum(axis=0)).sum() / (n * n)) if n else 1.0
    return None if chance == 1 else (float(np.trace(table) / n) - chance) / (1 - chance)


def alpha(table: Table, distance: Table | None = None) -> float | None:
    """Krippendorff's alpha of two coders: nominal, or with squared distances; None without
    variation.

    >>> round(alpha(np.array([[2.0, 0.0], [1.0, 1.0]])), 3)
    0.533
    """
    apart = 1 - np.eye(len(table)) if distance is None else distance
    pairs = table + table.T
    counts, n = pairs.sum(axis=0), pairs.sum()
    by_chance = float((np.outer(counts, counts) * apart).sum() / (n - 1)) if n > 1 else 0.0
    return None if by_chance == 0 else 1 - float((pairs * apart).sum()) / by_chance


def ordinal_alpha(table: Table) -> float | None:
    """Krippendorff's alpha of two coders whose answers have an order: two answers are as far apart
    as their ranks.

    >>> round(ordinal_alpha(np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])), 3)
    0.884
    """
    counts = (table + table.T).sum(axis=0)
    ranks = np.cumsum(counts) - counts / 2
    return alpha(table, np.square(ranks[:, None] - ranks[None, :]))


def spearman(table: Table) -> float | None:
    """Spearman's rho with shared ranks; None when either side does not vary."""
    n = table.sum()
    sides = [table.sum(axis=1), table.sum(axis=0)]
    ranks = [np.cumsum(side) - (side - 1) / 2 - (n + 1) / 2 for side in sides]
    spreads = [float((side * rank * rank).sum()) for side, rank in zip(sides, ranks, strict=True)]
    if not spreads[0] * spreads[1]:
        return None
    return float(ranks[0] @ table @ ranks[1]) / sqrt(spreads[0] * spreads[1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
