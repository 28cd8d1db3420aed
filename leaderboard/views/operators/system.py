"""System: queued and running submissions, the latest events, and the health of database and
store."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd
import streamlit as st
from sqlalchemy.engine import make_url

from infra.settings import Settings
from infra.store import StoreError, open_store
from leaderboard.draw.frames import without_bare
from leaderboard.draw.words import escaped, name, plain
from leaderboard.queries import entries, nights
from leaderboard.widgets.common import ask_now, downloads, table
from submissions.teams.lifecycle import TERMINAL


def page() -> None:
    """The queue, the last publication, the last events."""
    st.title("System")
    states = ask_now(entries.states)
    waiting = states.get("received", 0)
    running = sum(
        count for state, count in states.items() if state not in TERMINAL and state != "received"
    )
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
    _incidents()
    _nights()
    _at_work()
    st.header("Parts", anchor=False)
    table(_parts(Settings()))
    st.header("Last events", anchor=False)
    rows = [
        {
            "When (UTC)": event.at,
            "Subject": name(event.subject, 60),
            "What": plain(event.kind),
            "Text": name(event.text, 300),
        }
        for event in ask_now(entries.recent_events, 50)
    ]
    if rows:
        table(rows)
    else:
        st.caption("None yet.")


def _nights() -> None:
    """The nights, and what the last one moved."""
    st.header("Nights", anchor=False)
    last_nights = ask_now(nights.nights)
    if not last_nights:
        st.caption("No nightly run has reported here yet.")
        return
    names = (
        "night",
        "state",
        "late",
        "submissions",
        "stale",
        "recomputed",
        "failed",
        "moved",
        "alarms",
        "seconds",
    )
    frame = pd.DataFrame(
        [{plain(name): getattr(night, name) for name in names} for night in last_nights]
    )
    table(frame)
    if last_nights[0].text:
        st.markdown(escaped(last_nights[0].text, 600))
    moves = ask_now(nights.moved_figures, last_nights[0].night)
    if moves:
        st.header(f"What moved in the night of {last_nights[0].night:%Y-%m-%d}", anchor=False)
        moved = pd.DataFrame(
            [{plain(key): _text(value) for key, value in asdict(move).items()} for move in moves]
        )
        table(without_bare(moved, "Where", "Text"))
        downloads(moved, "armillary-moved")


def _text(value: object) -> object:
    return name(value, 200) if isinstance(value, str) else value


def _at_work() -> None:
    """Draw the leases that workers hold."""
    held = ask_now(nights.leases)
    st.header(
        "Workers",
        anchor=False,
        help="Who holds a piece of work gives a sign of life; silent ones are freed.",
    )
    if not held:
        st.caption("Nobody is at work now.")
    else:
        names = (
            "subject",
            "kind",
            "attempts",
            "acquired_at",
            "heartbeat_at",
            "expires_at",
        )
        table([{plain(key): _text(getattr(lease, key)) for key in names} for lease in held])


def _incidents() -> None:
    """What went wrong on our side: boards that stand still, nights that failed or raised alarms,
    entries we failed."""
    for freeze in ask_now(nights.frozen):
        about = (
            f"Boards of {freeze.suite} with judge {freeze.judge[:12]} take nothing new since "
            f"{freeze.since:%Y-%m-%d}."
        )
        st.warning(
            f"{escaped(about, 200)} {escaped(freeze.reason, 300)}", icon=":material/ac_unit:"
        )
    st.header(
        "Incidents", anchor=False, help="Our own faults; a submitter's are on the entry's own page."
    )
    incidents = ask_now(nights.incidents)
    if incidents:
        table(
            [
                {plain(key): _text(value) for key, value in asdict(incident).items()}
                for incident in incidents
            ]
        )
    else:
        st.caption("None on record.")


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
