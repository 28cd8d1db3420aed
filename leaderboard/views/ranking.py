"""The ranking: one page for all suites. Who leads, by how much, how sure that is, and why to
believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from html import escape
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from infra.store import open_store
from infra.tables import Metric, Suite, now
from leaderboard.cache.reader import NoBoard
from leaderboard.draw import charts, frames
from leaderboard.draw.dots import dots
from leaderboard.draw.ranking_table import (
    MOST_ROWS,
    RankingColumns,
    RankingRows,
    figure_table,
    ranking_table,
)
from leaderboard.draw.timeline import dated, timeline
from leaderboard.draw.trust_strip import strip
from leaderboard.draw.words import TRUST, digits, escaped, name, plain, titled
from leaderboard.queries import addresses, ranking, trust
from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.glance.headlines import (
    headline_figures,
    headline_metrics,
    row_pictures,
)
from leaderboard.queries.glance.strip import shown_board, trust_strip
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress, RankedEntry
from leaderboard.selection import choice
from leaderboard.selection.choice import ANY, Choice
from leaderboard.selection.settle import Settled, best_first, moved, settle
from leaderboard.widgets.citation import cite_board
from leaderboard.widgets.common import (
    address,
    ask,
    chart_files,
    choose_columns,
    downloads,
    no_board,
    pick,
    press,
    settings,
)
from leaderboard.widgets.menus import menu, search_menu
from leaderboard.widgets.standing import place_changes
from leaderboard.widgets.thumbnails import row_addresses

MOST_OFFERS = 12
NEW = timedelta(days=7)


def page() -> None:
    """Draw the selectors, the ranking of one board, and the figures that papers print."""
    settled = ask(settle, choice.read(st.query_params.to_dict()))
    if settled is None:
        no_board("No suites are loaded.")
        return
    suite, metric, chosen = settled.suite, settled.metric, settled.choice
    titles = {listed_suite.name: listed_suite.title for listed_suite in settled.suites}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title("Ranking", anchor=False, width="content")
        press("suite", "", list(titles), chosen.suite, titles.__getitem__, then=_move)
    entries = ask(ranking.ranking, chosen.suite, chosen.metric, chosen.at)
    chosen = _selectors(settled, entries)
    address(chosen.params())
    ours = [entry for entry in choice.matching(entries, chosen) if entry.trust != "C"]
    papers = [entry for entry in choice.matching(entries, chosen) if entry.trust == "C"]
    _judged(ours, settled, chosen)
    place_changes(chosen.board)
    _published(papers, metric, suite, chosen, settled.places)
    _offers(settled, any(entry.value is not None for entry in entries))
    st.markdown(
        f"{escaped(suite.sentence, 400)} Ranked here: {escaped(suite.ranked)}. "
        f"[Paper]({suite.paper})"
    )
    cite_board(suite, chosen)


def _move(params: dict[str, str]) -> dict[str, str]:
    return ask(moved, choice.read(params)).params()


def _selectors(settled: Settled, entries: Sequence[RankedEntry]) -> Choice:
    """One line: metric, facets, and everything else folded behind a button."""
    chosen = settled.choice
    titles = {
        metric.name: f"{metric.title} {'↑' if metric.direction == 'higher' else '↓'}"
        for metric in settled.metrics
    }
    values = addresses.facet_values(settled.places)
    with st.container(horizontal=True, gap="small", key="filters"):
        menu("metric", "Metric", list(titles), chosen.metric, titles.__getitem__, then=_move)
        for facet in FACETS:
            options = list(dict.fromkeys([ALL, *values[facet], getattr(chosen, facet)]))
            if len(options) > 1:
                title = settled.suite.facet_titles.get(facet, plain(facet))
                menu(facet, title, options, getattr(chosen, facet))
        return _filters(chosen, entries)


def _filters(chosen: Choice, entries: Sequence[RankedEntry]) -> Choice:
    boards = {entry.board: _board_title(entry) for entry in entries if entry.trust != "C"}
    organisations = sorted({entry.organisation for entry in entries if entry.organisation})
    if chosen.board not in boards:
        chosen = replace(chosen, board=choice.fullest(entries))
    if len(boards) > 1:
        menu("board", "Board", list(boards), chosen.board, boards.__getitem__, help=BOARD)
    search_menu("q", "Search", chosen.q, "model, team, organisation")
    with st.popover(_filter_title(chosen), icon=":material/filter_list:"):
        pick("by", "Judged by", [ANY, "auto", "human"], chosen.by, width=300)
        words = {ANY: "All", **TRUST}
        pick("trust", "Trust", list(words), chosen.trust, words.__getitem__, width=300)
        if len(organisations) > 1:
            options = [ANY, *organisations]
            pick("organisation", "Organisation", options, chosen.organisation, _organisation, 300)
        if any(entry.weights for entry in entries):
            pick("weights", "Weights", [ANY, "open", "closed"], chosen.weights, width=300)
        sorts = choice.SORTS
        pick("sort", "Order", list(sorts), chosen.sort, sorts.__getitem__, width=300)
    return chosen


def _filter_title(chosen: Choice) -> str:
    """How many filters are set, on the button that hides them."""
    values = (chosen.by, chosen.trust, chosen.organisation, chosen.weights)
    active = sum(value != ANY for value in values)
    return f"Filters: **{active}**" if active else "Filters"


BOARD = (
    "A board is one suite version, one set of samples and one judge. Only entries of one board "
    "are ranked together."
)


def _organisation(organisation: str) -> str:
    return name(plain(organisation), 60)


def _board_title(entry: RankedEntry) -> str:
    return f"{name(entry.judge, 40)} · v{entry.version} · {entry.subset}"


def _about(metric: Metric, suite: Suite, chosen: Choice) -> str:
    where = [
        f"{suite.facet_titles.get(facet, plain(facet))}: {plain(value)}"
        for facet, value in asdict(chosen.at).items()
        if value != ALL
    ]
    better = "higher is better" if metric.direction == "higher" else "lower is better"
    return f"Ranked by {titled(metric.title, metric.unit)}, {better}. " + (
        f"{' · '.join(where)}. " if where else ""
    )


LEGEND = (
    "Small under a figure: its 95 % interval. Small under a rank: where the true rank lies; who "
    "cannot be told apart shares a rank. A figure leads to the samples behind it."
)


def _judged(entries: Sequence[RankedEntry], settled: Settled, chosen: Choice) -> None:
    """Entries that we judged: the trust strip, the table, and under it the chart."""
    suite, metric = settled.suite, settled.metric
    listed = [entry for entry in entries if entry.board == chosen.board]
    if not listed:
        explanation = (
            "Nothing handed in stands here with this choice. "
            f"`armillary new {suite.name} my-entry` makes a folder to begin with; the page Submit "
            "says how."
            if suite.accepts
            else "This suite takes no submissions yet."
        )
        st.caption(explanation)
        return
    best_is_high = metric.direction == "higher"
    facts = ask(trust_strip, shown_board(suite.name, listed))
    st.html(strip(facts, trust.too_good(listed, best_is_high)))
    metrics = headline_metrics(settled.metrics, metric.name)
    panel = any(entry.disagreement is not None for entry in listed)
    columns = RankingColumns(metrics, metric.name, chosen.sort, chosen.hidden.split(","), panel)
    ordered = choice.in_order(listed, chosen.sort)
    rows = _rows(ordered if chosen.rows == "all" else ordered[:MOST_ROWS], metrics, chosen)
    caption = _about(metric, suite, chosen) + LEGEND
    st.html(ranking_table(columns, rows, partial(_address, chosen), caption))
    if len(ordered) > len(rows.entries):
        more = escape(_address(chosen, {"rows": "all"}))
        st.html(f'<a data-turn="1" href="{more}">Show all {len(ordered)} entries</a>')
    frame = frames.standings(ordered, metric, chosen.at, now() - NEW)
    with st.container(horizontal=True):
        downloads(frame, f"armillary-{metric.suite}-{metric.name}-judged")
        away = [title for title in columns.hidden if title]
        free = [m.title for m in metrics if m.name != metric.name] + ["n/N", "Trust", "Date"]
        choose_columns("hidden", "Columns", free, away)
    spread, course = st.columns(2)
    with spread:
        _chart(frames.points(listed, best_is_high), metric, "judged")
    with course:
        if scores := dated(listed):
            title = titled(metric.title, metric.unit)
            picture = timeline(scores, title, best_is_high, digits(metric.unit))
            st.image(picture, width=620, alt=f"{metric.title} over time")


def _rows(entries: Sequence[RankedEntry], metrics: Sequence[Metric], chosen: Choice) -> RankingRows:
    """What the table shows of some entries."""
    runs = tuple(entry.run_id for entry in entries)
    figures = ask(headline_figures, runs, tuple(metric.name for metric in metrics), chosen.at)
    recent = now() - NEW
    new = {entry.run_id for entry in entries if entry.published_at and entry.published_at > recent}
    lately = frozenset(new if len(new) < len(entries) else ())
    return RankingRows(entries, figures, _pictures(entries), lately)


def _pictures(entries: Sequence[RankedEntry]) -> dict[str, str]:
    """A picture for each row; none while only the snapshot can be read, which holds no outputs."""
    try:
        outputs = ask(row_pictures, tuple(entry.submission_id for entry in entries))
    except NoBoard:
        return {}
    return row_addresses(open_store(settings().objects, settings().s3_endpoint), outputs)


def _address(chosen: Choice, changes: Mapping[str, str]) -> str:
    """The page's own address with some of the choice changed."""
    return f"ranking?{urlencode(replace(chosen, **changes).params())}"


