"""Submit and status: the upload form for a bundle, and the progress of each submission."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from infra.settings import Settings
from infra.store import open_store
from leaderboard.draw.words import escaped, name, plain, spell
from leaderboard.queries import entries, ranking
from leaderboard.queries.entries import SubmissionRow
from leaderboard.queries.glance.waiting import waiting_sentence
from leaderboard.widgets.common import ask_now, link, pick, table
from leaderboard.widgets.token_request import token_request
from leaderboard.widgets.uploader import uploader
from submissions.gates.report import finding_rows, load_results, worst_lines
from submissions.teams.lifecycle import PATH, TERMINAL, State

MOST_LINES = 200
REFRESH = 3.0
WHOSE = {
    "ours": "This is our fault and costs you nothing.",
    "submitter": "This can be mended by you.",
}
STEPS = """
armillary new tailor --subset demo my-entry   # manifest, prompts, media, a place for your files
armillary check my-entry                      # every problem at once, before anything is sent
armillary pack my-entry                       # the bundle my-entry.zip
armillary submit my-entry.zip --server ADDRESS --token TOKEN
armillary status SUBMISSION --server ADDRESS --token TOKEN --watch
""".strip()
FORMAT = """
A bundle is a zip with `manifest.json` at its top and one file a sample under `outputs/`, called by
the sample's id; or a model that we run. `armillary new` writes the manifest and lists the names.
The subset `demo` is small, has a board of its own and costs no quota. Nothing in a bundle is
executed.
"""


def page() -> None:
    """Draw the upload form and the status of submissions."""
    st.title("Submit and status")
    submissions = ask_now(entries.recent_submissions)
    by_id = {submission.id: submission for submission in submissions}
    chosen = by_id.get(st.query_params.get("id", ""), submissions[0] if submissions else None)
    door, watch = st.tabs(
        ["Submit", "Status"], default="Status" if st.query_params.get("id") else "Submit"
    )
    with door:
        _door(chosen if st.query_params.get("id") else None)
    with watch:
        _status(submissions, chosen)


def _door(chosen: SubmissionRow | None) -> None:
    st.markdown(FORMAT)
    token_request()
    with st.expander("From nothing to the board by the command line", expanded=not chosen):
        st.code(STEPS, language="bash")
    st.caption(
        "A bundle goes from your browser to the store in parts, after its manifest was checked; "
        "after a cut, hand it in again and only the rest is sent."
    )
    submission_id = uploader(
        chosen.id if chosen else "",
        bool(chosen and chosen.state == State.PUBLISHED),
        ask_now(ranking.suites),
        Settings().upload_bytes,
    )
    if submission_id:
        st.query_params["id"] = submission_id
        st.success(
            f"{escaped(submission_id)}: see its way under **Status**.", icon=":material/check:"
        )


def _status(submissions: Sequence[SubmissionRow], chosen: SubmissionRow | None) -> None:
    if chosen is None:
        st.info("Nothing was handed in yet.", icon=":material/info:")
        return
    titles = {
        submission.id: f"{name(submission.model, 50)} · {submission.state} · {submission.id}"
        for submission in submissions
    }
    pick("id", "Submission", list(titles), chosen.id, titles.__getitem__, width=520)
    going = chosen.state not in TERMINAL
    st.fragment(_timeline, run_every=REFRESH if going else None)(chosen.id, going)
    _validation(chosen.id)
    st.header("All submissions", anchor=False)
    rows = [
        {
            "Model": name(submission.model),
            "Team": name(submission.team),
            "Suite": submission.suite,
            "State": submission.state,
            "Handed in": submission.created_at,
            "Reason": name(submission.reason, 300),
            "Id": submission.id,
        }
        for submission in submissions
    ]
    table(rows)


def _timeline(submission_id: str, going: bool) -> None:
    """Draw a submission's progress and events; reruns by itself until its state is final."""
    chosen = ask_now(entries.submission_row, submission_id)
    if going and chosen.state in TERMINAL:
        st.rerun()
    st.progress(_share(chosen.state), text=plain(chosen.state))
    if chosen.state in ("failed", "rejected"):
        whose = WHOSE.get(chosen.fault, "")
        st.error(
            f"{escaped(chosen.code)} {escaped(chosen.reason, 600)} {whose}", icon=":material/error:"
        )
    if waits := ask_now(waiting_sentence, chosen.id):
        st.info(escaped(waits, 300), icon=":material/hourglass_empty:")
    elif chosen.state not in TERMINAL and (usual := ask_now(entries.usual_seconds, chosen.suite)):
        st.caption(
            f"The last ones of this suite took about {spell(usual)} from their first step to the "
            "board."
        )
    finished = ask_now(entries.progress, chosen.id)
    if finished and chosen.state not in TERMINAL:
        st.caption(
            "Done so far: "
            + ", ".join(f"{escaped(stage)} {count} samples" for stage, count in finished.items())
        )
    events = ask_now(entries.timeline, chosen.id)
    table(
        [
            {"When (UTC)": event.at, "What": plain(event.kind), "Text": name(event.text, 300)}
            for event in events
        ]
    )
    link("model", "The entry's page", {"id": chosen.id}, ":material/badge:")


def _validation(submission_id: str) -> None:
    """What the gates between the stages found, the worst files first."""
    settings = Settings()
    report = load_results(open_store(settings.objects, settings.s3_endpoint), submission_id)
    if report:
        with st.expander("Validation report"):
            for rows in (finding_rows(report), worst_lines(report, MOST_LINES)):
                if rows:
                    table(
                        [
                            {
                                head.capitalize(): name(str(value), 300)
                                for head, value in row.items()
                            }
                            for row in rows
                        ]
                    )


def _share(state: str) -> float:
    return (PATH.index(State(state)) + 1) / len(PATH) if state in PATH else 1.0
