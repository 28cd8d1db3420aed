"""How far raters agree: Cohen's kappa, Krippendorff's alpha and pairwise Spearman correlation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from evaluators.metrics.means import mean
from evaluators.metrics.ranking import spearman

Level = Literal["nominal", "ordinal", "interval"]
"""What two values tell: that they differ, which is more, or by how much. Ratings from 0 to 5 are
ordinal."""

Floats = npt.NDArray[np.float64]
Ratings = Sequence[Sequence[float | None]] | Floats
"""One row a rater, one column a unit, None or NaN where the rater gave nothing."""

FEWEST_COMMON = 3


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement of two raters beyond chance, unweighted and with quadratic weights."""

    value: float | None
    quadratic: float | None
    raw_agreement: float | None
    n_valid: int


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha and the number of units with at least two ratings."""

    value: float | None
    n_pairable_units: int


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters by their row, and their rank correlation on common units; None if it is
    undefined."""

    first: int
    second: int
    rho: float | None
    n_common: int


@dataclass(frozen=True, slots=True)
class PairwiseSpearman:
    """The mean correlation over the pairs that have one."""

    mean: float | None
    pairs: tuple[RaterPair, ...]


def cohen_kappa(
    first: Sequence[str | None], second: Sequence[str | None], categories: Sequence[str]
) -> Kappa:
    """Compare two raters over ordered categories; None on either side drops the pair.

    >>> kappa = cohen_kappa(["no", "no", "yes", None], ["no", "yes", "yes", "no"], ["no", "yes"])
    >>> kappa.n_valid, round(kappa.value, 3)
    (3, 0.4)
    """
    if len(first) != len(second):
        raise ValueError(
            f"The raters gave {len(first)} and {len(second)} ratings. Give one of each per item."
        )
    table = np.zeros((len(categories), len(categories)))
    for first_rating, second_rating in zip(first, second, strict=True):
        if first_rating is not None and second_rating is not None:
            table[_position(first_rating, categories), _position(second_rating, categories)] += 1
    squares = np.square(np.subtract.outer(np.arange(len(categories)), np.arange(len(categories))))
    n = int(table.sum())
    raw = float(np.trace(table)) / n if n else None
    return Kappa(_kappa(table, np.minimum(squares, 1)), _kappa(table, squares), raw, n)


def krippendorff_alpha(ratings: Ratings, level: Level) -> Alpha:
    """Compare disagreement within units with that among all pairable ratings; undefined without two
    values.

    Our own code, because the package `krippendorff` is under the GPL and this project is not;
    the tests hold the two against each other at every level.

    >>> krippendorff_alpha([[0, 1, 1, 0, None], [0, 1, 0, 0, 1]], "nominal")
    Alpha(value=0.5333333333333333, n_pairable_units=4)
    """
    if level not in get_args(Level):
        raise ValueError(f"The level is {level!r}. Give one of {', '.join(get_args(Level))}.")
    table = _table(ratings)
    pairable = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    rated = ~np.isnan(pairable)
    if len(np.unique(pairable[rated])) < 2:
        return Alpha(None, pairable.shape[1])
    if level == "ordinal":
        pairable[rated] = _ranks(pairable[rated])
    observed = sum(_disagreement(unit[~np.isnan(unit)], level) for unit in pairable.T)
    return Alpha(1 - observed / _disagreement(pairable[rated], level), pairable.shape[1])


def pairwise_spearman(ratings: Ratings) -> PairwiseSpearman:
    """Average the rank correlation of all pairs of raters with three common units and some
    variation in both.

    >>> round(pairwise_spearman([[1, 2, 3, None], [1, 3, 2, 4], [None, None, 5, 5]]).mean, 12)
    0.5
    """
    table = _table(ratings)
    pairs = tuple(_rater_pair(table, i, j) for i, j in combinations(range(len(table)), 2))
    return PairwiseSpearman(mean([pair.rho for pair in pairs if pair.rho is not None]), pairs)


def _position(rating: str, categories: Sequence[str]) -> int:
    if rating not in categories:
        raise ValueError(
            f"A rating is {rating!r}. Give one of {', '.join(categories)}, or None to leave the "
            "pair out."
        )
    return categories.index(rating)


def _kappa(table: Floats, weights: npt.NDArray[np.int64]) -> float | None:
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    expected = float((weights * chance).sum())
    observed = float((weights * table).sum())
    return 1 - observed * float(table.sum()) / expected if expected else None


def _ranks(values: Floats) -> Floats:
    """Each value's average rank; the ordinal distance of two values is that between their ranks."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(values)
    return ranks


def _disagreement(values: Floats, level: Level) -> float:
    """Sum the distances of all ordered pairs, over one less than their number."""
    n = len(values)
    if level == "nominal":
        return (n * n - sum(count * count for count in Counter(values.tolist()).values())) / (n - 1)
    return float(2 * n * np.sum(np.square(values - values.mean())) / (n - 1))


def _rater_pair(table: Floats, first: int, second: int) -> RaterPair:
    common = table[[first, second]][:, ~np.isnan(table[first] + table[second])]
    enough = common.shape[1] >= FEWEST_COMMON
    return RaterPair(first, second, spearman(*common.tolist()) if enough else None, common.shape[1])


def _table(ratings: Ratings) -> Floats:
    """The ratings as numbers, NaN where there is none."""
    lengths = {len(row) for row in ratings}
    if len(lengths) > 1:
        raise ValueError(
            f"The raters' rows have {sorted(lengths)} units. Give every rater all units, None if "
            "unrated."
        )
    return np.array(ratings, dtype=np.float64).reshape(len(ratings), max(lengths, default=0))
