"""UNIVERSE's human study: two primaries and an adjudicator make one label, labels make an
accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evaluators.statistics.agreement import Kappa, cohen_kappa


class Grade(StrEnum):
    """What a rater says of an answer."""

    CORRECT = "correct"
    PARTIALLY_CORRECT = "partially_correct"
    INCORRECT = "incorrect"
    UNCLEAR = "unclear"


ANSWERABLE = (Grade.INCORRECT, Grade.PARTIALLY_CORRECT, Grade.CORRECT)
"""The grades that count, worst first."""


@dataclass(frozen=True, slots=True)
class GradedItem:
    """The two primaries' labels of one answer, and the adjudicator's where there is one."""

    first: str | None
    second: str | None
    adjudicated: str | None = None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracies from 0 to 100 over the answerable items, and the final label of each item."""

    graded: float | None
    strict: float | None
    final_labels: tuple[Grade | None, ...]
    n_answerable: int
    n_unclear: int
    n_pending: int


def final_label(item: GradedItem) -> Grade | None:
    """Take what both primaries say unless it is unclear, else what the adjudicator says; None while
    that is pending.

    >>> str(final_label(GradedItem("correct", "incorrect", "partially_correct")))
    'partially_correct'
    >>> final_label(GradedItem("unclear", "unclear")) is None
    True
    """
    first, second, adjudicated = _grade(item.first), _grade(item.second), _grade(item.adjudicated)
    settled = first == second and first in ANSWERABLE
    return first if settled else adjudicated


def accuracy(items: Sequence[GradedItem]) -> Accuracy:
    """Score the final labels, half a point for partially correct; unclear and pending items leave
    the denominator.

    >>> labels = ("correct", "partially_correct")
    >>> result = accuracy([GradedItem(label, label) for label in labels])
    >>> result.graded, result.strict
    (75.0, 50.0)
    """
    labels = tuple(final_label(item) for item in items)
    correct, partial = labels.count(Grade.CORRECT), labels.count(Grade.PARTIALLY_CORRECT)
    answerable = sum(label in ANSWERABLE for label in labels)
    return Accuracy(
        graded=100 * (correct + 0.5 * partial) / answerable if answerable else None,
        strict=100 * correct / answerable if answerable else None,
        final_labels=labels,
        n_answerable=answerable,
        n_unclear=labels.count(Grade.UNCLEAR),
        n_pending=labels.count(None),
    )


def primary_agreement(items: Sequence[GradedItem]) -> Kappa:
    """Compare the two primaries on the items that neither calls unclear; the adjudicator has no
    part in it.

    >>> disputed = GradedItem("incorrect", "correct", "correct")
    >>> primary_agreement([GradedItem("correct", "correct"), disputed]).value
    0.0
    """
    firsts = [_answerable(item.first) for item in items]
    seconds = [_answerable(item.second) for item in items]
    return cohen_kappa(firsts, seconds, ANSWERABLE)


def _grade(label: str | None) -> Grade | None:
    if label is None:
        return None
    if label not in set(Grade):
        raise ValueError(
            f"The label is {label!r}. Give one of {', '.join(Grade)}, or None where there is none "
            "yet."
        )
    return Grade(label)


def _answerable(label: str | None) -> Grade | None:
    grade = _grade(label)
    return grade if grade in ANSWERABLE else None
