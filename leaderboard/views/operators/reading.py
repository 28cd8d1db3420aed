"""The open bank on the page Review: a reader's desk with prompts, rubrics, pictures and own notes,
and the third person's, where both readers' notes are settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from hashlib import sha256
from typing import Any

import streamlit as st

from infra.store import open_store
from leaderboard.draw.words import escaped, long_text, name, plain
from leaderboard.queries.bank import items, reading, settling
from leaderboard.queries.bank.items import BankPrompt, BankQuestion, PublishedOutput
from leaderboard.queries.bank.review import (
    CATEGORIES,
    DECISIONS,
    READERS,
    FaultPlace,
    FoundFault,
    Settlement,
    TaskStanding,
    person_in,
)
from leaderboard.queries.review_queue import NotDecided
from leaderboard.widgets.common import ask_now, pick, search, settings, table
from leaderboard.widgets.thumbnails import thumbnail

WIDTH = 560
WHOLE = "(the item as a whole)"
GUIDE = (
    "Two read each task and see nothing of each other's notes before both are done; a third "
    "settles what they found. Imagine a few ordinary outputs that follow the prompt, then an idle "
    "scene and a half-done one, and write down every question that would judge them wrongly. The "
    "checklist is `evaluators/suites/tailor/data/review/CHECKLIST.md`."
)


def draw(suite: str, standings: Sequence[TaskStanding]) -> None:
    """The desk of whoever gives a name, at the task chosen."""
    st.caption(GUIDE)
    by_task = {standing.task: standing for standing in standings}
    params = st.query_params.to_dict()
    task = params["task"] if params.get("task") in by_task else next(iter(by_task))
    with st.container(horizontal=True):
        words = {name: f"{name} ({standing.state})" for name, standing in by_task.items()}
        pick("task", "Task", list(by_task), task, words.__getitem__, width=340)
        search("reviewer", "Your name", params.get("reviewer", ""))
    standing = by_task[task]
    states = [each.state for each in standings]
    counted = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    st.caption(" · ".join(counted))
    _flash()
    try:
        who = person_in(standing, params.get("reviewer", ""))
    except NotDecided as why:
        st.info("Write your name above, as the operator wrote it.", icon=":material/badge:")
        st.text(long_text(str(why)))
        return
    _task(suite, standing, who)


def _task(suite: str, standing: TaskStanding, who: str) -> None:
    prompts = ask_now(items.prompts, suite, standing.version, standing.task)
    _prompts(suite, standing, prompts)
    at = (suite, standing.task, who)
    if standing.read_by_both:
        _settling(at, standing)
    elif who in standing.read:
        st.success("You have read this task. The other reader has not.", icon=":material/check:")
        _own_notes(at, may_strike=False)
    elif who in standing.begun:
        _notes_form(at, items.questions_of(prompts, standing.task))
        _own_notes(at, may_strike=True)
        with st.container(horizontal=True):
            _button("I have read the whole task", "finish", reading.finish, *at)
            _button("Give it back, without my notes", "give-back", reading.give_back, *at)
    elif len(standing.begun) < READERS:
        _button("Read this task", "begin", reading.begin, *at)
    else:
        st.info("This task has its two readers; it can be settled once both have read it.")


def _prompts(suite: str, standing: TaskStanding, prompts: Sequence[BankPrompt]) -> None:
    """The four prompts of one instance, each with its rubric and, where there is one, an output."""
    scenarios = {prompt.instance: prompt.scenario for prompt in prompts}
    now = st.query_params.get("instance", "")
    words = {instance: f"{instance} ({scenario})" for instance, scenario in scenarios.items()}
    pick("instance", "Instance", list(scenarios), now, words.__getitem__, width=340)
    instance = now if now in scenarios else next(iter(scenarios))
    outputs = ask_now(items.published_outputs, suite, standing.version, instance)
    for prompt in prompts:
        if prompt.instance == instance:
            with st.container(border=True):
                st.text(f"{plain(prompt.setting)} {prompt.modality}")
                st.text(long_text(prompt.text))
                _picture(outputs.get(prompt.sample_id))
                table(list(map(_rubric_row, prompt.asked)), key=f"rubric-{prompt.sample_id}")


def _rubric_row(asked: BankQuestion) -> dict[str, str]:
    return {
        "Id": asked.id,
        "Part": plain(asked.part),
        "Question": asked.text,
        "Only if met": asked.parent,
    }


def _picture(output: PublishedOutput | None) -> None:
    if output is None:
        return
    chosen = settings()
    store = open_store(chosen.objects, chosen.s3_endpoint)
    small = thumbnail(store, output.media_sha256, output.media_type, WIDTH)
    if small:
        st.image(small, caption=f"Output of {escaped(output.model)}", width=WIDTH)
    else:
        st.caption("The output of this prompt cannot be fetched from the store now.")


def _notes_form(at: tuple[str, str, str], places: dict[str, tuple[str, ...]]) -> None:
    st.header("A fault", anchor=False)
    with st.container(border=True):
        with st.container(horizontal=True):
            item = st.selectbox("Where", list(places), key="fault-item", width=340)
            questions = places.get(item, ("",))
            st.selectbox(
                "Question",
                questions,
                key=f"fault-question-{item}",
                format_func=lambda question: question or WHOLE,
                width=260,
            )
            st.selectbox("Category", CATEGORIES, key="fault-category", width=180)
        st.text_input("What is wrong", key="fault-note", max_chars=1000)
        st.text_input("What you would change", key="fault-change", max_chars=1000)
        st.button("Write it down", key="write", on_click=_write, args=at)


def _write(suite: str, task: str, who: str) -> None:
    item = _held("fault-item")
    place = FaultPlace(item, _held(f"fault-question-{item}"), _held("fault-category"))
    words = (_held("fault-note"), _held("fault-change"))
    if _try(reading.note_fault, suite, task, who, place, *words):
        st.session_state["fault-note"] = st.session_state["fault-change"] = ""


def _own_notes(at: tuple[str, str, str], may_strike: bool) -> None:
    st.header("Your notes", anchor=False)
    found = ask_now(reading.notes, *at)
    if not found:
        st.caption("None so far.")
    for note in found:
        with st.container(border=True):
            _note(note)
            if may_strike:
                key = f"strike-{_key(note.place)}"
                _button("Strike it out", key, reading.take_back, *at, note.place)


def _note(note: FoundFault) -> None:
    st.text(f"{_words(note.place)} · {name(note.reader)}: {long_text(note.note)}")
    if note.change:
        st.text(f"Change: {long_text(note.change)}")


def _settling(at: tuple[str, str, str], standing: TaskStanding) -> None:
    """Both readers' notes, and for a third person what becomes of them."""
    st.header("What the two readers found", anchor=False)
    found = ask_now(reading.notes, *at)
    settled = ask_now(settling.settlements, *at[:2])
    may_settle = at[2] not in standing.read and not standing.closed_by
    if not found:
        st.caption("Neither found a fault.")
    for place in dict.fromkeys(note.place for note in found):
        with st.container(border=True):
            for note in (note for note in found if note.place == place):
                _note(note)
            _settlement(at, place, settled.get(place), may_settle)
    if standing.closed_by:
        st.success(f"Closed by {name(standing.closed_by)}.", icon=":material/check:")
    elif may_settle:
        _button("Close this task", "close", settling.close, *at)
    else:
        st.info("You have read this task, so somebody else settles it.", icon=":material/info:")


