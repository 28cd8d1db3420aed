"""How far raters agree: whole, by part of the checklist and by rating, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evaluators.metrics.rubric import PARTS
from evaluators.statistics.agreement import cohen_kappa, krippendorff_alpha, pairwise_spearman
from flows.studies.ratings import CHOSEN, GRADES, YES, RatedItem

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

    def about(self, subject: str) -> Units:
        """The columns of one part or rating."""
        columns = [column for column, name in enumerate(self.subjects) if name == subject]
        items = tuple(self.items[column] for column in columns)
        return Units(self.values[:, columns], items, (subject,) * len(columns))


def agreement(ratings: Sequence[RatedItem], seed: int = 0) -> dict[str, Any]:
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
    return {
        "alpha": _interval(closed, _nominal, seed),
        **_by_part(closed, seed),
        "kappa": _interval(firsts, _kappa, seed),
        "ratings": {name: _rating(marks.about(name), seed) for name in names},
        "spearman": _mean(marks, names, _spearman, seed),
        "raters": len(raters),
        "items": len({rated.item for rated in real}),
    }


def _by_part(closed: Units, seed: int) -> dict[str, Any]:
    """Alpha of each of the rubric's six parts and their mean; nothing where there are no parts."""
    if not set(closed.subjects) & set(PARTS):
        return {}
    parts = {part: _interval(closed.about(part), _nominal, seed) for part in PARTS}
    return {"parts": parts, "alpha_mean": _mean(closed, PARTS, _nominal, seed)}


def _rating(marks: Units, seed: int) -> dict[str, Figure]:
    return {
        "alpha": _interval(marks, _ordinal, seed),
        "spearman": _interval(marks, _spearman, seed),
    }


def _nominal(table: Floats) -> float | None:
    return krippendorff_alpha(_rows(table), "nominal").value


def _ordinal(table: Floats) -> float | None:
    return krippendorff_alpha(_rows(table), "ordinal").value


def _spearman(table: Floats) -> float | None:
    return pairwise_spearman(_rows(table)).mean


def _kappa(table: Floats) -> float | None:
    first, second = (
        [None if value is None else str(value) for value in row] for row in _rows(table)
    )
    return cohen_kappa(first, second, ("0.0", "0.5", "1.0")).value


def _rows(table: Floats) -> list[list[float | None]]:
    return [[None if value != value else value for value in row] for row in table.tolist()]


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
    return _drawn(units, lambda columns: statistic(units.values[:, columns]), seed)


def _mean(units: Units, subjects: Sequence[str], statistic: Statistic, seed: int) -> Figure:
    """The mean over subjects that have the statistic; a draw that lacks it for one has no mean."""
    at = {subject: np.array([name == subject for name in units.subjects]) for subject in subjects}
    defined = [mask for mask in at.values() if statistic(units.values[:, mask]) is not None]

    def mean_of(columns: Columns) -> float | None:
        values = [statistic(units.values[:, columns[mask[columns]]]) for mask in defined]
        numbers = [value for value in values if value is not None]
        return fmean(numbers) if numbers and len(numbers) == len(defined) else None

    return _drawn(units, mean_of, seed)


def _drawn(units: Units, statistic: Callable[[Columns], float | None], seed: int) -> Figure:
    members: dict[str, list[int]] = {}
    for column, item in enumerate(units.items):
        members.setdefault(item, []).append(column)
    if not members:
        return {"value": None, "low": None, "high": None}
    columns = [np.array(numbers, np.int64) for numbers in members.values()]
    dice = np.random.default_rng(seed)
    draws = [
        statistic(
            np.concatenate([columns[item] for item in dice.integers(0, len(columns), len(columns))])
        )
        for _ in range(RESAMPLES)
    ]
    values = [draw for draw in draws if draw is not None]
    low, high = (
        (float(end) for end in np.quantile(values, [0.025, 0.975])) if values else (None, None)
    )
    return {"value": statistic(np.concatenate(columns)), "low": low, "high": high}
