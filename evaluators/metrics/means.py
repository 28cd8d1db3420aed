"""Means that do not drift with the order of their terms and are absent when there is nothing to
average."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import fsum
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def mean(values: Sequence[float]) -> float | None:
    """Average the values; without any there is no average.

    >>> mean([1.0, 2.0]), mean([])
    (1.5, None)
    """
    return fsum(values) / len(values) if values else None


def mean_of_means(groups: Iterable[Sequence[float]]) -> float | None:
    """Average each group, then the groups, so that a large group weighs as much as a small one.

    >>> mean_of_means([[1.0, 1.0, 1.0], [0.0]])
    0.5
    """
    return mean([value for value in map(mean, groups) if value is not None])


def group(pairs: Iterable[tuple[Key, float]]) -> dict[Key, list[float]]:
    """Collect the values under their keys, keys in the order they first occur.

    >>> group([("b", 1.0), ("a", 2.0), ("b", 3.0)])
    {'b': [1.0, 3.0], 'a': [2.0]}
    """
    groups: dict[Key, list[float]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