def _published(
    entries: Sequence[RankedEntry],
    metric: Metric,
    suite: Suite,
    chosen: Choice,
    known_places: Sequence[FiguresAt],
) -> None:
    """Figures from papers, with their source and without a rank."""
    printed = [place for place in known_places if place.papers]
    if not printed:
        return
    st.header(
        "Published figures",
        help="Trust C: taken from a paper. Shown, never ranked with entries that we judged.",
    )
    if not entries:
        st.caption("The paper prints no figure here with this choice. It prints some here:")
        _buttons(_closest(printed, chosen.at)[:6], chosen, "printed")
        return
    st.caption(
        "Other data than above: the paper's own samples and judges. No ranks and no rank "
        f"intervals: {escaped(entries[0].why_no_ranks, 200)}."
    )
    ordered = best_first(entries, metric.direction == "higher")
    table, chart = st.columns([3, 2])
    with table:
        st.html(figure_table(ordered, metric, suite.paper))
        stem = f"armillary-{metric.suite}-{metric.name}-published"
        downloads(frames.figures(ordered, metric, suite.paper), stem)
    with chart:
        _chart(frames.points(entries, metric.direction == "higher"), metric, "published")


def _chart(points: pd.DataFrame, metric: Metric, stem: str) -> None:
    """One dot an entry with its interval, and the same as files."""
    if not len(points):
        return
    title, whole = titled(metric.title, metric.unit), metric.best - metric.worst
    about = (points, title, digits(metric.unit), whole)
    st.image(
        dots(*about), width=620, alt=f"{metric.title}, one dot an entry with its 95 % interval"
    )
    chart_files(partial(charts.interval_dots, *about), key=f"chart-{stem}")


