"""How far raters agree with each other, with intervals over items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from evaluators.metrics.agreement import cohen_kappa, krippendorff_alpha, pairwise_spearman
from flows.study_scores import CHOSEN, GRADES, YES, Rated

RESAMPLES = 200
Rows: TypeAlias = "list[list[float | None]]"


def agreement(given: Sequence[Rated], seed: int = 0) -> dict[str, Any]:
    """Alpha of the closed answers, kappa of each item's first two raters, the marks' rank correlation; with intervals.

    Items are drawn again with all their answers. Adjudicators have no part in it.
    """
    real = [one for one in given if one.kind == "real" and not one.settles]
    raters = sorted({one.rater for one in real})
    closed = _table(real, lambda one: raters.index(one.rater), len(raters), _closed)
    firsts = _table([one for one in real if one.slot < 2], lambda one: one.slot, 2, _closed)
    marks = _table(real, lambda one: raters.index(one.rater), len(raters), _mark)
    return {
        "alpha": _interval(closed, lambda rows: krippendorff_alpha(rows, "nominal").value, seed),
        "kappa": _interval(firsts, _kappa, seed),
        "spearman": _interval(marks, lambda rows: pairwise_spearman(rows).mean, seed),
        "raters": len(raters),
        "items": len({one.item for one in real}),
    }


def _closed(value: Any) -> float | None:
    """Ticks, checks and grades as categories; an unclear check counts as no, an unclear grade as no answer."""
    if isinstance(value, bool):
        return float(value)
    return YES.get(value, GRADES.get(value)) if value != "unclear" else 0.0


def _mark(value: Any) -> float | None:
    return float(value) if isinstance(value, str) and value.isdigit() else None


def _kappa(rows: Rows) -> float | None:
    first, second = [[None if value is None else str(value) for value in row] for row in rows]
    return cohen_kappa(first, second, ("0.0", "0.5", "1.0")).value


def _table(
    real: Sequence[Rated], row: Callable[[Rated], int], rows: int, read: Callable[[Any], float | None]
) -> dict[str, Rows]:
    """For each item its units as columns, one row a rater or place."""
    units: dict[str, dict[str, list[float | None]]] = {}
    for one in real:
        for name, value in one.answers.items():
            number = None if name in CHOSEN or (name, value) == ("grade", "unclear") else read(value)
            if number is not None:
                units.setdefault(one.item, {}).setdefault(name, [None] * rows)[row(one)] = number
    return {item: list(columns.values()) for item, columns in units.items()}


def _interval(
    table: Mapping[str, Rows], statistic: Callable[[Rows], float | None], seed: int
) -> dict[str, float | None]:
    """The statistic over all items, and its 95 % interval over resampled items."""
    items = list(table)
    if not items:
        return {"value": None, "low": None, "high": None}
    whole = statistic(_rows([table[item] for item in items]))
    dice = np.random.default_rng(seed)
    draws = [
        statistic(_rows([table[items[number]] for number in dice.integers(0, len(items), len(items))]))
        for _ in range(RESAMPLES)
    ]
    known = [draw for draw in draws if draw is not None]
    low, high = (float(end) for end in np.quantile(known, [0.025, 0.975])) if known else (None, None)
    return {"value": whole, "low": low, "high": high}


def _rows(columns: Sequence[Rows]) -> Rows:
    flat = [column for item in columns for column in item]
    return [list(row) for row in zip(*flat, strict=True)]
