"""The board's own look, and links inside of tables that turn the page without loading it anew."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import streamlit as st


def dress() -> None:
    """Put the style sheet and the script for links on the page."""
    st.html(f"<style>{_text('leaderboard.draw', 'look.css')}</style>")
    # A text of our own: nothing that anybody handed in is ever part of it.
    st.html(
        f"<script>{_text('leaderboard.widgets', 'turn.js')}</script>", unsafe_allow_javascript=True
    )


@cache
def _text(package: str, name: str) -> str:
    return (files(package) / name).read_text("utf-8")
