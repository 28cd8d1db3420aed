"""Gaps: how far a model falls from the usual to the unusual, from image to video, from one format
to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import streamlit as st

from leaderboard.draw import charts, frames
from leaderboard.draw.suite_charts import charts_of, fixed_of, table
from leaderboard.draw.trust_strip import strip
from leaderboard.draw.words import ARROW, digits, escaped, name, plain, titled
from leaderboard.queries import comparison, entries, failures
from leaderboard.queries.addresses import FiguresAt, facet_order
from leaderboard.queries.entries import Figure
from leaderboard.queries.glance.strip import shown_board, trust_strip
from leaderboard.queries.ranking import (
    ALL,
    FACETS,
    PAPER,
    BoardAddress,
    RankedEntry,
    ranking,
)
from leaderboard.selection import choice
from leaderboard.selection.choice import ANY
from leaderboard.selection.settle import Settled, settle
from leaderboard.widgets.common import address, ask, downloads, draw, no_board, pick, press

MOST_ENTRIES = 12
MOST_FIELDS = 60
"""A grid that has more is no better to look at."""


def page() -> None:
    """Draw a metric along one facet, over two facets, and the suite's own charts."""
    params = st.query_params.to_dict()
    settled = ask(
        settle,
        choice.read({key: value for key, value in params.items() if key in ("suite", "metric")}),
    )
    if settled is None:
        no_board("No suites are loaded.")
        return
    st.title("Gaps")
    titles = {listed_suite.name: listed_suite.title for listed_suite in settled.suites}
    press("suite", "Suite", list(titles), settled.choice.suite, titles.__getitem__, then=_afresh)
    facets = [facet for facet in FACETS if lines(settled.places, facet)]
    if facets:
        along = params["along"] if params.get("along") in facets else facets[0]
        _draw(
            settled, along, facets, _where(settled.places, along, params), params.get("by", "auto")
        )
    else:
        st.info(
            f"{escaped(settled.suite.title)} has no two figures to compare yet.",
            icon=":material/info:",
        )
    _two_facets(settled, params)
    _suite_charts(settled.suite.name)


def _two_facets(settled: Settled, params: dict[str, str]) -> None:
    """One entry over two facets at once, such as the question's format against its task."""
    grids = {" × ".join(pair): grid(settled.places, *pair) for pair in combinations(FACETS, 2)}
    usable = {title: facet_grid for title, facet_grid in grids.items() if facet_grid.fields}
    if not usable:
        return
    st.header("Two facets at once", anchor=False)
    chosen = usable.get(params.get("pair", "")) or max(
        usable.values(), key=lambda facet_grid: facet_grid.fields
    )
    suite, metric = settled.suite, settled.metric
    figures = ask(
        entries.figures_over, suite.name, metric.name, (chosen.down, chosen.across), chosen.at
    )
    names = {figure.run_id: f"{name(figure.model, 50)} · {figure.evaluator}" for figure in figures}
    fullest, _ = Counter(figure.run_id for figure in figures).most_common(1)[0]
    run = params["entry"] if params.get("entry") in names else fullest
    with st.container(horizontal=True):
        pick(
            "pair",
            "Facets",
            list(usable),
            f"{chosen.down} × {chosen.across}",
            _facets_of(suite.facet_titles),
            220,
        )
        pick("entry", "Entry", list(names), run, names.__getitem__, width=340)
    order = ask(facet_order, suite.name)
    points = frames.heat(
        [figure for figure in figures if figure.run_id == run], chosen.down, chosen.across, order
    )
    chart = charts.heat(
        points, titled(metric.title, metric.unit), digits(metric.unit), metric.direction == "higher"
    )
    draw(chart, key="heat")
    downloads(points, f"armillary-{suite.name}-{metric.name}-{chosen.down}-{chosen.across}")


def _facets_of(titles: dict[str, str]) -> Callable[[str], str]:
    return lambda pair: " × ".join(titles.get(facet, plain(facet)) for facet in pair.split(" × "))


@dataclass(frozen=True, slots=True)
class FacetGrid:
    """Two facets, the address of the others, and the number of cells; 0 with fewer than two rows or
    columns."""

    down: str
    across: str
    at: BoardAddress
    fields: int


