"""The page and the API at one address: `streamlit run leaderboard/apps/one_address.py`, or
`armillary serve`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.routing import Mount

from infra.settings import Settings
from leaderboard.api.app import create

app = st.App(str(Path(__file__).with_name("board.py")), routes=[Mount("/api", create(Settings()))])
