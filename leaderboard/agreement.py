"""How well a judge agrees with people, from pairs of answers to the same question about the same file. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Agreement:
    """Closed questions: share of equal answers with its 95 % interval, and kappa. Ratings: Spearman's rho."""

    closed: int
    equal: float | None
    low: float | None
    high: float | None
    kappa: float | None
    ratings: int
    spearman: float | None


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Split answers into closed ones and numbers, and compare each in its own way."""
    ratings = [(float(one), float(two)) for one, two in pairs if _is_number(one) and _is_number(two)]
    closed = [(one, two) for one, two in pairs if not (_is_number(one) and _is_number(two))]
    equal = sum(one == two for one, two in closed) / len(closed) if closed else None
    low, high = wilson(equal, len(closed)) if equal is not None else (None, None)
    return Agreement(len(closed), equal, low, high, _kappa(closed), len(ratings), _spearman(ratings))


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(0.5, 100)]
    [0.404, 0.596]
    """
    middle, wide = share + Z * Z / (2 * n), Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return (middle - wide) / (1 + Z * Z / n), (middle + wide) / (1 + Z * Z / n)


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa; None when only one answer occurs.

    >>> _kappa([("yes", "yes"), ("no", "no"), ("yes", "no"), ("no", "no")])
    0.5
    """
    ours, theirs = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    n = len(pairs)
    chance = sum(ours[key] * theirs[key] for key in ours) / (n * n) if n else 1.0
    return None if chance == 1 else (sum(one == two for one, two in pairs) / n - chance) / (1 - chance)


def _spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Spearman's rho with shared ranks; None when either side does not vary."""
    if len(pairs) < 3:
        return None
    ranks = [_ranks([pair[side] for pair in pairs]) for side in (0, 1)]
    if any(len(set(side)) < 2 for side in ranks):
        return None
    return float(np.corrcoef(np.array(ranks)).flat[1])


def _ranks(values: Sequence[float]) -> list[float]:
    counts = Counter(values)
    before, found = 0, {}
    for value in sorted(counts):
        found[value] = before + (counts[value] + 1) / 2
        before += counts[value]
    return [found[value] for value in values]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
