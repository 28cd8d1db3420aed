"""Clips that are compared: played together from the start, and known to have been watched to the
end."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import streamlit as st

KEY = "clip-"
"""A clip stands in a container whose key is this and its letter; the script finds it by that."""


@st.cache_resource
def _component() -> Any:
    script = (files("leaderboard.studies") / "watching.js").read_text("utf-8")
    style = (files("leaderboard.studies") / "watching.css").read_text("utf-8")
    html = (
        '<div class="bar"><button type="button" class="play">Play all together</button>'
        '<button type="button" class="stop">Pause all</button>'
        '<span class="seen" role="status"></span></div>'
    )
    return st.components.v2.component("armillary_watching", html=html, css=style, js=script)


def watched(letters: Sequence[str], before: Sequence[str], key: str) -> list[str]:
    """Draw the bar that plays all clips together; the letters of those that were played to the
    end, now or before."""
    data = {"letters": list(letters), "before": list(before), "prefix": KEY}
    result = _component()(key=key, data=data, on_watched_change=lambda: None)
    now = result.watched or []
    return [letter for letter in letters if letter in now or letter in before]
