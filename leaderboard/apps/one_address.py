"""The page and the API at one address: `streamlit run leaderboard/apps/one_address.py`, or
`armillary serve`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount

from infra.settings import Settings
from leaderboard.api.app import create
from leaderboard.apps.closed_routes import ClosedRoutes
from leaderboard.apps.preview import LinkPreview

app = st.App(
    str(Path(__file__).with_name("board.py")),
    routes=[Mount("/api", create(Settings()))],
    middleware=[Middleware(ClosedRoutes), Middleware(LinkPreview)],
)
