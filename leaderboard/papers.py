"""Published figures laid out as their authors print them: one grid a table of the paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from infra.tables import Metric
from leaderboard.entries import Figure
from leaderboard.words import name, plain

FACETS = ("scenario", "task", "setting", "modality")
MOST_COLUMNS = 16
MARKS = {"auto": "●", "human": "◆"}
"""The same signs as in the charts: a dot for judges, a diamond for people."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as text, with the figures behind each cell; `best` counts how many of a cell's figures are the best."""

    frame: pd.DataFrame
    best: pd.DataFrame
    behind: dict[tuple[int, str], tuple[Figure, ...]]


def sources(figures: Sequence[Figure]) -> list[str]:
    """The papers' tables, in their numbers' order."""
    found = dict.fromkeys(figure.source for figure in figures)
    return sorted(found, key=lambda source: [int(digits) for digits in re.findall(r"\d+", source)[-1:]])


def grid(
    figures: Sequence[Figure],
    metrics: Mapping[str, Metric],
    titles: Mapping[str, str],
    order: Mapping[str, Sequence[str]],
) -> Grid:
    """Models down, what varies across; what would make it too wide goes down as well, modality first."""
    across, down = _split(figures, [key for key in FACETS if len({getattr(one, key) for one in figures}) > 1])
    models = list(dict.fromkeys(one.model for one in figures))
    ordered = sorted(
        figures, key=lambda one: (*(_place(order, key, one) for key in FACETS), list(metrics).index(one.metric))
    )
    rows = list(dict.fromkeys((*(getattr(one, key) for key in down), one.model) for one in ordered))
    rows.sort(
        key=lambda row: (
            *(_index(order[key], value) for key, value in zip(down, row, strict=False)),
            models.index(row[-1]),
        )
    )
    cells: dict[tuple[int, str], list[Figure]] = {}
    for one in ordered:
        row = rows.index((*(getattr(one, key) for key in down), one.model))
        cells.setdefault((row, _head(one, across, metrics)), []).append(one)
    heads = list(dict.fromkeys(_head(one, across, metrics) for one in ordered))
    best, decimals = _best(cells, [row[:-1] for row in rows], metrics), _decimals(figures)
    left = [{titles.get(key, plain(key)): plain(value) for key, value in zip(down, row, strict=False)} for row in rows]
    left = [{**block, "Model": name(row[-1], 90)} for block, row in zip(left, rows, strict=True)]
    texts = {at: _text(some, decimals, best) for at, some in cells.items()}
    counts = {at: str(sum(id(one) in best for one in some)) for at, some in cells.items()}
    return Grid(
        _frame(left, heads, texts), _frame(left, heads, counts), {at: tuple(some) for at, some in cells.items()}
    )


def _place(order: Mapping[str, Sequence[str]], key: str, one: Figure) -> tuple[int, str]:
    return _index(order[key], getattr(one, key))


def _index(known: Sequence[str], value: str) -> tuple[int, str]:
    return (list(known).index(value), "") if value in known else (len(known), value)


def _decimals(figures: Sequence[Figure]) -> dict[str, int]:
    """As many decimals as the table's longest figure of a metric has."""
    found: dict[str, int] = {}
    for one in figures:
        for value in (one.value, one.spread):
            text = f"{value:.4f}".rstrip("0") if value is not None else ""
            found[one.metric] = max(found.get(one.metric, 0), len(text.partition(".")[2]))
    return found


def _split(figures: Sequence[Figure], varying: Sequence[str]) -> tuple[list[str], list[str]]:
    across, down = list(varying), list[str]()
    for key in ("modality", "setting", "task"):
        wide = len({(one.metric, *(getattr(one, facet) for facet in across)) for one in figures})
        if wide > MOST_COLUMNS and key in across:
            across.remove(key)
            down.insert(0, key)
    return across, down


def _head(one: Figure, across: Sequence[str], metrics: Mapping[str, Metric]) -> str:
    return " · ".join([*(plain(getattr(one, key)) for key in across), metrics[one.metric].title])


def _best(
    cells: Mapping[tuple[int, str], Sequence[Figure]], blocks: Sequence[tuple[str, ...]], metrics: Mapping[str, Metric]
) -> set[int]:
    """Figures that nobody of the same block, column and evaluator beats; a column with one figure has no best."""
    columns: dict[tuple[object, ...], list[Figure]] = {}
    for (row, head), some in cells.items():
        for one in some:
            columns.setdefault((blocks[row], head, one.evaluator), []).append(one)
    found = set()
    for some in columns.values():
        sign = 1 if metrics[some[0].metric].direction == "higher" else -1
        top = max(sign * (one.value or 0.0) for one in some)
        found |= {id(one) for one in some if sign * (one.value or 0.0) == top} if len(some) > 1 else set()
    return found


def _text(some: Sequence[Figure], decimals: Mapping[str, int], best: set[int]) -> str:
    ordered = sorted(some, key=lambda one: one.evaluator)
    return " / ".join(_figure(one, decimals[one.metric], id(one) in best) for one in ordered)


def _figure(one: Figure, decimals: int, is_best: bool) -> str:
    value = "—" if one.value is None else f"{one.value:.{decimals}f}"
    spread = f" ± {one.spread:.{decimals}f}" if one.spread is not None else ""
    return f"{MARKS.get(one.evaluator, '') if is_best else ''}{value}{spread}"


def _frame(left: Sequence[dict[str, str]], heads: Sequence[str], cells: Mapping[tuple[int, str], str]) -> pd.DataFrame:
    rows = [{**row, **{head: cells.get((number, head), "") for head in heads}} for number, row in enumerate(left)]
    return pd.DataFrame(rows)
