"""Whether a judge looks at the media: its exam and the sanity rows give one verdict, with
reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.judges.exam.competence import Competence, Measured
from evaluators.judges.exam.exam import ExamBounds
from evaluators.statistics.comparison import compare
from evaluators.statistics.intervals import Floats, Ints
from evaluators.statistics.standings import FEWEST, LEVEL

Sight = Literal["sees", "blind", "not examined"]


@dataclass(frozen=True, slots=True)
class Lead:
    """By how much an entry is above a sanity row on the samples both have, and the lower end of it.

    `sure` is None where there are too few tasks to be sure of anything.
    """

    value: float | None
    low: float | None
    clusters: int
    sure: bool | None


@dataclass(frozen=True, slots=True)
class SanityRow:
    """A row that must do badly, and the lead that each entry has over it."""

    title: str
    leads: tuple[Lead, ...]


@dataclass(frozen=True, slots=True)
class ExamVerdict:
    """Whether a judge sees, and if not, or not known, why."""

    sight: Sight
    reasons: tuple[str, ...] = ()


def surely_above(
    entry: Floats, sanity: Floats, clusters: Ints, *, comparisons: int = 1, higher: bool = True
) -> Lead:
    """Compare an entry with a sanity row, sample by sample; NaN is no value.

    Sure is a lead whose lower end, by cluster bootstrap, is above zero, and that flipping the signs
    of whole clusters gives in at most 5 % of cases, divided by the number of `comparisons`.

    >>> import numpy as np
    >>> task = np.arange(20)
    >>> surely_above(3.0 + task % 3, task % 2 * 1.0, task).sure
    True
    """
    first, second = (entry, sanity) if higher else (sanity, entry)
    result = compare(first, second, clusters)
    count = result.difference.clusters
    if result.low is None or result.p is None or count < FEWEST:
        return Lead(result.difference.value, result.low, count, None)
    return Lead(
        result.difference.value,
        result.low,
        count,
        result.low > 0 and result.p * comparisons <= LEVEL,
    )


def sanity_row(
    title: str, entries: Sequence[Floats], sanity: Floats, clusters: Ints, *, higher: bool = True
) -> SanityRow:
    """Compare all entries of a board with a sanity row: the more there are, the more it takes."""
    leads = (
        surely_above(entry, sanity, clusters, comparisons=len(entries), higher=higher)
        for entry in entries
    )
    return SanityRow(title, tuple(leads))


def verdict(
    competence: Competence | None, bounds: ExamBounds, rows: Sequence[SanityRow] = ()
) -> ExamVerdict:
    """Tell whether a judge sees: it passed the exam, and no sanity row ties or beats the entries.

    A row fails a judge when no entry is surely above it. That a single entry is not may be the
    entry's fault: who hands in black pictures must not be able to blind the judge of a board.
    """
    if competence is None:
        return ExamVerdict("not examined", ("The judge has sat no exam.",))
    reasons = (*_failed(competence, bounds), *(reason for row in rows if (reason := _undone(row))))
    return ExamVerdict("blind" if reasons else "sees", reasons)


def _failed(competence: Competence, bounds: ExamBounds) -> Iterator[str]:
    """What the exam says against a judge, bound by bound."""
    yield from _short(
        "The share of answers on the menu", competence.answer_rate, bounds.answer_rate
    )
    yield from _short("The lower end of kappa", competence.kappa.low, bounds.kappa)
    if competence.n_pairs:
        order = competence.order.low
        yield from _short("The lower end of the pairs rated in order", order, bounds.order)
    far = _farther(competence.yes_bias)
    if far is None or abs(far) > bounds.yes_bias:
        yield f"The yes-bias may be {_figure(far)}; at most {bounds.yes_bias:g} either way passes."


def _short(measure: str, value: float | None, bound: float) -> Iterator[str]:
    if value is None or value < bound:
        yield f"{measure} is {_figure(value)}; at least {bound:g} passes."


def _farther(bias: Measured) -> float | None:
    """The end of the interval that is farther from zero."""
    return None if bias.low is None or bias.high is None else max(bias.low, bias.high, key=abs)


def _undone(row: SanityRow) -> str:
    """Why a sanity row fails the judge; empty if an entry is surely above it, or if no entry could
    be."""
    if not row.leads or any(lead.sure for lead in row.leads):
        return ""
    best = max((lead.value for lead in row.leads if lead.value is not None), default=None)
    undecided = all(lead.sure is None for lead in row.leads)
    if best is None or (undecided and best > 0):
        return ""
    return f"No entry is surely above the row {row.title!r}; the best leads by {best:.2f}."


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
