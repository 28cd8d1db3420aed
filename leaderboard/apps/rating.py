"""The rating page, a program of its own that knows no model and no team; `rating_app.py` serves
it."""

from __future__ import annotations

import streamlit as st

from leaderboard.studies.page import page

st.set_page_config(page_title="Rating", layout="wide")
# A subgoal that does not fit into one line is read, not guessed.
st.markdown(
    "<style>[data-testid=stCheckbox] *{white-space:normal!important;overflow:visible!important}"
    ".stMainBlockContainer{padding:2rem 3rem}</style>",
    unsafe_allow_html=True,
)
page()
