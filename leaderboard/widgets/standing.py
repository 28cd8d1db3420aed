"""What stands behind a place: attempts, moves between boards, private samples, repeats. Drawn on a
model's page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pandas as pd
import streamlit as st

from infra.tables.standing import Noise
from leaderboard.draw.frames import without_bare
from leaderboard.draw.words import name, plain
from leaderboard.queries import trust
from leaderboard.queries.samples import RunFacts
from leaderboard.widgets.common import ask, downloads, table

ATTEMPTS = (
    "A team's score for a model moves only when the new one is surely better: trying again and "
    "again wins nothing."
)
PRIVATE = (
    "Samples that nobody outside has seen. Better in public than here, past two standard errors, "
    "is marked."
)
PLACES = "The same outputs under another judge or scorer stand on another board; both stay."
NOISE = (
    "How far a metric moves when the judge is asked again or other people rate; part of its "
    "interval."
)


def standing(run: RunFacts) -> None:
    """Draw each of the four tables that has rows."""
    _part(
        "Attempts of this team",
        ATTEMPTS,
        ask(trust.attempts, run.board, run.team),
        f"{run.run_id}-attempts",
        _words,
    )
    moved = ask(trust.new_places, run.board, run.run_id)
    _part("Places against the board before", PLACES, moved, f"{run.run_id}-places", _words)
    _part(
        "Public against private samples",
        PRIVATE,
        ask(trust.private_figures, run.run_id),
        f"{run.run_id}-private",
        _words,
    )
    again = [
        {
            "metric": plain(noise.metric),
            "measured again": plain(noise.source),
            "standard error": noise.error,
            "outputs": noise.outputs,
            "times": noise.times,
        }
        for noise in ask(trust.of_run, Noise, run.run_id)
    ]
    _part("Measured again", NOISE, again, f"{run.run_id}-noise", dict)


def place_changes(board: str) -> None:
    """Who moved when this board took the place of another, with reasons."""
    _part("Places against the board before", PLACES, ask(trust.new_places, board), "places", _words)


def _part(
    title: str, about: str, rows: Any, stem: str, words: Callable[[Any], dict[str, Any]]
) -> None:
    if not rows:
        return
    frame = without_bare(
        pd.DataFrame([words(row) for row in rows]).rename(columns=plain),
        "Text",
        "Reason",
        "Gain",
        "Step",
    )
    with st.expander(f"{title} ({len(rows)})"):
        st.caption(about)
        figures = frame.select_dtypes("number").columns
        table(frame.assign(**{name: frame[name].round(3) for name in figures}), key=f"table-{stem}")
        downloads(frame, f"armillary-{stem}")


def _words(row: Any) -> dict[str, Any]:
    return {
        key: name(plain(value), 300) if isinstance(value, str) else value
        for key, value in asdict(row).items()
    }
