"""The rating page with the routes closed that it does not use: `armillary study serve`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from leaderboard.apps.closed_routes import ClosedRoutes

app = st.App(str(Path(__file__).with_name("rating.py")), middleware=[Middleware(ClosedRoutes)])