def grid(known_places: Sequence[FiguresAt], down: str, across: str) -> FacetGrid:
    """The fullest grid of two facets."""
    parts: dict[BoardAddress, list[BoardAddress]] = {}
    for place in known_places:
        if ALL not in (getattr(place.at, down), getattr(place.at, across)):
            parts.setdefault(replace(place.at, **{down: ALL, across: ALL}), []).append(place.at)
    grids = [
        FacetGrid(down, across, at, _fields(addresses, down, across))
        for at, addresses in parts.items()
    ]
    return max(
        grids,
        key=lambda candidate: candidate.fields,
        default=FacetGrid(down, across, BoardAddress(), 0),
    )


def _fields(addresses: Sequence[BoardAddress], *facets: str) -> int:
    sides = [len({getattr(at, facet) for at in addresses}) for facet in facets]
    return min(len(addresses), MOST_FIELDS) if min(sides) > 1 else 0


def _suite_charts(suite: str) -> None:
    """The charts that the suite brings along, each with one sentence on how to read it."""
    suite_charts = charts_of(suite)
    if not suite_charts:
        return
    charted = one_board_a_kind(ask(ranking, suite, None, BoardAddress()))
    own_runs = tuple(sorted(entry.run_id for entry in charted.entries))
    published = ask(entries.chart_figures, suite, fixed_of(suite), own_runs)
    figures = table(published + ask(failures.figures, suite))
    figures["recipe"] = figures["run_id"].map(ask(comparison.recipes, own_runs)).fillna("")
    if charted.about:
        st.caption(escaped(f"In the charts below: {charted.about}", 500))
    for chart in suite_charts:
        drawing = chart.draw(figures)
        if drawing is not None:
            st.header(chart.title, anchor=False)
            st.caption(chart.reads)
            draw(drawing, key=f"chart-{chart.name}")


@dataclass(frozen=True, slots=True)
class Charted:
    """Entries that may stand in a suite's charts, and words about whose judgement they show."""

    entries: tuple[RankedEntry, ...]
    about: str


def one_board_a_kind(listed: Sequence[RankedEntry]) -> Charted:
    """The best entries of the fullest board that a judge, and of the fullest that people made;
    what only measures and other boards stay out, for another board is another scale."""
    own = [entry for entry in listed if entry.trust != PAPER and entry.role == "entry"]
    drawn: list[RankedEntry] = []
    words: list[str] = []
    for kind in ("auto", "human"):
        board = choice.fullest([entry for entry in own if entry.evaluator == kind])
        on_board = [entry for entry in own if entry.board == board]
        if on_board:
            drawn += on_board[:MOST_ENTRIES]
            words.append(_on_board(on_board))
    others = len({entry.board for entry in own} - {entry.board for entry in drawn})
    words += [f"{others} other boards are not drawn."] * bool(others)
    return Charted(tuple(drawn), " ".join(words))


def _on_board(entries_of_one: Sequence[RankedEntry]) -> str:
    first, count = entries_of_one[0], len(entries_of_one)
    many = f"the {MOST_ENTRIES} best of {count} entries" if count > MOST_ENTRIES else "entries"
    return f"{many} of one board, {first.subset} subset, judged by {first.judge}."


def _afresh(params: dict[str, str]) -> dict[str, str]:
    return {"suite": params["suite"]}


def lines(known_places: Sequence[FiguresAt], facet: str) -> list[BoardAddress]:
    """Addresses, `*` at the facet, along which there are at least two figures; the fullest
    first."""
    values: dict[BoardAddress, set[str]] = {}
    weight: dict[BoardAddress, int] = {}
    for place in known_places:
        line = replace(place.at, **{facet: ALL})
        if getattr(place.at, facet) != ALL:
            values.setdefault(line, set()).add(getattr(place.at, facet))
            weight[line] = weight.get(line, 0) + place.ours * 1000 + place.papers
    return sorted(
        (at for at, facet_values in values.items() if len(facet_values) > 1),
        key=lambda at: -weight[at],
    )


def _where(known_places: Sequence[FiguresAt], along: str, params: dict[str, str]) -> BoardAddress:
    addresses = lines(known_places, along)
    addressed = BoardAddress(
        **{facet: params.get(facet, ALL) for facet in FACETS if facet != along}
    )
    named = any(facet in params for facet in FACETS if facet != along)
    return addressed if named and addressed in addresses else addresses[0]