def _settlement(
    at: tuple[str, str, str], place: FaultPlace, settled: Settlement | None, may_settle: bool
) -> None:
    if settled:
        by, note = name(settled.settler), long_text(settled.note)
        st.text(f"{plain(settled.decision)} by {by}: {note}")
    if not may_settle or (settled and settled.settler != at[2]):
        return
    key = _key(place)
    st.selectbox("What becomes of it", DECISIONS, key=f"decision-{key}", width=180)
    st.text_input("Why", key=f"why-{key}", max_chars=1000)
    st.text_input("The change", key=f"change-{key}", max_chars=1000)
    st.button("Settle", key=f"settle-{key}", on_click=_settle, args=(*at, place))


def _settle(suite: str, task: str, who: str, place: FaultPlace) -> None:
    words = [_held(f"{field}-{_key(place)}") for field in ("decision", "why", "change")]
    _try(settling.settle, suite, task, who, place, *words)


def _words(place: FaultPlace) -> str:
    return f"{name(place.item)} · {name(place.question or WHOLE)} · {place.category}"


def _key(place: FaultPlace) -> str:
    return sha256("\0".join(astuple(place)).encode()).hexdigest()[:12]


def _button(label: str, key: str, act: Callable[..., Any], *arguments: Any) -> None:
    st.button(label, key=key, on_click=_act, args=(act, *arguments))


def _act(act: Callable[..., Any], *arguments: Any) -> None:
    _try(act, *arguments)


def _held(key: str) -> str:
    return str(st.session_state.get(key) or "")


def _try(act: Callable[..., Any], *arguments: Any) -> bool:
    try:
        ask_now(act, *arguments)
    except NotDecided as why:
        st.session_state["not-decided"] = str(why)
        return False
    return True


def _flash() -> None:
    if why := st.session_state.pop("not-decided", ""):
        st.error("Not taken.", icon=":material/block:")
        st.text(long_text(why))
