"""The human study of rollouts: ratings in, accuracies and agreement a setting out, and what goes with other metrics."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path

from evaluators.contracts import ALL
from evaluators.metrics.agreement import Kappa
from evaluators.metrics.grading import Accuracy, Grade, GradedItem, accuracy, primary_agreement
from evaluators.metrics.ranking import pearson
from evaluators.metrics.student import outside

COLUMNS = ("setting", "rollout", "task", "format", "first", "second", "adjudicated")
WORTH = {Grade.CORRECT: 1.0, Grade.PARTIALLY_CORRECT: 0.5, Grade.INCORRECT: 0.0}


class BadTable(ValueError):
    """A table of ratings or metrics cannot be used; the message names the line and the reason."""


@dataclass(frozen=True, slots=True)
class Rated:
    """One answer about one rollout, as two primaries and, where they differ, an adjudicator label it."""

    setting: str
    rollout: str
    task: str
    format: str
    item: GradedItem


@dataclass(frozen=True, slots=True)
class Standing:
    """A cell of the study: graded and strict accuracy with their counts, and the primaries' agreement."""

    setting: str
    task: str
    format: str
    accuracy: Accuracy
    kappa: Kappa


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r between a metric of rollouts and the judge's score on them; None where either does not vary."""

    setting: str
    task: str
    metric: str
    r: float | None
    p: float | None
    n: int


def read_ratings(path: Path) -> tuple[Rated, ...]:
    """A CSV with one answer a line; an empty label is one that is not there yet."""
    return tuple(_rated(line, row) for line, row in _rows(path, COLUMNS))


def standings(rated: Sequence[Rated]) -> tuple[Standing, ...]:
    """Every setting as a whole, each of its tasks, and each task's formats; pending and unclear answers are counted."""
    places = [(one.setting, task, form) for one in rated
              for task, form in ((ALL, ALL), (one.task, ALL), (one.task, one.format))]  # fmt: skip
    return tuple(_standing(place, rated) for place in dict.fromkeys(places))


def read_metrics(path: Path) -> dict[str, dict[str, float]]:
    """A CSV with a column rollout and one column a metric (FVD, a VBench dimension): values by metric and rollout."""
    rows = list(_rows(path, ("rollout",)))
    names = [name for name in (rows[0][1] if rows else {}) if name != "rollout"]
    return {name: {row["rollout"]: _number(line, name, row[name]) for line, row in rows if row[name]} for name in names}


def correlations(rated: Sequence[Rated], metrics: Mapping[str, Mapping[str, float]]) -> tuple[Correlation, ...]:
    """How each metric goes with the graded score of rollouts, a setting and task each."""
    places = dict.fromkeys((one.setting, one.task) for one in rated)
    return tuple(
        _correlation(setting, task, name, _scores(rated, setting, task), values)
        for setting, task in places
        for name, values in metrics.items()
    )


def p_of(r: float, n: int) -> float | None:
    """How often so many unrelated pairs would give an r as far from zero; None of fewer than three.

    >>> round(p_of(0.5, 30), 4), p_of(0.5, 2)
    (0.0049, None)
    """
    if n < 3:
        return None
    return outside(n - 2, inf if abs(r) >= 1 else r * sqrt((n - 2) / (1 - r * r)))


def _standing(place: tuple[str, str, str], rated: Sequence[Rated]) -> Standing:
    setting, task, form = place
    items = [one.item for one in rated
             if one.setting == setting and task in (ALL, one.task) and form in (ALL, one.format)]  # fmt: skip
    return Standing(setting, task, form, accuracy(items), primary_agreement(items))


def _scores(rated: Iterable[Rated], setting: str, task: str) -> dict[str, float]:
    """The mean worth of a rollout's answerable answers."""
    found: dict[str, list[float]] = {}
    for one in rated:
        if (one.setting, one.task) == (setting, task):
            (label,) = accuracy([one.item]).final_labels
            if label in WORTH:
                found.setdefault(one.rollout, []).append(WORTH[label])
    return {rollout: sum(worth) / len(worth) for rollout, worth in found.items()}


def _correlation(
    setting: str, task: str, name: str, scores: Mapping[str, float], values: Mapping[str, float]
) -> Correlation:
    both = [rollout for rollout in scores if rollout in values]
    r = pearson([values[one] for one in both], [scores[one] for one in both]) if len(both) > 1 else None
    return Correlation(setting, task, name, r, None if r is None else p_of(r, len(both)), len(both))


def _rated(line: int, row: Mapping[str, str]) -> Rated:
    labels = [row[name] or None for name in ("first", "second", "adjudicated")]
    wrong = [label for label in labels if label is not None and label not in set(Grade)]
    if wrong:
        raise BadTable(f"line {line}: the label is {wrong[0]!r}. Give one of {', '.join(Grade)}, or nothing.")
    return Rated(row["setting"], row["rollout"], row["task"], row["format"], GradedItem(*labels))


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        absent = [name for name in columns if name not in (reader.fieldnames or ())]
        if absent:
            raise BadTable(f"{path.name}: there is no column {', '.join(absent)}. Begin with {','.join(columns)}.")
        return [(reader.line_num, {name: value or "" for name, value in row.items()}) for row in reader]


def _number(line: int, name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise BadTable(f"line {line}: {name} is {value!r}. Give a number, or nothing.") from None
