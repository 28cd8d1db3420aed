"""Papers: the published tables as their authors show them; every figure leads to its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from infra.tables import Suite
from leaderboard.draw import papers
from leaderboard.draw.papers import PaperTable
from leaderboard.draw.words import escaped, number, plain
from leaderboard.queries import addresses, entries, ranking
from leaderboard.queries.entries import Figure
from leaderboard.widgets.common import address, ask, downloads, link, no_board, pick, press

LEGEND = (
    "● best by the automatic judge, ◆ best by people, within a block. “auto / people” where the "
    "paper prints both."
)


def page() -> None:
    """Draw one of a paper's tables, and the source of the selected figure."""
    suites = {suite.name: suite for suite in ask(ranking.suites)}
    if not suites:
        no_board("No suites are loaded.")
        return
    params = st.query_params.to_dict()
    suite = (
        suites[params["suite"]] if params.get("suite") in suites else next(iter(suites.values()))
    )
    st.title("Published tables")
    press(
        "suite",
        "Suite",
        list(suites),
        suite.name,
        lambda suite_name: suites[suite_name].title,
        then=_forget_table,
    )
    figures = ask(entries.published_figures, suite.name)
    if not figures:
        st.info(
            f"We have no figures of single models from {escaped(suite.title)}'s paper. "
            f"[Paper]({suite.paper})"
        )
        _facts(suite)
        return
    tables = papers.sources(figures)
    table = params["table"] if params.get("table") in tables else tables[0]
    if len(tables) > 1:
        pick("table", "Table", tables, table, str, width=640)
    address({"suite": suite.name, "table": table})
    _table(suite, table, [figure for figure in figures if figure.source == table])
    _facts(suite)


def _facts(suite: Suite) -> None:
    """Sizes, ranges and agreement, as the paper states them."""
    if suite.facts:
        st.header("What the paper states about itself", anchor=False)
        st.caption("Trust C: as printed.")
        facts = [
            {plain(key): plain(text) if key == "quantity" else text for key, text in fact.items()}
            for fact in suite.facts
        ]
        st.dataframe(pd.DataFrame(facts), hide_index=True, placeholder="—")


def _forget_table(params: dict[str, str]) -> dict[str, str]:
    return {"suite": params["suite"]}


def _table(suite: Suite, table: str, figures: Sequence[Figure]) -> None:
    metrics = {metric.name: metric for metric in ask(ranking.metrics, suite.name)}
    grid = papers.grid(figures, metrics, suite.facet_titles, ask(addresses.facet_order, suite.name))
    st.caption(f"{LEGEND} Trust C: shown as printed, never ranked with entries that we judged.")
    picked: Any = st.dataframe(
        grid.frame.style.apply(lambda _: _weights(grid), axis=None),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-cell",
        key=f"grid-{table}",
        column_config={"Model": st.column_config.TextColumn(pinned=True)},
        placeholder="—",
        height="content" if len(grid.frame) <= 40 else 600,
    )
    _source(
        suite, grid, picked.selection.cells, {name: metric.unit for name, metric in metrics.items()}
    )
    downloads(grid.frame, f"armillary-{suite.name}-published")


def _weights(grid: PaperTable) -> pd.DataFrame:
    return grid.best.map(lambda count: "font-weight: bold" if count in ("1", "2") else "")


def _source(suite: Suite, grid: PaperTable, cells: Sequence[Any], units: dict[str, str]) -> None:
    """Where the figure in the picked cell comes from."""
    figures = grid.behind.get((cells[0][0], cells[0][1]), ()) if cells else ()
    if not figures:
        st.caption("Pick a cell to see where its figure comes from.")
        return
    with st.container(border=True):
        for figure in figures:
            spread = (
                f" ± {number(figure.spread, units[figure.metric])}"
                if figure.spread is not None
                else ""
            )
            who = "people" if figure.evaluator == "human" else "the automatic judge"
            value = f"{number(figure.value, units[figure.metric])}{spread}"
            st.markdown(
                f"**{escaped(figure.model)}**, {escaped(plain(figure.metric))} by {who}: "
                f"**{escaped(value)}**"
            )
        st.markdown(
            f"{escaped(figures[0].source, 200)}. [Open the paper]({suite.paper}) "
            f"{escaped(figures[0].note, 300)}"
        )
        at = {
            key: getattr(figures[0], key)
            for key in ("metric", "scenario", "task", "setting", "modality")
        }
        link(
            "ranking",
            "See it in the ranking",
            {"suite": suite.name, **at},
            ":material/leaderboard:",
        )
