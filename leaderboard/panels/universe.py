"""What the Samples page adds for UNIVERSE: the clip a judge saw, the question, what it said and what is true."""

from __future__ import annotations

import streamlit as st

from leaderboard.panels import Shown
from leaderboard.words import escaped, long_text


def draw(shown: Shown) -> None:
    """The clip beside question, answer and truth."""
    st.subheader("Clip and question", anchor=False)
    picture, words = st.columns([3, 2])
    with picture:
        _clip(shown)
    with words:
        for title, text in rows(shown):
            st.caption(title)
            st.text(long_text(text))


def rows(shown: Shown) -> list[tuple[str, str]]:
    """What is said about one question, in order; what is not known is left out."""
    detail = shown.detail.get("em_normalised", {})
    found = [
        ("Question", shown.item.prompt),
        ("The judge said", str(detail.get("said", shown.record.get("value", "")))),
        ("The truth", str(detail.get("truth", ""))),
        ("Frames it saw", str(shown.record.get("frames_rule", ""))),
    ]
    return [(title, text) for title, text in found if text]


def _clip(shown: Shown) -> None:
    files = shown.record.get("files")
    sha256 = files.get("clip") if isinstance(files, dict) else None
    path = shown.fetch(str(sha256)) if sha256 else None
    if path is None:
        st.info("These answers were handed in without the clip. An entry that was generated here shows it.")
        return
    st.image(str(path), width="stretch", alt=f"Frames of the simulated clip: {escaped(shown.item.prompt, 200)}")
    st.caption("Simulated. All fourteen frames, in reading order.")
