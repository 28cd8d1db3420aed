"""Gaps: how far a model falls from the usual to the unusual, from image to video, from one format to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import streamlit as st

from leaderboard import charts, choice, entries, failures, frames, places
from leaderboard.choice import ANY
from leaderboard.places import Place
from leaderboard.queries import ALL, FACETS, Address
from leaderboard.settling import Settled, settle
from leaderboard.suite_charts import charts_of, fixed_of, table
from leaderboard.widgets import address, ask, downloads, draw, no_board, pick, press
from leaderboard.words import ARROW, digits, escaped, name, plain, titled

MOST_ENTRIES = 12
MOST_FIELDS = 60
"""A grid that has more is no better to look at."""


def page() -> None:
    """A suite, a metric, the facet to go along, and where all else stands."""
    said = st.query_params.to_dict()
    settled = ask(settle, choice.read({key: value for key, value in said.items() if key in ("suite", "metric")}))
    if settled is None:
        no_board("No suites are loaded.")
        return
    st.title("Gaps")
    titles = {one.name: one.title for one in settled.suites}
    press("suite", "Suite", list(titles), settled.choice.suite, titles.__getitem__, then=_afresh)
    facets = [facet for facet in FACETS if lines(settled.places, facet)]
    if facets:
        along = said["along"] if said.get("along") in facets else facets[0]
        _draw(settled, along, facets, _where(settled.places, along, said), said.get("by", "auto"))
    else:
        st.info(f"{escaped(settled.suite.title)} has no two figures to compare yet.", icon=":material/info:")
    _two_facets(settled, said)
    _suite_charts(settled.suite.name)


def _two_facets(settled: Settled, said: dict[str, str]) -> None:
    """One entry over two facets at once, such as the question's format against its task."""
    grids = {" × ".join(pair): grid(settled.places, *pair) for pair in combinations(FACETS, 2)}
    known = {title: found for title, found in grids.items() if found.fields}
    if not known:
        return
    st.subheader("Two facets at once", anchor=False)
    chosen = known.get(said.get("pair", "")) or max(known.values(), key=lambda one: one.fields)
    suite, metric = settled.suite, settled.metric
    figures = ask(entries.figures_over, suite.name, metric.name, (chosen.down, chosen.across), chosen.at)
    names = {one.run_id: f"{name(one.model, 50)} · {one.evaluator}" for one in figures}
    fullest, _ = Counter(one.run_id for one in figures).most_common(1)[0]
    run = said["entry"] if said.get("entry") in names else fullest
    with st.container(horizontal=True):
        pick("pair", "Facets", list(known), f"{chosen.down} × {chosen.across}", _facets_of(suite.facet_titles), 220)
        pick("entry", "Entry", list(names), run, names.__getitem__, width=340)
    order = ask(places.facet_order, suite.name)
    points = frames.heat([one for one in figures if one.run_id == run], chosen.down, chosen.across, order)
    made = charts.heat(points, titled(metric.title, metric.unit), digits(metric.unit), metric.direction == "higher")
    draw(made, key="heat")
    downloads(points, f"armillary-{suite.name}-{metric.name}-{chosen.down}-{chosen.across}")


def _facets_of(titles: dict[str, str]) -> Callable[[str], str]:
    return lambda pair: " × ".join(titles.get(facet, plain(facet)) for facet in pair.split(" × "))


@dataclass(frozen=True, slots=True)
class Grid:
    """Two facets, where the others stand, and how many fields there are; 0 with less than two rows or columns."""

    down: str
    across: str
    at: Address
    fields: int


def grid(found: Sequence[Place], down: str, across: str) -> Grid:
    """The fullest grid of two facets."""
    parts: dict[Address, list[Address]] = {}
    for place in found:
        if ALL not in (getattr(place.at, down), getattr(place.at, across)):
            parts.setdefault(replace(place.at, **{down: ALL, across: ALL}), []).append(place.at)
    made = [Grid(down, across, at, _fields(some, down, across)) for at, some in parts.items()]
    return max(made, key=lambda one: one.fields, default=Grid(down, across, Address(), 0))