def _draw(settled: Settled, along: str, facets: Sequence[str], at: BoardAddress, by: str) -> None:
    suite, metric = settled.suite, settled.metric
    titles = {metric.name: metric.title for metric in settled.metrics}
    addresses = {_title(line): line for line in lines(settled.places, along)}
    with st.container(horizontal=True):
        pick("metric", "Metric", list(titles), metric.name, titles.__getitem__, width=260)
        pick(
            "along",
            "Along",
            facets,
            along,
            lambda facet: suite.facet_titles.get(facet, plain(facet)),
        )
        pick("by", "Judged by", [ANY, "auto", "human"], by)
        pick(
            "line",
            "Where",
            list(addresses),
            _title(at),
            width=340,
            words=str,
            then=partial(_go, addresses),
        )
    params = {"suite": suite.name, "metric": metric.name, "along": along, "by": by}
    address({**params, **{facet: getattr(at, facet) for facet in FACETS if facet != along}})
    order = ask(facet_order, suite.name)[along]
    figures = ask(entries.figures_along, suite.name, metric.name, along, at)
    drawn = one_judge(figures, ask(ranking, suite.name, metric.name, at), by)
    points = frames.along(drawn.figures, along, order)
    lined = frames.along(best_lines(drawn), along, order)
    best = metric.direction == "higher"
    summary = (
        f"{titled(metric.title, metric.unit)} {ARROW[best]}. Solid: automatic judge, dashed: "
        "people."
    )
    if drawn.entries:
        st.html(strip(ask(trust_strip, shown_board(suite.name, drawn.entries))))
    st.caption(f"{escaped(summary, 300)} Bars: 95 % intervals. {escaped(drawn.about, 400)}")
    about = (titled(metric.title, metric.unit), digits(metric.unit), metric.best - metric.worst)
    draw(charts.slopes(lined, *about), key="slopes")
    frame = frames.gap_table(points).round(digits(metric.unit))
    st.dataframe(frame, hide_index=True, placeholder="—")
    downloads(frame, f"armillary-{suite.name}-{metric.name}-{along}")


@dataclass(frozen=True, slots=True)
class OneJudge:
    """What may stand on one axis: entries of one board, what papers print, and words about both;
    `entries` are those of the board, best first."""

    figures: list[Figure]
    about: str
    entries: tuple[RankedEntry, ...] = ()


def one_judge(figures: Sequence[Figure], listed: Sequence[RankedEntry], by: str) -> OneJudge:
    """Leave out what only measures, and every board but the fullest: another judge is another
    scale."""
    entered = [
        entry
        for entry in listed
        if entry.trust != PAPER and entry.role == "entry" and by in (ANY, entry.evaluator)
    ]
    board = choice.fullest(entered)
    runs = {entry.run_id: entry for entry in entered if entry.board == board}
    shown = [
        figure
        for figure in figures
        if figure.run_id in runs or (figure.trust == PAPER and by in (ANY, figure.evaluator))
    ]
    first = next(iter(runs.values()), None)
    others = len({entry.board for entry in entered} - {board})
    words = [
        f"Entries: one board, {first.subset} subset, judged by {first.judge}." if first else "",
        f"{others} other boards are not drawn." if others else "",
        f"The {MOST_ENTRIES} best of {len(runs)} entries are drawn, all stand in the table."
        if len(runs) > MOST_ENTRIES
        else "",
        "Figures of papers (trust C) have judges and data of their own."
        if any(figure.trust == PAPER for figure in shown)
        else "",
    ]
    return OneJudge(shown, " ".join(filter(None, words)), tuple(runs.values()))


def best_lines(drawn: OneJudge) -> list[Figure]:
    """As many entries as lines can be told apart, and all that papers print."""
    best = {entry.run_id for entry in drawn.entries[:MOST_ENTRIES]}
    return [figure for figure in drawn.figures if figure.trust == PAPER or figure.run_id in best]


def _title(at: BoardAddress) -> str:
    return (
        " · ".join(plain(getattr(at, facet)) for facet in FACETS if getattr(at, facet) != ALL)
        or "All together"
    )


def _go(addresses: dict[str, BoardAddress], params: dict[str, str]) -> dict[str, str]:
    at = addresses[params["line"]]
    remaining = {key: value for key, value in params.items() if key not in ("line", *FACETS)}
    return {
        **remaining,
        **{facet: getattr(at, facet) for facet in FACETS if facet != params.get("along")},
    }
