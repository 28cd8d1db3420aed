"""Entries as tables for a page: pure, one function a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import pandas as pd

from infra.tables import Metric
from infra.tables.operations import Drift
from leaderboard.draw.ranking_table import ROLES
from leaderboard.draw.words import digits, interval, name, plain, titled
from leaderboard.queries.entries import Figure
from leaderboard.queries.ranking import BoardAddress, RankedEntry
from leaderboard.queries.samples import JudgeAnswer, ScoredSample

AT = ("scenario", "task", "setting", "modality")


def standings(
    entries: Sequence[RankedEntry], metric: Metric, at: BoardAddress, since: datetime | None = None
) -> pd.DataFrame:
    """What we judged: one row an entry; what came after a moment is marked as new."""
    behind = urlencode({"metric": metric.name, **_fixed(at)})
    rows = [
        {
            "Rank": entry.rank,
            "Model": name(entry.model),
            metric.title: _rounded(entry.value, metric),
            "95 % interval": _span(entry, metric),
            "Ranks": _ranks(entry),
            "n/N": "—" if entry.n_expected is None else f"{entry.n_scored}/{entry.n_expected}",
            "Bounds": _bounds(entry, metric),
            "Disagreement": None
            if entry.disagreement is None
            else round(100 * entry.disagreement, 1),
            "Look": f"samples?run={quote(entry.run_id)}&{behind}",
            "Trust": entry.trust,
            "Organisation": name(entry.organisation),
            "Weights": plain(entry.weights),
            "By": entry.evaluator,
            "Judge": name(entry.judge),
            "Set": entry.subset,
            "Date": entry.published_at,
            "New": "new" if since and entry.published_at and entry.published_at > since else "",
            "Card": f"model?id={quote(entry.submission_id)}",
            "Note": name(entry.note, 300),
        }
        for entry in entries
    ]
    table = (
        pd.DataFrame(rows).astype({"Rank": "Int64"}) if rows else pd.DataFrame(columns=["Model"])
    )
    return without_bare(
        table,
        *("Ranks", "95 % interval", "Bounds", "Disagreement", "Organisation", "Weights", "New"),
        "Note",
    )


def figures(entries: Sequence[RankedEntry], metric: Metric, paper: str) -> pd.DataFrame:
    """What papers print: one row a figure, no rank, always a source."""
    rows = [
        {
            "Model": name(entry.model),
            metric.title: _rounded(entry.value, metric),
            "±": _rounded(entry.spread, metric),
            "By": entry.evaluator,
            "Source": name(entry.source, 200),
            "Paper": paper,
            "Note": name(entry.note, 300),
        }
        for entry in entries
    ]
    return without_bare(pd.DataFrame(rows), "±", "Note")


def points(entries: Sequence[RankedEntry], best_is_high: bool) -> pd.DataFrame:
    """What a chart of one metric needs, best first; a name that occurs twice says what parts its
    rows."""
    valued = [entry for entry in entries if entry.value is not None]
    valued.sort(key=lambda entry: (entry.value or 0.0) * (-1 if best_is_high else 1))
    names = [name(entry.model, 60) for entry in valued]
    times = Counter(names)
    rows = [
        {
            "label": _label(label, entry, times[label]),
            "model": label,
            "value": entry.value,
            "low": entry.low if entry.low is not None else _about(entry, -1),
            "high": entry.high if entry.high is not None else _about(entry, 1),
            "trust": entry.trust,
            "by": entry.evaluator,
            "n": "" if entry.n_expected is None else f"{entry.n_scored}/{entry.n_expected}",
        }
        for label, entry in zip(names, valued, strict=True)
    ]
    columns = ["label", "model", "value", "low", "high", "trust", "by", "n"]
    return pd.DataFrame(rows, columns=columns)


def _fixed(at: BoardAddress) -> dict[str, str]:
    return {facet: getattr(at, facet) for facet in AT if getattr(at, facet) != "*"}


def _label(label: str, entry: RankedEntry, times: int) -> str:
    """A row's name; what is there to measure by says so before it."""
    role = f"{ROLES[entry.role]}: " if entry.role in ROLES else ""
    if times == 1:
        return f"{role}{label}"
    id_tail = entry.submission_id[-4:] if entry.trust != "C" else ""
    return role + " · ".join(filter(None, (label, entry.evaluator, id_tail)))


def _about(entry: RankedEntry, side: int) -> float | None:
    return (
        None if entry.spread is None or entry.value is None else entry.value + side * entry.spread
    )


def _ranks(entry: RankedEntry) -> str:
    if entry.best_rank is None or entry.worst_rank is None:
        return ""
    return (
        f"{entry.best_rank}"
        if entry.best_rank == entry.worst_rank
        else f"{entry.best_rank}–{entry.worst_rank}"
    )


def _span(entry: RankedEntry, metric: Metric) -> str:
    if entry.low is None or entry.high is None:
        return ""
    return interval(entry.low, entry.high, metric.unit)


def _bounds(entry: RankedEntry, metric: Metric) -> str:
    """What it would be if everything unknown in it were as bad, and as good, as can be."""
    ends = (entry.if_worst, entry.if_best)
    bounds = sorted(value for value in ends if value is not None)
    return interval(bounds[0], bounds[1], metric.unit) if len(bounds) == 2 else ""


def _rounded(value: float | None, metric: Metric) -> float | None:
    return None if value is None else round(value, digits(metric.unit))


