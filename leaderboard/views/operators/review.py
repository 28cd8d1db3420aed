"""Review: drafts of a new bank, to be kept, edited or dropped, and tasks of the open bank, to be
read by two; for the people who curate, not for the public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from infra.store import StoreError, curation_picture_key, open_store
from leaderboard.draw.words import long_text, name, plain
from leaderboard.queries import review_queue
from leaderboard.queries.bank import review
from leaderboard.queries.review_queue import STATUSES, NotDecided, Queued
from leaderboard.views.operators import reading
from leaderboard.widgets.common import ask_now, pick, press, search, settings, table

STEPS = {
    4: "Round 1: tasks and tools, or ideas",
    7: "Round 2: prompts and questions, or things and steps",
    8: "Round 3: what the picture shows",
}
KINDS = {"drafts": "Drafts of a curation", "bank": "The open bank"}
BANK = "tailor"
PICTURE = "picture_sha256"
"""The key of a draft's context under which the hash of its picture stands."""

PICTURE_WIDTH = 560
ALL_TASKS = "*"
MOST = 50
GUIDE = (
    "Keep what is realistic and can be shown; two substitutes that truly do the job and two tools "
    "that plainly cannot; "
    "prompts that are clear and can be checked; questions that are specific, visible and fit the "
    "outcome. Edit or drop "
    "the rest, and say why."
)


def page() -> None:
    """Tasks of the open bank where a review of them is open, else the queue of one curation."""
    st.title("Review")
    names, standings = ask_now(review_queue.curations), ask_now(review.standings, BANK)
    if standings and names:
        about = st.query_params.get("about", "drafts")
        press("about", "What", list(KINDS), about, KINDS.__getitem__)
    if standings and (not names or st.session_state["pick-about"] == "bank"):
        reading.draw(BANK, standings)
    elif names:
        _drafts(names)
    else:
        st.info("No curation and no review of the bank has begun yet.", icon=":material/info:")
        st.code("armillary tailor curate NAME --base-url URL --model MODEL", language=None)
        st.code(
            "armillary tailor review-bank --person NAME --person NAME --person NAME", language=None
        )


def _drafts(names: list[str]) -> None:
    st.caption(GUIDE)
    curation, status, task = _choose(names)
    _flash()
    drafts = ask_now(review_queue.queue, curation, status, task, None, MOST)
    if not drafts:
        st.success("Nothing here waits for a decision.", icon=":material/check:")
    for step in STEPS:
        _step(step, [draft for draft in drafts if draft.step == step], task)
    if len(drafts) == MOST:
        st.caption(
            f"The first {MOST} are shown. Choose a task, or decide about these and the next will "
            "come."
        )
    _failures(curation)


def _choose(names: list[str]) -> tuple[str, str, str]:
    params = st.query_params.to_dict()
    curation = params["curation"] if params.get("curation") in names else names[0]
    status = params["status"] if params.get("status") in STATUSES else STATUSES[0]
    tasks = [ALL_TASKS, *ask_now(review_queue.tasks, curation, status)]
    task = params["task"] if params.get("task") in tasks else ALL_TASKS
    with st.container(horizontal=True):
        pick("curation", "Curation", names, curation, name, width=220)
        pick("status", "Status", STATUSES, status)
        pick(
            "task",
            "Task",
            tasks,
            task,
            lambda option: "All" if option == ALL_TASKS else name(option, 60),
            width=340,
        )
        search("reviewer", "Your name", params.get("reviewer", ""))
    counts = [count for count in ask_now(review_queue.counts) if count.curation == curation]
    st.caption(" · ".join(f"step {count.step} {count.status}: {count.count}" for count in counts))
    return curation, status, "" if task == ALL_TASKS else task


def _step(step: int, drafts: list[Queued], task: str) -> None:
    if not drafts:
        return
    st.header(STEPS[step], anchor=False)
    if task and any(draft.status == "candidate" for draft in drafts):
        st.button(
            "Keep all that is undecided here",
            key=f"rest-{step}",
            on_click=_keep_rest,
            args=(drafts[0],),
        )
    pictures: set[str] = set()
    for draft in drafts:
        picture = draft.context.get(PICTURE, "")
        if picture and picture not in pictures:
            pictures.add(picture)
            _picture(picture, draft)
        _draft(draft)


