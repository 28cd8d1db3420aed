"""Published figures laid out as their authors print them: one grid a table of the paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from infra.tables import Metric
from leaderboard.draw.words import name, plain
from leaderboard.queries.entries import Figure

FACETS = ("scenario", "task", "setting", "modality")
MOST_COLUMNS = 16
MARKS = {"auto": "●", "human": "◆"}
"""The same signs as in the charts: a dot for judges, a diamond for people."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table as text, with the figures behind each cell; `best` counts how many of a cell's
    figures are the best."""

    frame: pd.DataFrame
    best: pd.DataFrame
    behind: dict[tuple[int, str], tuple[Figure, ...]]


def sources(figures: Sequence[Figure]) -> list[str]:
    """The papers' tables, in their numbers' order."""
    distinct = dict.fromkeys(figure.source for figure in figures)
    return sorted(
        distinct, key=lambda source: [int(digits) for digits in re.findall(r"\d+", source)[-1:]]
    )


def grid(
    figures: Sequence[Figure],
    metrics: Mapping[str, Metric],
    titles: Mapping[str, str],
    order: Mapping[str, Sequence[str]],
) -> PaperTable:
    """Models down, what varies across; what would make it too wide goes down as well, modality
    first."""
    across, down = _split(
        figures, [key for key in FACETS if len({getattr(figure, key) for figure in figures}) > 1]
    )
    models = list(dict.fromkeys(figure.model for figure in figures))
    ordered = sorted(
        figures,
        key=lambda figure: (
            *(_place(order, key, figure) for key in FACETS),
            list(metrics).index(figure.metric),
        ),
    )
    rows = list(
        dict.fromkeys((*(getattr(figure, key) for key in down), figure.model) for figure in ordered)
    )
    rows.sort(
        key=lambda row: (
            *(_index(order[key], value) for key, value in zip(down, row, strict=False)),
            models.index(row[-1]),
        )
    )
    cells: dict[tuple[int, str], list[Figure]] = {}
    for figure in ordered:
        row = rows.index((*(getattr(figure, key) for key in down), figure.model))
        cells.setdefault((row, _head(figure, across, metrics)), []).append(figure)
    heads = list(dict.fromkeys(_head(figure, across, metrics) for figure in ordered))
    best, decimals = _best(cells, [row[:-1] for row in rows], metrics), _decimals(figures)
    left = [
        {titles.get(key, plain(key)): plain(value) for key, value in zip(down, row, strict=False)}
        for row in rows
    ]
    left = [{**block, "Model": name(row[-1], 90)} for block, row in zip(left, rows, strict=True)]
    texts = {at: _text(cell_figures, decimals, best) for at, cell_figures in cells.items()}
    counts = {
        at: str(sum(id(figure) in best for figure in cell_figures))
        for at, cell_figures in cells.items()
    }
    return PaperTable(
        _frame(left, heads, texts),
        _frame(left, heads, counts),
        {at: tuple(cell_figures) for at, cell_figures in cells.items()},
    )


def _place(order: Mapping[str, Sequence[str]], key: str, figure: Figure) -> tuple[int, str]:
    return _index(order[key], getattr(figure, key))


def _index(ordered_values: Sequence[str], value: str) -> tuple[int, str]:
    return (
        (list(ordered_values).index(value), "")
        if value in ordered_values
        else (len(ordered_values), value)
    )


def _decimals(figures: Sequence[Figure]) -> dict[str, int]:
    """As many decimals as the table's longest figure of a metric has."""
    decimals: dict[str, int] = {}
    for figure in figures:
        for value in (figure.value, figure.spread):
            text = f"{value:.4f}".rstrip("0") if value is not None else ""
            decimals[figure.metric] = max(
                decimals.get(figure.metric, 0), len(text.partition(".")[2])
            )
    return decimals


def _split(figures: Sequence[Figure], varying: Sequence[str]) -> tuple[list[str], list[str]]:
    across, down = list(varying), list[str]()
    for key in ("modality", "setting", "task"):
        wide = len(
            {(figure.metric, *(getattr(figure, facet) for facet in across)) for figure in figures}
        )
        if wide > MOST_COLUMNS and key in across:
            across.remove(key)
            down.insert(0, key)
    return across, down


def _head(figure: Figure, across: Sequence[str], metrics: Mapping[str, Metric]) -> str:
    return " · ".join(
        [*(plain(getattr(figure, key)) for key in across), metrics[figure.metric].title]
    )


def _best(
    cells: Mapping[tuple[int, str], Sequence[Figure]],
    blocks: Sequence[tuple[str, ...]],
    metrics: Mapping[str, Metric],
) -> set[int]:
    """Figures that nobody of the same block, column and evaluator beats; a column with one figure
    has no best."""
    columns: dict[tuple[object, ...], list[Figure]] = {}
    for (row, head), cell_figures in cells.items():
        for figure in cell_figures:
            columns.setdefault((blocks[row], head, figure.evaluator), []).append(figure)
    best_ids = set()
    for column_figures in columns.values():
        sign = 1 if metrics[column_figures[0].metric].direction == "higher" else -1
        top = max(sign * (figure.value or 0.0) for figure in column_figures)
        best_ids |= (
            {id(figure) for figure in column_figures if sign * (figure.value or 0.0) == top}
            if len(column_figures) > 1
            else set()
        )
    return best_ids


def _text(figures: Sequence[Figure], decimals: Mapping[str, int], best: set[int]) -> str:
    ordered = sorted(figures, key=lambda figure: figure.evaluator)
    return " / ".join(
        _figure(figure, decimals[figure.metric], id(figure) in best) for figure in ordered
    )


def _figure(figure: Figure, decimals: int, is_best: bool) -> str:
    value = "—" if figure.value is None else f"{figure.value:.{decimals}f}"
    spread = f" ± {figure.spread:.{decimals}f}" if figure.spread is not None else ""
    return f"{MARKS.get(figure.evaluator, '') if is_best else ''}{value}{spread}"


def _frame(
    left: Sequence[dict[str, str]], heads: Sequence[str], cells: Mapping[tuple[int, str], str]
) -> pd.DataFrame:
    rows = [
        {**row, **{head: cells.get((number, head), "") for head in heads}}
        for number, row in enumerate(left)
    ]
    return pd.DataFrame(rows)
