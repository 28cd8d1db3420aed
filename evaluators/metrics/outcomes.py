"""SC3-Eval's outcomes: how a trajectory ended, and how often a rollout ends like the real one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluators.metrics.means import mean


class Category(StrEnum):
    """How a trajectory ended: the first criterion it violates, or none."""

    LANGUAGE_FOLLOWING_FAILURE = "language_following_failure"
    OBJECT_LIFTING_FAILURE = "object_lifting_failure"
    OBJECT_PLACING_FAILURE = "object_placing_failure"
    NO_FAILURE = "no_failure"


@dataclass(frozen=True, slots=True)
class ObjectOutcome:
    """Which of the three criteria hold for one object."""

    language_following: bool
    object_lifting: bool
    object_placing: bool


@dataclass(frozen=True, slots=True)
class MatchedOutcome:
    """A real trajectory and the rollout from the same initial condition, by their objects; no
    objects, no rollout."""

    real: tuple[ObjectOutcome, ...]
    rollout: tuple[ObjectOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class CategoryPair:
    """How a pair ended in reality and in the rollout."""

    real: Category
    rollout: Category | None


@dataclass(frozen=True, slots=True)
class CategoryRate:
    """Among the real trajectories of a category, the share whose rollout has it too."""

    category: Category
    value: float | None
    n_real: int


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The rate of every category, and their unweighted mean over those that occur in reality."""

    average: float | None
    rates: tuple[CategoryRate, ...]
    pairs: tuple[CategoryPair, ...]
    n_missing: int


def categorise(objects: Sequence[ObjectOutcome]) -> Category:
    """Name the first criterion that does not hold for every object, in the order language, lifting,
    placing.

    >>> str(categorise([ObjectOutcome(True, True, True), ObjectOutcome(True, False, True)]))
    'object_lifting_failure'
    """
    if not objects:
        raise ValueError(
            "The trajectory has 0 annotated objects. Give at least one to have a category."
        )
    if not all(outcome.language_following for outcome in objects):
        return Category.LANGUAGE_FOLLOWING_FAILURE
    if not all(outcome.object_lifting for outcome in objects):
        return Category.OBJECT_LIFTING_FAILURE
    if not all(outcome.object_placing for outcome in objects):
        return Category.OBJECT_PLACING_FAILURE
    return Category.NO_FAILURE


def reproduction(pairs: Sequence[MatchedOutcome]) -> Reproduction:
    """Compare how rollouts and real trajectories end; a missing rollout reproduces nothing and is
    counted.

    >>> done, dropped = ObjectOutcome(True, True, True), ObjectOutcome(True, True, False)
    >>> sides = [((done,), (done,)), ((done,), (dropped,)), ((dropped,),)]
    >>> result = reproduction([MatchedOutcome(*pair) for pair in sides])
    >>> result.average, result.n_missing
    (0.25, 1)
    """
    ended = tuple(
        CategoryPair(categorise(p.real), categorise(p.rollout) if p.rollout else None)
        for p in pairs
    )
    rates = tuple(_rate(category, ended) for category in Category)
    average = mean([rate.value for rate in rates if rate.value is not None])
    return Reproduction(average, rates, ended, sum(pair.rollout is None for pair in ended))


def _rate(category: Category, pairs: Sequence[CategoryPair]) -> CategoryRate:
    same = [float(pair.rollout == category) for pair in pairs if pair.real == category]
    return CategoryRate(category, mean(same), len(same))