def _fields(some: Sequence[Address], *facets: str) -> int:
    sides = [len({getattr(at, facet) for at in some}) for facet in facets]
    return min(len(some), MOST_FIELDS) if min(sides) > 1 else 0


def _suite_charts(suite: str) -> None:
    """The charts that the suite brings along, each with one sentence on how to read it."""
    known = charts_of(suite)
    if not known:
        return
    found = ask(entries.chart_figures, suite, fixed_of(suite), MOST_ENTRIES)
    figures = table(found + ask(failures.figures, suite))
    if len({one.run_id for one in found if one.trust != "C"}) >= MOST_ENTRIES:
        st.caption(f"The charts below show the {MOST_ENTRIES} best entries of each board and what the papers print.")
    for chart in known:
        made = chart.draw(figures)
        if made is not None:
            st.subheader(chart.title, anchor=False)
            st.caption(chart.reads)
            draw(made, key=f"chart-{chart.name}")


def _afresh(params: dict[str, str]) -> dict[str, str]:
    return {"suite": params["suite"]}


def lines(found: Sequence[Place], facet: str) -> list[Address]:
    """Addresses, `*` at the facet, along which there are at least two figures; the fullest first."""
    values: dict[Address, set[str]] = {}
    weight: dict[Address, int] = {}
    for place in found:
        rest = replace(place.at, **{facet: ALL})
        if getattr(place.at, facet) != ALL:
            values.setdefault(rest, set()).add(getattr(place.at, facet))
            weight[rest] = weight.get(rest, 0) + place.ours * 1000 + place.papers
    return sorted((at for at, some in values.items() if len(some) > 1), key=lambda at: -weight[at])


def _where(found: Sequence[Place], along: str, said: dict[str, str]) -> Address:
    known = lines(found, along)
    asked = Address(**{facet: said.get(facet, ALL) for facet in FACETS if facet != along})
    named = any(facet in said for facet in FACETS if facet != along)
    return asked if named and asked in known else known[0]


def _draw(settled: Settled, along: str, facets: Sequence[str], at: Address, by: str) -> None:
    suite, metric = settled.suite, settled.metric
    titles = {one.name: one.title for one in settled.metrics}
    known = {_title(one): one for one in lines(settled.places, along)}
    with st.container(horizontal=True):
        pick("metric", "Metric", list(titles), metric.name, titles.__getitem__, width=260)
        pick("along", "Along", facets, along, lambda one: suite.facet_titles.get(one, plain(one)))
        pick("by", "Judged by", [ANY, "auto", "human"], by)
        pick("line", "Where", list(known), _title(at), width=340, words=str, then=partial(_go, known))
    params = {"suite": suite.name, "metric": metric.name, "along": along, "by": by}
    address({**params, **{facet: getattr(at, facet) for facet in FACETS if facet != along}})
    order = ask(places.facet_order, suite.name)[along]
    figures = ask(entries.figures_along, suite.name, metric.name, along, at)
    points = frames.along([one for one in figures if by in (ANY, one.evaluator)], along, order)
    best = metric.direction == "higher"
    said = f"{titled(metric.title, metric.unit)} {ARROW[best]}. Solid: automatic judge, dashed: people."
    st.caption(f"{escaped(said, 300)} Bars: 95 % intervals.")
    chart, table = st.columns([3, 2])
    with chart:
        about = (titled(metric.title, metric.unit), digits(metric.unit), metric.best - metric.worst)
        draw(charts.slopes(points, *about), key="slopes")
    with table:
        frame = frames.gap_table(points).round(digits(metric.unit))
        st.dataframe(frame, hide_index=True, placeholder="—")
        downloads(frame, f"armillary-{suite.name}-{metric.name}-{along}")


def _title(at: Address) -> str:
    return " · ".join(plain(getattr(at, facet)) for facet in FACETS if getattr(at, facet) != ALL) or "All together"


def _go(known: dict[str, Address], params: dict[str, str]) -> dict[str, str]:
    at = known[params["line"]]
    kept = {key: value for key, value in params.items() if key not in ("line", *FACETS)}
    return {**kept, **{facet: getattr(at, facet) for facet in FACETS if facet != params.get("along")}}
