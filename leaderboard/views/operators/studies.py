"""Studies: what people said and how far they agree, for everybody; making and running studies, for
operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from infra.db import session
from infra.settings import Settings
from infra.tables.study import Study
from leaderboard.draw.words import escaped, name, plain
from leaderboard.queries import ranking
from leaderboard.studies import agreeing, correlating, overview, running
from leaderboard.studies.states import TURNS, StudyError
from leaderboard.widgets.common import ask_now, downloads, table
from leaderboard.widgets.operator import operator

WORDS = {"open": "Open", "closed": "Close", "published": "Publish"}
RATING_PAGE = "http://127.0.0.1:8503"
WHOLE = "So many are drawn by a seed from what all entries answered; a subset is taken whole."
NONE_YET = (
    "No study is published yet. Here stands what people said of the entries, how far they agree "
    "with each other and with the judges, and every figure without each of them. An operator "
    "makes one under Operate, or by `armillary study create`."
)


def page() -> None:
    """Draw published results for everybody, and the controls of studies for a holder of an
    operator's token."""
    st.title("Studies")
    results, desk = st.tabs(["Results", "Operate"])
    with results:
        _results(ask_now(overview.results))
    with desk:
        _operate()


def _results(studies: list[Study]) -> None:
    if not studies:
        st.info(NONE_YET, icon=":material/info:")
        return
    titles = {study.id: f"{name(study.title, 60)} ({study.suite})" for study in studies}
    chosen = st.selectbox("Study", list(titles), format_func=titles.__getitem__, width=420)
    study = next(listed for listed in studies if listed.id == chosen)
    without = sum(bool(rater["left_out"]) for rater in study.result["raters"])
    with_all = st.toggle(
        f"With the {without} raters whom the rule leaves out", disabled=not without
    )
    result = study.result["all" if with_all else "kept"]
    _agreement(result["agreement"])
    _figures(result["table"], f"armillary-study-{study.id}")
    for case in study.result.get("repair", ()):
        st.warning(
            f"To repair: {escaped(case, 120)}. Half of its raters or more could not label it.",
            icon=":material/build:",
        )
    if others := study.result.get("others"):
        _others(others, f"armillary-study-{study.id}-metrics")
    with st.expander("Raters, and the figures without each of them"):
        table(
            [
                {plain(key): value for key, value in rater.items()}
                for rater in study.result["raters"]
            ]
        )
        rows = [
            {"Without": rater, "Method": name(method), **_flat(figures)}
            for rater, methods in study.result["leave_one_out"].items()
            for method, figures in methods.items()
        ]
        if rows:
            table(rows)


def _agreement(agreement: Mapping[str, Any]) -> None:
    headlines = agreeing.headlines(agreement)
    for column, (title, figure) in zip(st.columns(len(headlines)), headlines.items(), strict=True):
        span = None if figure["low"] is None else f"{figure['low']:.2f} to {figure['high']:.2f}"
        value = "—" if figure["value"] is None else f"{figure['value']:.2f}"
        column.metric(title, value, span, border=True, delta_color="off", delta_arrow="off")
    st.caption(
        f"{agreement['raters']} raters, {agreement['items']} items; 95 % intervals, items drawn "
        "again."
    )
    if rows := agreeing.rows(agreement):
        table(rows)


def _figures(methods: Mapping[str, Mapping[str, Any]], file: str) -> None:
    rows = [{"Method": name(method), **_flat(figures)} for method, figures in methods.items()]
    if rows:
        table(rows)
        downloads(pd.DataFrame(rows), file)


def _others(others: Mapping[str, Any], file: str) -> None:
    """Other metrics beside people's marks, and a paper's figures of the same below."""
    st.header("Other metrics beside people's marks", anchor=False)
    rows = correlating.rows(others)
    table(rows)
    downloads(pd.DataFrame(rows), file)
    st.caption(
        "95 % intervals: over outputs by drawing starts again, over entries by Fisher's "
        "transform; none where there are too few points. A metric of which less is better goes "
        "with people where its correlation is negative."
    )
    for why in correlating.absences(others):
        st.caption(escaped(why, 300))
    with st.expander("Entry by entry, and place by place"):
        table(correlating.entry_rows(others))
        table(correlating.place_rows(others))
    if printed := correlating.printed_rows(others):
        st.subheader("What the paper printed, about other data", anchor=False)
        table(printed)


