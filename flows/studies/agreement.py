"""How far raters agree: whole, by part of the checklist and by rating, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluators.contracts import RatedItem
from evaluators.statistics.agreement import cohen_kappa, krippendorff_alpha, pairwise_spearman
from evaluators.statistics.opinions import CHOSEN, GRADES, YES

RESAMPLES = 200
Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = npt.NDArray[np.int64]
Figure: TypeAlias = "dict[str, float | None]"
"""A value with the `low` and `high` end of its interval; None where it is not defined."""
Statistic: TypeAlias = Callable[[Floats], float | None]


@dataclass(frozen=True, slots=True)
class Units:
    """Ratings as a table: a row a rater or place, a column a question, NaN where nothing was said.

    `items` and `subjects` say of each column which item it is about, and which part of the
    checklist or which rating.
    """

    values: Floats
    items: tuple[str, ...]
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BySubject:
    """A figure for each part or rating, and one for their mean."""

    figures: dict[str, Figure]
    mean: Figure


def agreement(
    ratings: Sequence[RatedItem], seed: int = 0, parts: Sequence[str] = ()
) -> dict[str, Any]:
    """Alpha of closed answers, kappa of each item's first two raters, rank correlation of ratings.

    Where the checklist has parts, each has its alpha, and `alpha_mean` is their mean. Each rating
    has its ordinal alpha and its Spearman correlation, and `spearman` is the mean of the latter.
    Intervals are by drawing items again with all their answers. Adjudicators have no part in it.
    """
    real = [rated for rated in ratings if rated.kind == "real" and not rated.settles]
    raters = {name: row for row, name in enumerate(sorted({rated.rater for rated in real}))}
    closed = _units(real, lambda rated: raters[rated.rater], len(raters), _closed)
    firsts = _units(
        [rated for rated in real if rated.slot < 2], lambda rated: rated.slot, 2, _closed
    )
    marks = _units(real, lambda rated: raters[rated.rater], len(raters), _mark)
    names = tuple(dict.fromkeys(marks.subjects))
    alphas, correlations = (
        _by_subject(marks, names, figure, seed) for figure in (_ordinal, _spearman)
    )
    return {
        "alpha": _interval(closed, _nominal, seed),
        **_parts(closed, parts, seed),
        "kappa": _interval(firsts, _kappa, seed),
        "ratings": {
            name: {"alpha": alphas.figures[name], "spearman": correlations.figures[name]}
            for name in names
        },
        "spearman": correlations.mean,
        "raters": len(raters),
        "items": len({rated.item for rated in real}),
    }


def _parts(closed: Units, parts: Sequence[str], seed: int) -> dict[str, Any]:
    """Alpha of each part of the checklist and their mean; nothing where there are no parts."""
    if not set(closed.subjects) & set(parts):
        return {}
    alphas = _by_subject(closed, parts, _nominal, seed)
    return {"parts": alphas.figures, "alpha_mean": alphas.mean}


def _nominal(table: Floats) -> float | None:
    return krippendorff_alpha(table, "nominal").value


def _ordinal(table: Floats) -> float | None:
    return krippendorff_alpha(table, "ordinal").value


def _spearman(table: Floats) -> float | None:
    return pairwise_spearman(table).mean


def _kappa(table: Floats) -> float | None:
    first, second = (
        [None if np.isnan(value) else str(value) for value in row.tolist()] for row in table
    )
    return cohen_kappa(first, second, ("0.0", "0.5", "1.0")).value


def _closed(value: Any) -> float | None:
    """Ticks, checks and grades as categories; an unclear check is a no, an unclear grade no
    answer."""
    if isinstance(value, bool):
        return float(value)
    return YES.get(value, GRADES.get(value)) if value != "unclear" else 0.0


def _mark(value: Any) -> float | None:
    return float(value) if isinstance(value, str) and value.isdigit() else None


def _units(
    real: Sequence[RatedItem],
    row: Callable[[RatedItem], int],
    rows: int,
    read: Callable[[Any], float | None],
) -> Units:
    """All answers that `read` knows, the columns of an item side by side."""
    columns: dict[str, dict[str, list[float]]] = {}
    subjects: dict[tuple[str, str], str] = {}
    for rated in real:
        for name, value in rated.answers.items():
            number = (
                None if name in CHOSEN or (name, value) == ("grade", "unclear") else read(value)
            )
            if number is not None:
                columns.setdefault(rated.item, {}).setdefault(name, [np.nan] * rows)[row(rated)] = (
                    number
                )
                subjects[rated.item, name] = _subject(rated, name)
    places = [(item, name) for item, named in columns.items() for name in named]
    values = np.array([columns[item][name] for item, name in places], np.float64).reshape(
        len(places), rows
    )
    return Units(
        values.T, tuple(item for item, _ in places), tuple(subjects[place] for place in places)
    )


def _subject(rated: RatedItem, name: str) -> str:
    """The part of the checklist a question belongs to; else its name, without a medium's letter."""
    letter, dot, question = name.partition(".")
    lettered = dot and letter in rated.behind["methods"]
    return rated.behind.get("parts", {}).get(name) or (question if lettered else name)


def _interval(units: Units, statistic: Statistic, seed: int) -> Figure:
    """The statistic over all items, and its 95 % interval over resampled items."""
    draws = [statistic(units.values[:, columns]) for columns in _resampled(units, seed)]
    return _figure(statistic(units.values), draws)


def _by_subject(
    units: Units, subjects: Sequence[str], statistic: Statistic, seed: int
) -> BySubject:
    """The statistic of each subject from the same draws; the mean is over subjects that have one.

    A draw in which one of these has none has no mean either.
    """
    masks = [
        np.array([name == subject for name in units.subjects], np.bool_) for subject in subjects
    ]

    def of_each(columns: Columns) -> list[float | None]:
        return [statistic(units.values[:, columns[mask[columns]]]) for mask in masks]

    whole = of_each(np.arange(len(units.items)))
    draws = [of_each(columns) for columns in _resampled(units, seed)]
    figures = {
        subject: _figure(whole[number], [draw[number] for draw in draws])
        for number, subject in enumerate(subjects)
    }
    defined = [number for number, value in enumerate(whole) if value is not None]
    return BySubject(
        figures, _figure(_mean(whole, defined), [_mean(draw, defined) for draw in draws])
    )


def _mean(values: Sequence[float | None], places: Sequence[int]) -> float | None:
    """The mean of the values at these places, all of which it needs."""
    numbers = [value for place in places if (value := values[place]) is not None]
    return fmean(numbers) if numbers and len(numbers) == len(places) else None


def _resampled(units: Units, seed: int) -> Iterator[Columns]:
    """Columns of as many items as there are, drawn again and again, each with all that was said of
    it."""
    members: dict[str, list[int]] = {}
    for column, item in enumerate(units.items):
        members.setdefault(item, []).append(column)
    columns = [np.array(numbers, np.int64) for numbers in members.values()]
    dice = np.random.default_rng(seed)
    for _ in range(RESAMPLES if columns else 0):
        yield np.concatenate(
            [columns[item] for item in dice.integers(0, len(columns), len(columns))]
        )


def _figure(value: float | None, draws: Sequence[float | None]) -> Figure:
    numbers = [draw for draw in draws if draw is not None]
    low, high = (
        (float(end) for end in np.quantile(numbers, [0.025, 0.975])) if numbers else (None, None)
    )
    return {"value": value, "low": low, "high": high}
