"""The rating page, a program of its own that knows no model and no team: `armillary study serve`."""

from __future__ import annotations

import streamlit as st

from leaderboard.studies.page import page

st.set_page_config(page_title="Rating", layout="wide")
page()
