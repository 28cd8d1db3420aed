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
from infra.tables_operations import Drift
from leaderboard.behind import Item, Said
from leaderboard.entries import Figure
from leaderboard.queries import Address, Entry
from leaderboard.words import digits, name, number, plain, titled

AT = ("scenario", "task", "setting", "modality")


def standings(entries: Sequence[Entry], metric: Metric, at: Address, since: datetime | None = None) -> pd.DataFrame:
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
    made = pd.DataFrame(rows).astype({"Rank": "Int64"}) if rows else pd.DataFrame(columns=["Model"])
    return without_bare(made, "Ranks", "95 % interval", "Bounds", "Organisation", "Weights", "New", "Note")


def figures(entries: Sequence[Entry], metric: Metric, paper: str) -> pd.DataFrame:
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


def points(entries: Sequence[Entry], best_is_high: bool) -> pd.DataFrame:
    """What a chart of one metric needs, best first; a name that occurs twice says what parts its rows."""
    known = [entry for entry in entries if entry.value is not None]
    known.sort(key=lambda entry: (entry.value or 0.0) * (-1 if best_is_high else 1))
    names = [name(entry.model, 60) for entry in known]
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
        for label, entry in zip(names, known, strict=True)
    ]
    columns = ["label", "model", "value", "low", "high", "trust", "by", "n"]
    return pd.DataFrame(rows, columns=columns)


def _fixed(at: Address) -> dict[str, str]:
    return {facet: getattr(at, facet) for facet in AT if getattr(at, facet) != "*"}


def _label(label: str, entry: Entry, times: int) -> str:
    if times == 1:
        return label
    more = entry.submission_id[-4:] if entry.trust != "C" else ""
    return " · ".join(filter(None, (label, entry.evaluator, more)))


def _about(entry: Entry, side: int) -> float | None:
    return None if entry.spread is None or entry.value is None else entry.value + side * entry.spread


def _ranks(entry: Entry) -> str:
    if entry.best_rank is None or entry.worst_rank is None:
        return ""
    return f"{entry.best_rank}" if entry.best_rank == entry.worst_rank else f"{entry.best_rank}–{entry.worst_rank}"


def _span(entry: Entry, metric: Metric) -> str:
    if entry.low is None or entry.high is None:
        return ""
    return f"{number(entry.low, metric.unit)} – {number(entry.high, metric.unit)}"


def _bounds(entry: Entry, metric: Metric) -> str:
    """What it would be if everything unknown in it were as bad, and as good, as can be."""
    ends = (entry.if_worst, entry.if_best)
    known = sorted(value for value in ends if value is not None)
    return f"{number(known[0], metric.unit)} – {number(known[1], metric.unit)}" if len(known) == 2 else ""


def _rounded(value: float | None, metric: Metric) -> float | None:
    return None if value is None else round(value, digits(metric.unit))


