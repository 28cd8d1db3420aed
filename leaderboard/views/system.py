"""System: what waits, what runs, what came last, and whether the parts answer."""

from __future__ import annotations

import streamlit as st
from sqlalchemy.engine import make_url

from infra.settings import Settings
from infra.store import StoreError, open_store
from leaderboard import entries
from leaderboard.widgets import ask_now, table
from leaderboard.words import name, plain
from submissions.lifecycle import TERMINAL


def page() -> None:
    """The queue, the last publication, the last events."""
    st.title("System")
    states = ask_now(entries.states)
    waiting = states.get("received", 0)
    running = sum(count for state, count in states.items() if state not in TERMINAL and state != "received")
    last = ask_now(entries.last_published)
    counts = {"Waiting": waiting, "In work": running}
    counts |= {"On the board": states.get("published", 0), "Failed": states.get("failed", 0)}
    for column, (label, count) in zip(st.columns(len(counts)), counts.items(), strict=True):
        column.metric(label, count, border=True)
    st.markdown(
        f"Last publication: **{last:%Y-%m-%d %H:%M} UTC**."
        if last
        else "Nothing was published yet beside papers' figures."
    )
    st.caption("No nightly run has reported here yet." if not ask_now(entries.lately, 1, "nightly") else "")
    st.subheader("Parts", anchor=False)
    table(_parts(Settings()))
    st.subheader("Last events", anchor=False)
    rows = [
        {"When (UTC)": one.at, "Subject": name(one.subject, 60), "What": plain(one.kind), "Text": name(one.text, 300)}
        for one in ask_now(entries.lately, 50)
    ]
    if rows:
        table(rows)
    else:
        st.caption("None yet.")


def _parts(settings: Settings) -> list[dict[str, str]]:
    store = "S3" if settings.objects.startswith("s3://") else "folder"
    try:
        next(iter(open_store(settings.objects, settings.s3_endpoint).list("thumbnails/")), None)
        answers = "answers"
    except (StoreError, OSError):
        answers = "does not answer"
    database = make_url(settings.database).get_backend_name()
    return [
        {"Part": f"database ({database})", "State": "answers"},
        {"Part": f"object store ({store})", "State": answers},
    ]
