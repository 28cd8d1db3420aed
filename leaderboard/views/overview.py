"""The front page: what is ranked here, who leads, what changed, how to take part."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaderboard import entries, nights
from leaderboard.entries import Newcomer
from leaderboard.queries import Entry
from leaderboard.settling import Leaders, leaders
from leaderboard.widgets import ask, link, no_board
from leaderboard.words import escaped, name, number, plain, titled

INTRO = (
    "World models are judged here on what they show: does a picture or a clip keep to the prompt, to physics, to the "
    "real robot? Every number leads to the outputs behind it, with each question and the judge's answer."
)


def page() -> None:
    """Four suites, their leaders, the news, the door."""
    found = ask(leaders)
    if not found:
        no_board("No suites are loaded.")
        return
    st.title("The open leaderboard for visual world models")
    st.markdown(INTRO)
    for pair in (found[start : start + 2] for start in range(0, len(found), 2)):
        for column, suite in zip(st.columns(2), pair, strict=False):
            with column, st.container(border=True, height="stretch"):
                _suite(suite)
    news, door = st.columns(2)
    with news:
        _last_night()
        _news(ask(entries.newcomers, 8))
    with door:
        _door()


def _suite(found: Leaders) -> None:
    suite, metric, choice = found.settled.suite, found.settled.metric, found.settled.choice
    st.subheader(escaped(suite.title), anchor=False)
    st.markdown(escaped(suite.sentence, 400))
    where = " · ".join(
        plain(value) for value in (choice.scenario, choice.task, choice.setting, choice.modality) if value != "*"
    )
    st.caption(f"{escaped(titled(metric.title, metric.unit))}{': ' + escaped(where, 200) if where else ''}")
    if found.ours:
        st.markdown("\n".join(_line(entry, metric.unit) for entry in found.ours))
    if found.papers and not found.ours:
        st.markdown(
            "\n".join(f"- {escaped(one.model, 60)}: **{number(one.value, metric.unit)}**" for one in found.papers)
        )
        st.caption(f"Not ranked: figures from {escaped(found.papers[0].source, 120)}.")
    if not found.ours and not found.papers:
        _unranked(found.unranked, metric.unit)
    link("ranking", "Open the ranking", choice.params(), ":material/leaderboard:")


def _unranked(entries: Sequence[Entry], unit: str) -> None:
    """Yardsticks and parts of entries, while nobody competes."""
    if not entries:
        st.caption("No figures yet.")
        return
    st.markdown("\n".join(f"- {escaped(one.model, 60)}: **{number(one.value, unit)}**" for one in entries))
    st.caption("Not ranked: to measure by. Nobody has entered to be ranked here yet.")


def _line(entry: Entry, unit: str) -> str:
    between = f"{entry.best_rank} to {entry.worst_rank}" if entry.best_rank != entry.worst_rank else f"{entry.rank}"
    ranks = f", rank {between}"
    span = f" [{number(entry.low, unit)}, {number(entry.high, unit)}]" if entry.low is not None else ""
    who = f"{escaped(entry.model, 60)}, trust {entry.trust}"
    return f"- {who}: **{number(entry.value, unit)}**{escaped(span)}{ranks}"


def _last_night() -> None:
    """What the last nightly run found and moved, if one has run."""
    known = ask(nights.nights, 1)
    if not known:
        return
    last = known[0]
    st.subheader("Last night", anchor=False)
    done = f"{last.submissions} entries, {last.recomputed} computed again, {last.moved} figures moved"
    st.markdown(escaped(f"{last.night:%Y-%m-%d}: {plain(last.state)}. {done}, {last.alarms} alarms.", 300))
    for one in ask(nights.moved, last.night, 3):
        before, after = (f"{value:.3g}" if value is not None else "—" for value in (one.before, one.after))
        what = f"{name(one.model, 50)}, {plain(one.metric)}: {before} → {after}. {plain(one.cause)}"
        st.markdown(f"- {escaped(what, 200)}")
    link("system", "All that moved", icon=":material/monitor_heart:")


def _news(news: Sequence[Newcomer]) -> None:
    st.subheader("New on the board", anchor=False)
    if not news:
        st.caption("Nothing has come on the board yet beside the figures that the papers print.")
    for one in news:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{one.at:%Y-%m-%d}", width="content")
            link("model", escaped(f"{name(one.model, 40)} on {one.title}", 80), {"id": one.submission_id})


def _door() -> None:
    st.subheader("Take part", anchor=False)
    st.markdown("Hand in a bundle of outputs, or a model and we generate. Nothing that you hand in is executed.")
    st.code("armillary check bundle.zip\narmillary submit bundle.zip", language=None)
    link("submit", "Submit and status", icon=":material/upload:")
    link("methods", "How the numbers are made", icon=":material/function:")
