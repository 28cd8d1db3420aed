"""Submit and status: the door for a bundle, and how far each one has come."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from sqlmodel import Session

from infra.settings import Settings
from infra.store import open_store
from leaderboard import entries
from leaderboard.entries import Handed
from leaderboard.widgets import ask_now, link, pick, table
from leaderboard.words import escaped, name, plain
from submissions import validation
from submissions.errors import IntakeError, Problem
from submissions.intake import Received, receive
from submissions.lifecycle import PATH, TERMINAL, State

MOST_MEGABYTES = 200
MOST_LINES = 200
REFRESH = 3.0
WHOSE = {"ours": "This is our fault and costs you nothing.", "submitter": "This can be mended by you."}
STEPS = """
armillary check bundle.zip      # every problem at once, before anything is sent
armillary submit bundle.zip     # the same door as below
armillary status                # where it stands
""".strip()


def page() -> None:
    """Hand in, then watch."""
    st.title("Submit and status")
    submissions = ask_now(entries.handed_in)
    door, watch = st.tabs(["Submit", "Status"], default="Status" if st.query_params.get("id") else "Submit")
    with door:
        _door()
    with watch:
        _status(submissions)


def _door() -> None:
    st.markdown(
        "A bundle is a zip with `manifest.json` and the outputs, or a model that we run. Nothing in it is executed."
    )
    st.code(STEPS, language="bash")
    st.caption(f"Bundles above {MOST_MEGABYTES} MB, models, and s3:// addresses go through the command line.")
    uploaded = st.file_uploader("A bundle (zip)", type="zip", max_upload_size=MOST_MEGABYTES, key="bundle")
    if uploaded is not None and st.button("Hand in", type="primary", icon=":material/upload:"):
        with st.spinner("Checking the bundle"):
            _hand_in(uploaded)


def _hand_in(uploaded: Any) -> None:
    """Through a file on disk, so that the check never holds the bundle in memory."""
    with tempfile.TemporaryDirectory(prefix="armillary-page-") as folder:
        path = Path(folder) / "bundle.zip"
        with path.open("wb") as file:
            shutil.copyfileobj(uploaded, file, 1 << 20)
        try:
            received = ask_now(_receive, path)
        except IntakeError as error:
            _refused(error)
            return
    st.query_params["id"] = received.submission_id
    again = " It was here already." if received.duplicate else ""
    st.success(f"Received as {received.submission_id}.{again} It is evaluated in its turn.", icon=":material/check:")
    _problems(received.warnings)
    st.markdown("Its way to the board is under **Status**.")


def _receive(db: Session, path: Path) -> Received:
    settings = Settings()
    return receive(db, open_store(settings.objects, settings.s3_endpoint), path)


def _refused(error: IntakeError) -> None:
    st.error(f"Not taken: {error.total} problem{'s' * (error.total > 1)}. Nothing was stored.", icon=":material/block:")
    _problems(error.problems)


def _problems(problems: Sequence[Problem]) -> None:
    if problems:
        heads = ("Code", "Where", "What is wrong", "What to do")
        rows = [[name(text, 300) for text in (one.code, one.where, one.message, one.hint)] for one in problems]
        table(pd.DataFrame(rows, columns=list(heads)))


def _status(submissions: Sequence[Handed]) -> None:
    if not submissions:
        st.info("Nothing was handed in yet.", icon=":material/info:")
        return
    known = {one.id: one for one in submissions}
    chosen = known.get(st.query_params.get("id", ""), submissions[0])
    titles = {one.id: f"{name(one.model, 50)} · {one.state} · {one.id}" for one in submissions}
    pick("id", "Submission", list(titles), chosen.id, titles.__getitem__, width=520)
    going = chosen.state not in TERMINAL
    st.fragment(_timeline, run_every=REFRESH if going else None)(chosen.id, going)
    _validation(chosen.id)
    st.subheader("All submissions", anchor=False)
    rows = [
        {
            "Model": name(one.model),
            "Team": name(one.team),
            "Suite": one.suite,
            "State": one.state,
            "Handed in": one.created_at,
            "Reason": name(one.reason, 300),
            "Id": one.id,
        }
        for one in submissions
    ]
    table(rows)


def _timeline(submission_id: str, going: bool) -> None:
    """Looks again by itself while the submission is on its way."""
    chosen = ask_now(entries.handed_in_as, submission_id)
    if going and chosen.state in TERMINAL:
        st.rerun()
    st.progress(_share(chosen.state), text=plain(chosen.state))
    if chosen.state in ("failed", "rejected"):
        whose = WHOSE.get(chosen.fault, "")
        st.error(f"{escaped(chosen.code)} {escaped(chosen.reason, 600)} {whose}", icon=":material/error:")
    ahead = ask_now(entries.ahead_of, chosen.id)
    if ahead is not None:
        st.info(f"Waiting: {ahead} before it in the queue.", icon=":material/hourglass_empty:")
    done = ask_now(entries.progress, chosen.id)
    if done and chosen.state not in TERMINAL:
        st.caption("Done so far: " + ", ".join(f"{escaped(stage)} {count} samples" for stage, count in done.items()))
    events = ask_now(entries.timeline, chosen.id)
    table([{"When (UTC)": one.at, "What": plain(one.kind), "Text": name(one.text, 300)} for one in events])
    link("model", "The entry's page", {"id": chosen.id}, ":material/badge:")


def _validation(submission_id: str) -> None:
    """What the gates between the stages found, the worst files first."""
    settings = Settings()
    found = validation.kept(open_store(settings.objects, settings.s3_endpoint), submission_id)
    if found:
        with st.expander("Validation report"):
            for rows in (validation.summary(found), validation.worst(found, MOST_LINES)):
                if rows:
                    table([{head.capitalize(): name(str(value), 300) for head, value in row.items()} for row in rows])


def _share(state: str) -> float:
    return (PATH.index(State(state)) + 1) / len(PATH) if state in PATH else 1.0