def without_bare(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The table without those of the columns that hold nothing."""
    bare = [name for name in columns if name in frame and (frame[name].isna() | (frame[name] == "")).all()]
    return frame.drop(columns=bare)


def answer_table(said: Sequence[Said]) -> pd.DataFrame:
    """One row a question, one column a judge with its reason beside it."""
    table: dict[str, dict[str, str]] = {}
    for one in said:
        row = table.setdefault(one.question_id, {"Part": plain(one.part), "Question": name(one.question, 400)})
        row[name(one.judge, 40)] = one.value if one.value is not None else plain(one.outcome)
        if one.reason:
            row[f"Reason of {name(one.judge, 40)}"] = name(one.reason, 300)
    return pd.DataFrame(list(table.values()))


def item_table(items: Sequence[Item]) -> pd.DataFrame:
    """Samples as they are, for a download."""
    return _as_they_are(Item, items)


def profile(figures: Sequence[Figure], metrics: Sequence[Metric], facet: str, order: Sequence[str]) -> pd.DataFrame:
    """An entry's headline metrics along one facet in its order, all else together."""
    places = {value: number for number, value in enumerate(("*", *order))}
    titles = {metric.name: titled(metric.title, metric.unit) for metric in metrics if metric.headline}
    figures = [one for one in figures if one.metric in titles]
    others = [other for other in AT if other != facet]
    rows = [
        {
            "metric": titles[one.metric],
            "at": plain(getattr(one, facet)),
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "by": one.evaluator,
            "n": f"{one.n_scored}/{one.n_expected}" if one.n_expected is not None else "",
        }
        for one in sorted(
            figures, key=lambda one: (list(titles).index(one.metric), places.get(getattr(one, facet), 99))
        )
        if all(getattr(one, other) == "*" for other in others) and one.value is not None
    ]
    return pd.DataFrame(rows, columns=["metric", "at", "value", "low", "high", "by", "n"])


def along(figures: Sequence[Figure], facet: str, order: Sequence[str]) -> pd.DataFrame:
    """One row a figure, the facet's values in their order; only who has at least two of them."""
    known = [one for one in figures if one.value is not None and getattr(one, facet) != "*"]
    places = {
        value: number
        for number, value in enumerate([*order, *sorted({getattr(one, facet) for one in known} - set(order))])
    }
    many = {key for key in map(_who, known) if len({getattr(one, facet) for one in known if _who(one) == key}) > 1}
    rows = [
        {
            "model": name(one.model, 60),
            "by": one.evaluator,
            "trust": one.trust,
            "who": f"{name(one.model, 50)} · {one.evaluator}",
            "run": one.run_id,
            "at": plain(getattr(one, facet)),
            "place": places[getattr(one, facet)],
            "value": one.value,
            "low": one.low,
            "high": one.high,
        }
        for one in known
        if _who(one) in many
    ]
    columns = ["model", "by", "trust", "who", "run", "at", "place", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns).sort_values(["place", "who"], ignore_index=True)


def gap_table(points: pd.DataFrame) -> pd.DataFrame:
    """One row an entry, one column a value of the facet, and the last minus the first."""
    if points.empty:
        return points
    heads = list(dict.fromkeys(points["at"]))
    wide = points.pivot_table(index=["model", "by", "trust", "run"], columns="at", values="value", sort=False)[
        heads
    ].reset_index()
    wide["Difference"] = wide[heads[-1]] - wide[heads[0]]
    named = wide.drop(columns="run").rename(columns={"model": "Model", "by": "By", "trust": "Trust"})
    return named.sort_values("Difference", ignore_index=True)


def cell_table(figures: Sequence[Figure]) -> pd.DataFrame:
    """Cells as they are, for a download."""
    return _as_they_are(Figure, figures)


def _who(one: Figure) -> tuple[str, str]:
    return one.run_id, one.evaluator


def drift(found: Sequence[Drift]) -> pd.DataFrame:
    """One row a night and kind of question, for the line of a judge."""
    names = ("night", "suite", "what", "agreement", "low", "high", "kappa", "questions", "outputs", "alarm", "text")
    rows = [{name: getattr(one, name) for name in names} for one in found if one.agreement is not None]
    frame = pd.DataFrame(rows, columns=list(names))
    return frame.assign(night=pd.to_datetime(frame["night"]), what=frame["what"].map(plain))


def heat(figures: Sequence[Figure], down: str, across: str, order: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One entry's figures over two facets in their order."""
    known = [one for one in figures if one.value is not None and "*" not in (getattr(one, down), getattr(one, across))]
    known.sort(key=lambda one: tuple(_place(order[facet], getattr(one, facet)) for facet in (down, across)))
    rows = [
        {
            "down": plain(getattr(one, down)),
            "across": plain(getattr(one, across)),
            "value": one.value,
            "n": f"{one.n_scored}/{one.n_expected}" if one.n_expected is not None else "",
        }
        for one in known
    ]
    return pd.DataFrame(rows, columns=["down", "across", "value", "n"])


def _place(order: Sequence[str], value: str) -> tuple[int, str]:
    return (list(order).index(value), "") if value in order else (len(order), value)


def _as_they_are(kind: type[Any], rows: Sequence[object]) -> pd.DataFrame:
    names = [field.name for field in fields(kind)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)
