"""The front page: what is ranked here, who leads, what changed, how to take part."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from infra.store import open_store
from leaderboard.cache.reader import NoBoard
from leaderboard.draw.front_table import front_table
from leaderboard.draw.trust_strip import label
from leaderboard.draw.words import escaped, name, plain
from leaderboard.queries import entries, nights
from leaderboard.queries.entries import Newcomer
from leaderboard.queries.glance.headlines import shown_outputs
from leaderboard.queries.glance.strip import TrustStrip
from leaderboard.queries.ranking import RankedEntry
from leaderboard.selection.settle import Leaders, Settled, leaders
from leaderboard.widgets.citation import board_address
from leaderboard.widgets.common import ask, link, no_board, settings
from leaderboard.widgets.result_card import CANDIDATES, spread
from leaderboard.widgets.thumbnails import FRONT_WIDTH, row_addresses

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
    st.title("The open leaderboard for visual world models", anchor=False)
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
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(escaped(suite.title), anchor=False, width="content")
        if front.facts and (words := label(front.facts)):
            st.html(f'<span class="arm-label">{escape(words)}</span>', width="content")
    st.markdown(escaped(suite.sentence, 400))
    ours = front.ours or front.unranked
    if front.example:
        _pictures(front.example)
    if ours:
        st.html(front_table(ours, metric))
        st.caption(escaped(_measured(front.settled, front.facts), 300))
    if front.notice:
        st.caption(escaped(BLIND if not front.ours else front.notice, 400))
    if front.printed and front.papers:
        st.caption(
            f"Not ranked: figures from {escaped(front.papers[0].source, 120)}. "
            f"Judged by {JUDGES[front.papers[0].evaluator]}. "
            f"{escaped(_measured(front.printed, None), 300)}"
        )
        st.html(front_table(front.papers, front.printed.metric))
    if not front.example and not front.papers:
        st.caption(
            "No figures yet. Here the leaders will stand as soon as somebody enters: "
            f"`armillary new {suite.name}` makes a folder to begin with."
        )
    link("ranking", "Open the ranking", choice.params(), ":material/leaderboard:")


def _pictures(example: RankedEntry) -> None:
    """A few outputs of one entry, so that a reader sees what is judged."""
    try:
        outputs = spread(ask(shown_outputs, example.submission_id, CANDIDATES))
    except NoBoard:
        return
    store = open_store(settings().objects, settings().s3_endpoint)
    pictures = row_addresses(store, {output.sample_id: output for output in outputs}, FRONT_WIDTH)
    images = "".join(
        f'<img src="{picture}" alt="Output for {escape(name(sample, 100))}">'
        for sample, picture in pictures.items()
    )
    if images:
        caption = escape(f"Shown: {name(example.model, 60)}")
        st.html(f'<div class="arm-pictures">{images}</div><div class="arm-small">{caption}</div>')


JUDGES = {"auto": "the paper's own judge", "human": "people"}
BLIND = (
    "No judge that can see is connected here, so nobody is ranked: set ARMILLARY_JUDGE=… and "
    "evaluate again."
)


def _measured(settled: Settled, facts: TrustStrip | None) -> str:
    """What the figures are, where on the board they stand, and by whom they are judged."""
    metric, choice = settled.metric, settled.choice
    facets = (choice.scenario, choice.task, choice.setting, choice.modality)
    where = " · ".join(plain(value) for value in facets if value != "*")
    judge = f"judge {facts.judge}" if facts else ""
    better = "higher is better" if metric.direction == "higher" else "lower is better"
    words = ", ".join(part for part in (better, where, judge) if part)
    return words[:1].upper() + words[1:]


def _last_night() -> None:
    """What the last nightly run found and moved, if one has run."""
    last_nights = ask(nights.nights, 1)
    if not last_nights:
        return
    last = last_nights[0]
    st.header("Last night", anchor=False)
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
    st.header("New on the board", anchor=False)
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
    st.header("Take part", anchor=False)
    st.markdown(
        "Hand in a bundle of outputs, or a model and we generate. Nothing that you hand in is "
        "executed."
    )
    st.code(
        "pip install armillary\n"
        "armillary new tailor --subset demo my-entry\n"
        "armillary pack my-entry\n"
        f"armillary submit my-entry.zip --server {board_address() or 'ADDRESS'}",
        language=None,
    )
    link("submit", "Submit and status", icon=":material/upload:")
    link("methods", "How the numbers are made", icon=":material/function:")
