"""What the Samples page adds for UNIVERSE: the clip that a judge saw, what it said and what is
true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from leaderboard.draw.words import long_text
from leaderboard.panels import Picture, SampleView
from leaderboard.queries import samples
from leaderboard.widgets.common import ask


def draw(view: SampleView) -> None:
    """Answer and truth beside each other."""
    columns = rows(view)
    for column, (title, text) in zip(st.columns(max(3, len(columns))), columns, strict=False):
        with column:
            st.caption(title)
            st.text(long_text(text))


def rows(view: SampleView) -> list[tuple[str, str]]:
    """What is said about one question, in order; what is not known is left out."""
    detail = view.detail.get("em_normalised", {})
    titled_texts = [
        ("The judge said", str(detail.get("said", view.record.get("value", "")))),
        ("The truth", str(detail.get("truth", ""))),
        ("Frames it saw", str(view.record.get("frames_rule", ""))),
    ]
    return [(title, text) for title, text in titled_texts if text]


def input_picture(view: SampleView) -> Picture | None:
    """The clip; handed-in answers come without it, an entry that was generated here has the same
    one."""
    path = _fetched(view, [view.record]) or _fetched(
        view, ask(samples.records, view.run, view.item.sample_id)
    )
    return (
        Picture(str(path), "The simulated clip, all fourteen frames in reading order")
        if path
        else None
    )


def _fetched(view: SampleView, records: Iterable[Mapping[str, Any]]) -> Path | None:
    return next((path for sha256 in _clips(records) if (path := view.fetch(sha256))), None)


def _clips(records: Iterable[Mapping[str, Any]]) -> list[str]:
    clip_hashes = [
        files["clip"]
        for record in records
        if isinstance(files := record.get("files"), dict) and "clip" in files
    ]
    return list(dict.fromkeys(map(str, clip_hashes)))
