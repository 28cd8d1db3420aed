"""What a rater sees: consent, one item at a time, what is left. Answers are kept as they are
given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from infra.db import session
from infra.settings import Settings
from infra.store import open_store
from infra.tables.study import Rater, Study
from leaderboard.draw.words import escaped, plain
from leaderboard.studies import desk
from leaderboard.studies.desk import DeskItem, NotYours
from leaderboard.studies.forms import Form, FormQuestion, Medium, compared
from leaderboard.studies.protocols import protocol_named
from leaderboard.studies.watching import KEY, watched
from leaderboard.widgets.thumbnails import media

PAUSED = "paused"
A_ROW = 2
"""Clips beside each other: four in a row are too small to see what goes wrong."""
KEYS = (
    "Keys: 1, 2, 3 … answer the next open question, Ctrl+Enter hands in, Alt+Z takes the last one "
    "back, Alt+P pauses. "
    "Tab and the arrows reach everything else."
)


def page() -> None:
    """Let a rater in by the key in their link, and lay the next item before them."""
    settings = Settings()
    with session(settings.database) as db:
        rater = desk.come_in(db, st.query_params.get("key", ""))
        study = db.get(Study, rater.study_id) if rater else None
    if rater is None or study is None:
        st.title("Rating")
        st.info(
            "This link opens nothing now. The study may be closed, or a part of the link is "
            "missing."
        )
        return
    if rater.consent_version != study.consent_version:
        _consent(settings, rater, study)
        return
    if st.session_state.get(PAUSED):
        _paused()
        return
    with session(settings.database) as db:
        turn = desk.next_turn(db, rater)
        progress = desk.progress(db, rater)
    st.progress(
        progress.finished / progress.total if progress.total else 1.0,
        f"{progress.finished} of {progress.total} done, {progress.session_finished} of "
        f"{progress.session_total} in "
        "this session. You may close the page at any time and come back by the same link.",
    )
    if turn is None:
        st.success("Everything is done. Thank you!")
        _undo(settings, rater)
        return
    _item(settings, rater, study, turn)


def _consent(settings: Settings, rater: Rater, study: Study) -> None:
    st.title(study.title)
    st.markdown(escaped(study.consent, 4000))
    st.caption(f"Version {study.consent_version} of this text.")
    if st.button("I agree", type="primary", shortcut="Enter"):
        with session(settings.database) as db:
            desk.consent(db, rater.id, study.consent_version)
        st.rerun()


def _paused() -> None:
    st.title("Paused")
    st.info("Everything is kept. Go on here, or close the page and come back by the same link.")
    if st.button("Go on", type="primary", shortcut="Enter"):
        del st.session_state[PAUSED]
        st.rerun()


def _item(settings: Settings, rater: Rater, study: Study, turn: DeskItem) -> None:
    _keep(settings, rater, turn)
    with st.container(horizontal=True):
        with st.popover("How to rate", icon=":material/help:"):
            st.markdown(escaped(study.instructions, 4000))
            st.caption(KEYS)
        with st.popover("Examples", icon=":material/school:", width="content"):
            _examples(settings, study)
    _task(settings, turn.form)
    answers = _compared(settings, turn) if compared(turn.form) else _beside(settings, turn)
    _next_by_key(turn, answers)
    comment = st.text_input(
        "Comment (optional)", turn.comment, key=f"{turn.item_id}-comment", max_chars=1000
    )
    filled_in = {name: value for name, value in answers.items() if value is not None}
    _finish(settings, rater, turn, filled_in, comment)


def _task(settings: Settings, form: Form) -> None:
    """What the item is about: its name, the task, the picture it begins with, and what the points
    of a scale mean."""
    if not form.context:
        _words(form)
        return
    left, right = st.columns([1, 2])
    with left:
        for picture in form.context:
            _show(settings, picture, named=False)
    with right:
        _words(form)


def _words(form: Form) -> None:
    if form.heading:
        st.caption(escaped(form.heading, 200))
    st.text(form.text)
    if form.legend:
        st.markdown("  \n".join(escaped(line, 200) for line in form.legend))


def _beside(settings: Settings, turn: DeskItem) -> dict[str, Any]:
    """What is looked at on the left, all questions on the right, so that both are in sight."""
    left, right = st.columns([3, 2])
    with left:
        for medium in turn.form.media:
            _show(settings, medium, len(turn.form.media) > 1)
    answers: dict[str, Any] = {}
    with right:
        for ask in turn.form.asks:
            answers[ask.id] = _ask(turn, ask) if ask.is_open(answers) else None
    return answers


def _compared(settings: Settings, turn: DeskItem) -> dict[str, Any]:
    """Each medium with its own questions below it, two beside each other, then those about all."""
    answers = _watched(turn)
    for start in range(0, len(turn.form.media), A_ROW):
        row = turn.form.media[start : start + A_ROW]
        for column, medium in zip(st.columns(A_ROW), row, strict=False):
            with column:
                answers |= _compared_one(settings, turn, medium)
    return answers | {ask.id: _ask(turn, ask) for ask in turn.form.asks if not ask.about}


def _compared_one(settings: Settings, turn: DeskItem, medium: Medium) -> dict[str, Any]:
    asks = [ask for ask in turn.form.asks if ask.about == medium.letter and ask.kind != "watched"]
    with st.container(key=f"{KEY}{medium.letter}"):
        _show(settings, medium, named=True)
    ticks = [ask for ask in asks if ask.kind == "tick"]
    if ticks and turn.form.warning:
        st.warning(escaped(turn.form.warning, 300), icon=":material/warning:")
    return {ask.id: _ask(turn, ask) for ask in asks}


def _watched(turn: DeskItem) -> dict[str, Any]:
    """Which clips were played to the end, where that is asked; it is kept like an answer."""
    asks = {ask.about: ask.id for ask in turn.form.asks if ask.kind == "watched"}
    if not asks:
        return {}
    before = [letter for letter, name in asks.items() if turn.answers.get(name) is True]
    letters = watched(list(asks), before, f"{turn.item_id}-watching")
    for letter in letters:
        st.session_state[f"{turn.item_id}-{asks[letter]}"] = True
    if len(letters) > len(before):
        st.rerun()
    return {asks[letter]: True for letter in letters}


def _examples(settings: Settings, study: Study) -> None:
    """What a right answer looks like: in words for the protocol, with media where the study brings
    some."""
    with session(settings.database) as db:
        sentences = list(protocol_named(db, study.protocol).examples)
        examples = desk.examples(db, study.id)
    for text in sentences:
        st.markdown(f"- {escaped(text, 600)}")
    for example in examples:
        st.text(example.form.text)
        for medium in example.form.media:
            _show(settings, medium, len(example.form.media) > 1)
        texts = {ask.id: ask.text for ask in example.form.asks}
        for name, value in example.answers.items():
            st.markdown(
                f"- {escaped(texts.get(name, name), 300)}: **{escaped(plain(str(value)))}**"
            )
        if example.why:
            st.caption(escaped(example.why, 600))


def _next_by_key(turn: DeskItem, answers: Mapping[str, Any]) -> None:
    """The first question without an answer, its answers on the keys 1, 2, 3 and so on."""
    open_ = [
        ask
        for ask in turn.form.asks
        if ask.options and ask.is_open(answers) and answers.get(ask.id) is None
    ]
    if not open_:
        return
    ask = open_[0]
    about = f"{ask.about}: " if ask.about else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Next by key: {escaped(about + ask.text, 120)}")
        for number, option in enumerate(ask.options, 1):
            st.button(
                plain(option),
                key=f"{turn.item_id}-{ask.id}-{number}",
                shortcut=str(number),
                type="tertiary",
                on_click=_answer,
                args=(f"{turn.item_id}-{ask.id}", option),
            )


def _answer(key: str, option: str) -> None:
    st.session_state[key] = option


def _show(settings: Settings, medium: Medium, named: bool) -> None:
    if named:
        st.subheader(medium.letter, anchor=False)
    store = open_store(settings.objects, settings.s3_endpoint)
    path = media(store, medium.blob, settings.work / "page-media")
    if path is None:
        st.warning("This cannot be shown just now. Come back in a few minutes.")
    elif medium.media_type.startswith("video/"):
        st.video(path.read_bytes(), format=medium.media_type)
    else:
        st.image(path.read_bytes(), width="stretch")


def _ask(turn: DeskItem, ask: FormQuestion) -> Any:
    """One question as a widget. Options can be reached with Tab and the arrow keys."""
    key, now = f"{turn.item_id}-{ask.id}", turn.answers.get(ask.id)
    if ask.kind == "tick":
        return st.checkbox(escaped(ask.text, 500), value=bool(now), key=key)
    index = ask.options.index(now) if now in ask.options else None
    if ask.kind == "letter" and ask.anchors:
        st.caption(escaped(f"{ask.text}? {' '.join(ask.anchors)}", 300))
    chosen: str | None = st.radio(
        escaped(ask.text, 500),
        ask.options,
        index=index,
        horizontal=True,
        key=key,
        format_func=plain,
        help="  \n".join(ask.anchors) or None,
    )
    return chosen


def _keep(settings: Settings, rater: Rater, turn: DeskItem) -> None:
    """Save a change before anything is drawn: a tab that is closed the next moment loses
    nothing."""
    held = st.session_state
    current = {
        ask.id: held.get(f"{turn.item_id}-{ask.id}", turn.answers.get(ask.id))
        for ask in turn.form.asks
    }
    answers = {name: value for name, value in current.items() if value is not None}
    comment = held.get(f"{turn.item_id}-comment", turn.comment)
    if answers != dict(turn.answers) or comment != turn.comment:
        try:
            with session(settings.database) as db:
                desk.save(db, rater, turn.item_id, answers, comment)
        except NotYours:
            st.rerun()


def _finish(
    settings: Settings, rater: Rater, turn: DeskItem, answers: Mapping[str, Any], comment: str
) -> None:
    with st.container(horizontal=True):
        submitted = st.button("Submit and next", type="primary", shortcut="Ctrl+Enter")
        _undo(settings, rater)
        if st.button("Pause", shortcut="Alt+P", icon=":material/pause:"):
            with session(settings.database) as db:
                desk.pause(db, rater)
            st.session_state[PAUSED] = True
            st.rerun()
    if not submitted:
        return
    try:
        with session(settings.database) as db:
            missing = desk.hand_in(db, rater, turn.item_id, answers, comment)
    except NotYours as error:
        st.warning(str(error))
        return
    if missing:
        st.warning("  \n".join(escaped(problem, 300) for problem in missing[:5]))
        return
    st.rerun()


def _undo(settings: Settings, rater: Rater) -> None:
    if st.button("Take the last one back", shortcut="Alt+Z"):
        with session(settings.database) as db:
            desk.undo(db, rater)
        st.rerun()
