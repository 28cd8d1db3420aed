"""The front page: what is ranked here, who leads, what changed, how to take part."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from leaderboard.draw.words import escaped, name, number, plain, titled
from leaderboard.queries import entries, nights
from leaderboard.queries.entries import Newcomer
from leaderboard.queries.ranking import RankedEntry
from leaderboard.selection.settle import Leaders, leaders
from leaderboard.widgets.common import ask, link, no_board

INTRO = (
    "World models are judged here on what they show: does a picture or a clip keep to the prompt, "
    "to physics, to the "
    "real robot? Every number leads to the outputs behind it, with each question and the judge's "
    "answer."
)


def page() -> None:
    """Draw the suites with their leaders, the latest entries, and how to submit."""
    fronts = ask(leaders)
    if not fronts:
        no_board("No suites are loaded.")
        return
    st.title("The open leaderboard for visual world models")
    st.markdown(INTRO)
    for pair in (fronts[start : start + 2] for start in range(0, len(fronts), 2)):
        for column, suite in zip(st.columns(2), pair, strict=False):
            with column, st.container(border=True, height="stretch"):
                _suite(suite)
    news, door = st.columns(2)
    with news:
        _last_night()
        _news(ask(entries.newcomers, 8))
    with door:
        _door()


def _suite(front: Leaders) -> None:
    suite, metric, choice = front.settled.suite, front.settled.metric, front.settled.choice
    st.subheader(escaped(suite.title), anchor=False)
    st.markdown(escaped(suite.sentence, 400))
    where = " · ".join(
        plain(value)
        for value in (choice.scenario, choice.task, choice.setting, choice.modality)
        if value != "*"
    )
    st.caption(
        f"{escaped(titled(metric.title, metric.unit))}{': ' + escaped(where, 200) if where else ''}"
    )
    if front.notice:
        st.warning(escaped(front.notice, 600), icon=":material/visibility_off:")
    if front.ours:
        st.markdown("\n".join(_line(entry, metric.unit) for entry in front.ours))
    if front.papers and not front.ours:
        st.markdown(
            "\n".join(
                f"- {escaped(entry.model, 60)}: **{number(entry.value, metric.unit)}**"
                for entry in front.papers
            )
        )
        st.caption(f"Not ranked: figures from {escaped(front.papers[0].source, 120)}.")
    if not front.ours and not front.papers and (front.unranked or not front.notice):
        _unranked(front.unranked, metric.unit)
    link("ranking", "Open the ranking", choice.params(), ":material/leaderboard:")


def _unranked(entries: Sequence[RankedEntry], unit: str) -> None:
    """List baselines and partial entries of a suite that has no ranked entry."""
    if not entries:
        st.caption("No figures yet.")
        return
    st.markdown(
        "\n".join(
            f"- {escaped(entry.model, 60)}: **{number(entry.value, unit)}**" for entry in entries
        )
    )
    st.caption("Not ranked: to measure by. Nobody has entered to be ranked here yet.")


def _line(entry: RankedEntry, unit: str) -> str:
    between = (
        f"{entry.best_rank} to {entry.worst_rank}"
        if entry.best_rank != entry.worst_rank
        else f"{entry.rank}"
    )
    ranks = f", rank {between}"
    span = (
        f" [{number(entry.low, unit)}, {number(entry.high, unit)}]" if entry.low is not None else ""
    )
    who = f"{escaped(entry.model, 60)}, trust {entry.trust}"
    return f"- {who}: **{number(entry.value, unit)}**{escaped(span)}{ranks}"


def _last_night() -> None:
    """What the last nightly run found and moved, if one has run."""
    last_nights = ask(nights.nights, 1)
    if not last_nights:
        return
    last = last_nights[0]
    st.subheader("Last night", anchor=False)
    summary = (
        f"{last.submissions} entries, {last.recomputed} computed again, {last.moved} figures moved"
    )
    st.markdown(
        escaped(
            f"{last.night:%Y-%m-%d}: {plain(last.state)}. {summary}, {last.alarms} alarms.", 300
        )
    )
    for move in ask(nights.moved_figures, last.night, 3):
        before, after = (
            f"{value:.3g}" if value is not None else "—" for value in (move.before, move.after)
        )
        sentence = (
            f"{name(move.model, 50)}, {plain(move.metric)}: {before} → {after}. {plain(move.cause)}"
        )
        st.markdown(f"- {escaped(sentence, 200)}")
    link("system", "All that moved", icon=":material/monitor_heart:")


def _news(news: Sequence[Newcomer]) -> None:
    st.subheader("New on the board", anchor=False)
    if not news:
        st.caption("Nothing has come on the board yet beside the figures that the papers print.")
    for newcomer in news:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{newcomer.at:%Y-%m-%d}", width="content")
            link(
                "model",
                escaped(f"{name(newcomer.model, 40)} on {newcomer.title}", 80),
                {"id": newcomer.submission_id},
            )


def _door() -> None:
    st.subheader("Take part", anchor=False)
    st.markdown(
        "Hand in a bundle of outputs, or a model and we generate. Nothing that you hand in is "
        "executed."
    )
    st.code("armillary check bundle.zip\narmillary submit bundle.zip", language=None)
    link("submit", "Submit and status", icon=":material/upload:")
    link("methods", "How the numbers are made", icon=":material/function:")