def _flat(figures: Mapping[str, Any]) -> dict[str, Any]:
    plain_ones = {
        plain(key): value for key, value in figures.items() if not isinstance(value, dict)
    }
    return plain_ones | {
        plain(key): value
        for key, nested in figures.items()
        if isinstance(nested, dict)
        for key, value in nested.items()
    }


def _operate() -> None:
    if operator("studies") is None:
        return
    _flash()
    for row in ask_now(overview.overview):
        _study(row)
    _create()
    orders = [
        {
            "What": order.kind,
            "Study": name(order.study_id),
            "State": order.state,
            "Text": name(order.text, 300),
        }
        for order in ask_now(running.orders)
    ]
    if orders:
        st.header("Orders", anchor=False)
        st.caption("The intake flow carries them out; `armillary study work` does it now.")
        table(orders)


def _study(row: overview.StudyRow) -> None:
    with st.container(border=True):
        st.markdown(
            f"**{escaped(row.title, 80)}** · {escaped(row.id)} · {row.protocol} · {row.state}"
        )
        progress = f"{row.done} of {row.places} ratings" if row.places else "not dealt out yet"
        st.caption(f"{row.items} items, {row.raters} raters, {progress}.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if row.state == "draft":
                _invite(row.id)
            for to in TURNS[row.state]:
                word = "Reopen" if (row.state, to) == ("closed", "open") else WORDS[to]
                st.button(word, key=f"{to}-{row.id}", on_click=_turn, args=(row.id, to))


def _invite(study: str) -> None:
    st.number_input("Raters", 1, 100, 3, key=f"count-{study}", width=110)
    st.text_input("Team they belong to", key=f"team-{study}", width=180, max_chars=100)
    st.checkbox("Adjudicator", key=f"adjudicator-{study}")
    st.button("Invite", key=f"invite-{study}", on_click=_invite_raters, args=(study,))


def _invite_raters(study: str) -> None:
    state = st.session_state
    role = "adjudicator" if state[f"adjudicator-{study}"] else "primary"
    _try(
        lambda db: _remember_links(
            running.invite(
                db, study, int(state[f"count-{study}"]), state[f"team-{study}"].strip(), role
            )
        )
    )


def _remember_links(keys: list[str]) -> None:
    st.session_state["study-links"] = [f"{RATING_PAGE}/?key={key}" for key in keys]


def _turn(study: str, to: str) -> None:
    _try(
        lambda db: (
            running.order(db, "publish", study)
            if to == "published"
            else running.move(db, study, to)
        )
    )


def _create() -> None:
    with st.expander("New study"):
        suites = {suite.name: suite for suite in ask_now(ranking.suites)}
        suite = st.selectbox(
            "Suite", list(suites), format_func=lambda name: suites[name].title, width=220
        )
        entries = ask_now(overview.entries, suite)
        chosen = st.multiselect(
            "Entries", list(entries), format_func=lambda entry: name(entries[entry], 80)
        )
        with st.container(horizontal=True):
            study = st.text_input("Id", max_chars=40, width=180)
            title = st.text_input("Title that raters see", max_chars=80, width=260)
            subset = st.selectbox(
                "Subset",
                ["", *(suites[suite].subsets if suite else ())],
                format_func=_subset_title,
                width=180,
            )
            sample_count = st.number_input(
                "Samples", 1, 2000, 60, width=120, disabled=bool(subset), help=WHOLE
            )
        parameters = {
            "suite": suite,
            "submissions": chosen,
            "title": title,
            "subset": subset,
            "most": None if subset else int(sample_count),
        }
        st.caption("Raters read the title: no model and no team in it.")
        ready = bool(study.strip() and chosen)
        st.button(
            "Create", disabled=not ready, on_click=_order_study, args=(study.strip(), parameters)
        )


def _subset_title(subset: str) -> str:
    return subset or "none: drawn from all"


def _order_study(study: str, parameters: Mapping[str, Any]) -> None:
    _try(lambda db: running.order(db, "create", study, parameters))


def _try(step: Callable[[Any], Any]) -> None:
    try:
        with session(Settings().database) as db:
            step(db)
    except StudyError as error:
        st.session_state["study-error"] = str(error)


def _flash() -> None:
    if why := st.session_state.pop("study-error", ""):
        st.error(escaped(why, 400), icon=":material/block:")
    links = st.session_state.pop("study-links", [])
    if links:
        st.success(
            "One link a rater, shown once and kept nowhere. Put your own address in front where it "
            "is served."
        )
        st.code("\n".join(links), language=None)