def _offers(settled: Settled, any_here: bool) -> None:
    """Where else figures stand, as buttons; open if nothing stands here."""
    others = [place for place in settled.places if place.at != settled.choice.at]
    if not any_here:
        words = (
            "Nothing stands at this address. There are figures here:"
            if others
            else f"Here the ranking of {escaped(settled.suite.title)} will stand, with its figures "
            "and how sure they are, as soon as somebody enters."
        )
        st.info(words, icon=":material/info:")
    if others:
        with st.expander(f"{len(others)} other addresses with figures", expanded=not any_here):
            _buttons(_closest(others, settled.choice.at)[:MOST_OFFERS], settled.choice, "offer")


def _buttons(offers: Sequence[FiguresAt], chosen: Choice, stem: str) -> None:
    with st.container(horizontal=True):
        for number, place in enumerate(offers):
            label = (
                " · ".join(plain(value) for value in asdict(place.at).values() if value != ALL)
                or "All together"
            )
            st.button(
                escaped(label), key=f"{stem}-{number}", on_click=_go, args=(chosen.moved(place.at),)
            )


def _closest(candidates: Sequence[FiguresAt], at: BoardAddress) -> list[FiguresAt]:
    return sorted(
        candidates,
        key=lambda place: -sum(getattr(place.at, facet) == getattr(at, facet) for facet in FACETS),
    )


def _go(chosen: Choice) -> None:
    st.query_params.from_dict(chosen.params())
