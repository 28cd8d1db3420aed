"""What the Samples page adds for UNIVERSE: the clip that a judge saw, what it said and what is true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from leaderboard import behind
from leaderboard.panels import Seen, Shown
from leaderboard.widgets import ask
from leaderboard.words import long_text


def draw(shown: Shown) -> None:
    """Answer and truth beside each other."""
    said = rows(shown)
    for column, (title, text) in zip(st.columns(max(3, len(said))), said, strict=False):
        with column:
            st.caption(title)
            st.text(long_text(text))


def rows(shown: Shown) -> list[tuple[str, str]]:
    """What is said about one question, in order; what is not known is left out."""
    detail = shown.detail.get("em_normalised", {})
    found = [
        ("The judge said", str(detail.get("said", shown.record.get("value", "")))),
        ("The truth", str(detail.get("truth", ""))),
        ("Frames it saw", str(shown.record.get("frames_rule", ""))),
    ]
    return [(title, text) for title, text in found if text]


def given(shown: Shown) -> Seen | None:
    """The clip; handed-in answers come without it, an entry that was generated here has the same one."""
    path = _fetched(shown, [shown.record]) or _fetched(shown, ask(behind.records, shown.run, shown.item.sample_id))
    return Seen(str(path), "The simulated clip, all fourteen frames in reading order") if path else None


def _fetched(shown: Shown, records: Iterable[Mapping[str, Any]]) -> Path | None:
    return next((path for sha256 in _clips(records) if (path := shown.fetch(sha256))), None)


def _clips(records: Iterable[Mapping[str, Any]]) -> list[str]:
    kept = [files["clip"] for record in records if isinstance(files := record.get("files"), dict) and "clip" in files]
    return list(dict.fromkeys(map(str, kept)))