def without_bare(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The table without those of the columns that hold nothing."""
    bare = [
        name
        for name in columns
        if name in frame and (frame[name].isna() | (frame[name] == "")).all()
    ]
    return frame.drop(columns=bare)


def answer_table(answers: Sequence[JudgeAnswer]) -> pd.DataFrame:
    """One row a question, one column a judge with its reason beside it."""
    table: dict[str, dict[str, str]] = {}
    for answer in answers:
        row = table.setdefault(
            answer.question_id, {"Part": plain(answer.part), "Question": name(answer.question, 400)}
        )
        row[name(answer.judge, 40)] = (
            answer.value if answer.value is not None else plain(answer.outcome)
        )
        if answer.reason:
            row[f"Reason of {name(answer.judge, 40)}"] = name(answer.reason, 300)
    return pd.DataFrame(list(table.values()))


def item_table(items: Sequence[ScoredSample]) -> pd.DataFrame:
    """Samples as they are, for a download."""
    return _as_they_are(ScoredSample, items)


def profile(
    figures: Sequence[Figure], metrics: Sequence[Metric], facet: str, order: Sequence[str]
) -> pd.DataFrame:
    """An entry's headline metrics along one facet in its order, all else together."""
    places = {value: number for number, value in enumerate(("*", *order))}
    titles = {
        metric.name: titled(metric.title, metric.unit) for metric in metrics if metric.headline
    }
    figures = [figure for figure in figures if figure.metric in titles]
    others = [wide_facet for wide_facet in AT if wide_facet != facet]
    rows = [
        {
            "metric": titles[figure.metric],
            "at": plain(getattr(figure, facet)),
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "by": figure.evaluator,
            "n": f"{figure.n_scored}/{figure.n_expected}" if figure.n_expected is not None else "",
        }
        for figure in sorted(
            figures,
            key=lambda figure: (
                list(titles).index(figure.metric),
                places.get(getattr(figure, facet), 99),
            ),
        )
        if all(getattr(figure, wide_facet) == "*" for wide_facet in others)
        and figure.value is not None
    ]
    return pd.DataFrame(rows, columns=["metric", "at", "value", "low", "high", "by", "n"])


def along(figures: Sequence[Figure], facet: str, order: Sequence[str]) -> pd.DataFrame:
    """One row a figure, the facet's values in their order; only who has at least two of them."""
    valued = [
        figure for figure in figures if figure.value is not None and getattr(figure, facet) != "*"
    ]
    places = {
        value: number
        for number, value in enumerate(
            [*order, *sorted({getattr(figure, facet) for figure in valued} - set(order))]
        )
    }
    comparable = {
        key
        for key in map(_who, valued)
        if len({getattr(figure, facet) for figure in valued if _who(figure) == key}) > 1
    }
    rows = [
        {
            "model": name(figure.model, 60),
            "by": figure.evaluator,
            "trust": figure.trust,
            "who": f"{name(figure.model, 50)} · {figure.evaluator}",
            "run": figure.run_id,
            "at": plain(getattr(figure, facet)),
            "place": places[getattr(figure, facet)],
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
        }
        for figure in valued
        if _who(figure) in comparable
    ]
    columns = ["model", "by", "trust", "who", "run", "at", "place", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values(["place", "who"], ignore_index=True)


def gap_table(points: pd.DataFrame) -> pd.DataFrame:
    """One row an entry, one column a value of the facet, and the last minus the first."""
    if points.empty:
        return points
    heads = list(dict.fromkeys(points["at"]))
    wide = points.pivot_table(
        index=["model", "by", "trust", "run"], columns="at", values="value", sort=False
    )[heads].reset_index()
    wide["Difference"] = wide[heads[-1]] - wide[heads[0]]
    named = wide.drop(columns="run").rename(
        columns={"model": "Model", "by": "By", "trust": "Trust"}
    )
    return named.sort_values("Difference", ignore_index=True)


def cell_table(figures: Sequence[Figure]) -> pd.DataFrame:
    """Cells as they are, for a download."""
    return _as_they_are(Figure, figures)


def _who(figure: Figure) -> tuple[str, str]:
    return figure.run_id, figure.evaluator


def drift(drifts: Sequence[Drift]) -> pd.DataFrame:
    """One row a night and kind of question, for the line of a judge."""
    names = (
        "night",
        "suite",
        "what",
        "agreement",
        "low",
        "high",
        "kappa",
        "questions",
        "outputs",
        "alarm",
        "text",
    )
    rows = [
        {name: getattr(drift_row, name) for name in names}
        for drift_row in drifts
        if drift_row.agreement is not None
    ]
    frame = pd.DataFrame(rows, columns=list(names))
    return frame.assign(night=pd.to_datetime(frame["night"]), what=frame["what"].map(plain))


def heat(
    figures: Sequence[Figure], down: str, across: str, order: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """One entry's figures over two facets in their order."""
    valued = [
        figure
        for figure in figures
        if figure.value is not None and "*" not in (getattr(figure, down), getattr(figure, across))
    ]
    valued.sort(
        key=lambda figure: tuple(
            _place(order[facet], getattr(figure, facet)) for facet in (down, across)
        )
    )
    rows = [
        {
            "down": plain(getattr(figure, down)),
            "across": plain(getattr(figure, across)),
            "value": figure.value,
            "n": f"{figure.n_scored}/{figure.n_expected}" if figure.n_expected is not None else "",
        }
        for figure in valued
    ]
    return pd.DataFrame(rows, columns=["down", "across", "value", "n"])


def _place(order: Sequence[str], value: str) -> tuple[int, str]:
    return (list(order).index(value), "") if value in order else (len(order), value)


def _as_they_are(kind: type[Any], rows: Sequence[object]) -> pd.DataFrame:
    names = [field.name for field in fields(kind)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)