def _picture(sha256: str, draft: Queued) -> None:
    """The picture that the drafts below are about."""
    try:
        data = open_store(settings().objects).get(curation_picture_key(sha256))
    except StoreError:
        st.warning(
            "The picture of these drafts is not in the store. Run the curation again.",
            icon=":material/broken_image:",
        )
        return
    st.image(data, caption=name(draft.task_id), width=PICTURE_WIDTH)


def _draft(draft: Queued) -> None:
    with st.container(border=True):
        st.text(f"{name(draft.where)} · {plain(draft.kind)} · written by {name(draft.model, 60)}")
        for key, value in draft.context.items():
            if key == PICTURE:
                continue
            st.text(f"{plain(key)}: {long_text(str(value))}")
        if draft.note:
            st.text(f"The checks say: {long_text(draft.note)}")
        if draft.status != "candidate":
            st.text(
                f"{plain(draft.status)} by {name(draft.reviewer)}: "
                f"{long_text(draft.reason) or 'no reason given'}"
            )
        for key, value in draft.words.items():
            _field(draft.id, key, value)
        st.text_input("Reason", key=f"reason-{draft.id}", max_chars=500)
        with st.container(horizontal=True):
            st.button("Keep", key=f"keep-{draft.id}", on_click=_keep, args=(draft.id,))
            st.button(
                "Save edit",
                key=f"edit-{draft.id}",
                on_click=_edit,
                args=(draft.id, list(draft.words)),
            )
            st.button("Drop", key=f"drop-{draft.id}", on_click=_drop, args=(draft.id,))


def _field(draft_id: str, key: str, value: Any) -> None:
    """A box with the words as text; a list has one line an entry."""
    text = "\n".join(value) if isinstance(value, list) else str(value)
    st.text_area(
        plain(key), text, key=f"words-{draft_id}-{key}", height=68 if len(text) < 90 else 110
    )


def _keep(draft_id: str) -> None:
    _try(review_queue.keep, [draft_id], _reviewer(), _text_of(f"reason-{draft_id}"))


def _edit(draft_id: str, keys: list[str]) -> None:
    words = {key: _text_of(f"words-{draft_id}-{key}") for key in keys}
    _try(review_queue.edit, draft_id, words, _reviewer(), _text_of(f"reason-{draft_id}"))


def _drop(draft_id: str) -> None:
    _try(review_queue.drop, [draft_id], _reviewer(), _text_of(f"reason-{draft_id}"))


def _keep_rest(draft: Queued) -> None:
    _try(review_queue.keep_rest, draft.curation, draft.task_id, draft.step, _reviewer())


def _text_of(key: str) -> str:
    """What stands in a box at this moment; what it held when the page was drawn may be older than
    the click."""
    return str(st.session_state.get(key) or "")


def _reviewer() -> str:
    return _text_of("pick-reviewer")


def _try(decide: Callable[..., Any], *arguments: Any) -> None:
    try:
        ask_now(decide, *arguments)
    except NotDecided as why:
        st.session_state["not-decided"] = str(why)


def _flash() -> None:
    if why := st.session_state.pop("not-decided", ""):
        st.error("Not decided.", icon=":material/block:")
        st.text(long_text(why))


def _failures(curation: str) -> None:
    failed = ask_now(review_queue.unwritten, curation)
    if not failed:
        return
    st.header("Without a usable reply", anchor=False)
    table(
        [
            {
                "Step": call.step,
                "About": name(call.subject),
                "State": call.status,
                "Tries": call.tries,
                "Why": name(call.reason, 300),
                "When (UTC)": call.at,
            }
            for call in failed
        ]
    )
    with st.expander("What was said"):
        for call in failed[:MOST]:
            st.text(f"{call.step} {name(call.subject)}")
            st.code(long_text(call.raw, 4000), language=None)
