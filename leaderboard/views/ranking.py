"""The ranking: one page for all suites. Who leads, by how much, how sure that is, and why to
believe it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from infra.tables import Metric, Suite, now
from leaderboard.draw import charts, frames
from leaderboard.draw.dots import dots
from leaderboard.draw.words import TRUST, digits, escaped, name, plain, titled
from leaderboard.queries import addresses, ranking, trust
from leaderboard.queries.addresses import FiguresAt
from leaderboard.queries.ranking import ALL, FACETS, BoardAddress, RankedEntry
from leaderboard.selection import choice
from leaderboard.selection.choice import ANY, Choice
from leaderboard.selection.settle import Settled, best_first, moved, settle
from leaderboard.widgets.common import (
    address,
    ask,
    chart_files,
    columns,
    downloads,
    no_board,
    press,
)
from leaderboard.widgets.menus import menu, search_menu
from leaderboard.widgets.standing import place_changes

MOST_OFFERS = 12
NEW = timedelta(days=7)


def page() -> None:
    """Draw the selectors, the ranking of one board, and the figures that papers print."""
    settled = ask(settle, choice.read(st.query_params.to_dict()))
    if settled is None:
        no_board("No suites are loaded.")
        return
    suite, metric, chosen = settled.suite, settled.metric, settled.choice
    st.title("Ranking")
    titles = {listed_suite.name: listed_suite.title for listed_suite in settled.suites}
    press("suite", "Suite", list(titles), chosen.suite, titles.__getitem__, then=_move)
    st.markdown(
        f"{escaped(suite.sentence, 400)} Ranked here: {escaped(suite.ranked)}. "
        f"[Paper]({suite.paper})"
    )
    entries = ask(ranking.ranking, chosen.suite, chosen.metric, chosen.at)
    chosen = _selectors(settled, entries)
    address(chosen.params())
    ours = [entry for entry in choice.matching(entries, chosen) if entry.trust != "C"]
    papers = [entry for entry in choice.matching(entries, chosen) if entry.trust == "C"]
    st.caption(_about(metric, suite, chosen))
    _judged(ours, metric, suite, chosen)
    place_changes(chosen.board)
    _published(papers, metric, suite, chosen, settled.places)
    _offers(settled, any(entry.value is not None for entry in entries))


def _move(params: dict[str, str]) -> dict[str, str]:
    return ask(moved, choice.read(params)).params()


def _selectors(settled: Settled, entries: Sequence[RankedEntry]) -> Choice:
    chosen = settled.choice
    titles = {
        metric.name: f"{metric.title} {'↑' if metric.direction == 'higher' else '↓'}"
        for metric in settled.metrics
    }
    values = addresses.facet_values(settled.places)
    with st.container(horizontal=True):
        menu("metric", "Metric", list(titles), chosen.metric, titles.__getitem__, then=_move)
        for facet in FACETS:
            options = list(dict.fromkeys([ALL, *values[facet], getattr(chosen, facet)]))
            menu(
                facet,
                settled.suite.facet_titles.get(facet, plain(facet)),
                options,
                getattr(chosen, facet),
            )
    return _filters(chosen, entries)


def _filters(chosen: Choice, entries: Sequence[RankedEntry]) -> Choice:
    boards = {entry.board: _board_title(entry) for entry in entries if entry.trust != "C"}
    organisations = sorted({entry.organisation for entry in entries if entry.organisation})
    if chosen.board not in boards:
        chosen = replace(chosen, board=choice.fullest(entries))
    with st.container(horizontal=True):
        menu("by", "Judged by", [ANY, "auto", "human"], chosen.by)
        menu("trust", "Trust", [ANY, *TRUST], chosen.trust, lambda level: TRUST.get(level, "All"))
        if len(organisations) > 1:
            menu(
                "organisation",
                "Organisation",
                [ANY, *organisations],
                chosen.organisation,
                _organisation,
            )
        if any(entry.weights for entry in entries):
            menu("weights", "Weights", [ANY, "open", "closed"], chosen.weights)
        if len(boards) > 1:
            menu("board", "Board", list(boards), chosen.board, boards.__getitem__, help=BOARD)
        menu("sort", "Order", list(choice.SORTS), chosen.sort, choice.SORTS.__getitem__)
        search_menu("q", "Search", chosen.q, "model, team, organisation")
    return chosen


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
    ]
    better = "Higher is better" if metric.direction == "higher" else "Lower is better"
    return (
        f"**{escaped(titled(metric.title, metric.unit))}**. {better}. "
        f"{escaped(' · '.join(where), 400)}"
    )


def _judged(entries: Sequence[RankedEntry], metric: Metric, suite: Suite, chosen: Choice) -> None:
    """Entries that we judged, ranked, with their chart beside them."""
    st.subheader(
        "Judged here", help="Trust A: we generated and judged. Trust B: they generated, we judged."
    )
    listed = [entry for entry in entries if entry.board == chosen.board]
    if not listed:
        explanation = (
            "Nothing handed in stands here with this choice."
            if suite.accepts
            else "This suite takes no submissions yet."
        )
        st.caption(explanation)
        return
    _notices(listed, metric)
    frame = frames.standings(choice.in_order(listed, chosen.sort), metric, chosen.at, now() - NEW)
    _side_by_side(
        frame,
        frames.points(listed, metric.direction == "higher"),
        metric,
        "judged",
        chosen.hidden.split(","),
    )


def _notices(listed: Sequence[RankedEntry], metric: Metric) -> None:
    """Why the board has no ranks, if it has none; in red, which sanity rows are too good."""
    sight = ask(trust.notice, listed[0].board)
    if sight and sight.text:
        st.warning(escaped(sight.text, 1000), icon=":material/visibility_off:")
    for sentence in trust.too_good(listed, metric.direction == "higher"):
        st.error(escaped(sentence, 400), icon=":material/error:")


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
    st.subheader(
        "Published figures",
        help="Trust C: taken from a paper. Shown, never ranked with entries that we judged.",
    )
    if not entries:
        st.caption("The paper prints no figure here with this choice. It prints some here:")
        _buttons(_closest(printed, chosen.at)[:6], chosen, "printed")
        return
    st.caption(f"No ranks and no rank intervals: {escaped(entries[0].why_no_ranks, 200)}.")
    ordered = best_first(entries, metric.direction == "higher")
    frame = frames.figures(ordered, metric, suite.paper)
    _side_by_side(frame, frames.points(entries, metric.direction == "higher"), metric, "published")


def _side_by_side(
    frame: pd.DataFrame,
    points: pd.DataFrame,
    metric: Metric,
    stem: str,
    hidden: Sequence[str] | None = None,
) -> None:
    table, chart = st.columns([3, 2])
    free = [column for column in frame.columns if column not in ("Model", metric.title)]
    away = [column for column in hidden or () if column in free]
    visible = frame.drop(columns=away)
    with table:
        st.dataframe(
            visible,
            hide_index=True,
            column_config=_columns(visible, metric),
            key=f"table-{stem}",
            placeholder="—",
        )
        with st.container(horizontal=True):
            downloads(visible, f"armillary-{metric.suite}-{metric.name}-{stem}")
            if hidden is not None:
                columns("hidden", "Columns", free, away)
    with chart:
        if len(points):
            about = (
                points,
                titled(metric.title, metric.unit),
                digits(metric.unit),
                metric.best - metric.worst,
            )
            st.image(
                dots(*about),
                width="stretch",
                alt=f"{metric.title}, one dot an entry with its 95 % interval",
            )
            chart_files(partial(charts.interval_dots, *about), key=f"chart-{stem}")


RANK = "Inside this board only. Who cannot be told apart shares a rank."
BOUNDS = "What it would be if everything that is missing in it were as bad, and as good, as can be."
RANKS = (
    "Where the true rank lies, from paired differences task by task; all of them hold in 95 of "
    "100 boards."
)


def _columns(frame: pd.DataFrame, metric: Metric) -> dict[str, Any]:
    config = st.column_config
    configured = {
        "Rank": config.NumberColumn(width=50, pinned=True, help=RANK),
        "Ranks": config.TextColumn(
            width=60,
            help=RANKS,
        ),
        "Model": config.TextColumn(width=170, pinned=True),
        metric.title: config.NumberColumn(
            width=135, format=f"%.{digits(metric.unit)}f", help=metric.explain
        ),
        "±": config.NumberColumn(
            format=f"%.{digits(metric.unit)}f", help="The spread that the paper prints."
        ),
        "n/N": config.TextColumn(help="Samples scored, of those expected."),
        "Bounds": config.TextColumn(help=BOUNDS),
        "Date": config.DateColumn(format="YYYY-MM-DD"),
        "Look": config.LinkColumn(display_text="samples", help="What is behind the number."),
        "Card": config.LinkColumn(display_text="model", help="The entry's own page."),
        "Paper": config.LinkColumn(display_text="open"),
    }
    return {column: configured[column] for column in frame.columns if column in configured}


def _offers(settled: Settled, any_here: bool) -> None:
    """Where else figures stand, as buttons; open if nothing stands here."""
    others = [place for place in settled.places if place.at != settled.choice.at]
    if not any_here:
        where = (
            "There are figures here:"
            if others
            else f"{escaped(settled.suite.title)} has none yet for this metric."
        )
        st.info(f"Nothing stands at this address. {where}", icon=":material/info:")
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
