"""The board: `streamlit run leaderboard/apps/board.py`, or `armillary serve`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from infra.settings import Settings
from leaderboard.cache import snapshot
from leaderboard.cache.reader import BadQuestion, NoBoard
from leaderboard.views import (
    compare,
    gaps,
    items,
    judges,
    methods,
    model,
    overview,
    papers,
    ranking,
    samples,
    submit,
)
from leaderboard.views.operators import review, studies, system, teams
from leaderboard.widgets.common import no_board, notice, remember_pages
from leaderboard.widgets.look import dress

st.set_page_config(
    page_title="Armillary", page_icon=str(Path(__file__).parent / "icon.png"), layout="wide"
)
dress()
st.logo(str(Path(__file__).parent / "logo.svg"), size="large")

TABS = [
    st.Page(overview.page, title="Overview", icon=":material/language:", default=True),
    st.Page(ranking.page, title="Ranking", url_path="ranking", icon=":material/leaderboard:"),
    st.Page(samples.page, title="Samples", url_path="samples", icon=":material/image_search:"),
    st.Page(compare.page, title="Compare", url_path="compare", icon=":material/compare_arrows:"),
    st.Page(submit.page, title="Submit", url_path="submit", icon=":material/upload:"),
]
MORE = [
    st.Page(model.page, title="Model", url_path="model", icon=":material/badge:"),
    st.Page(papers.page, title="Papers", url_path="papers", icon=":material/menu_book:"),
    st.Page(gaps.page, title="Gaps", url_path="gaps", icon=":material/trending_down:"),
    st.Page(judges.page, title="Judges", url_path="judges", icon=":material/gavel:"),
    st.Page(items.page, title="Items", url_path="items", icon=":material/rule:"),
    st.Page(methods.page, title="Methods", url_path="methods", icon=":material/function:"),
]
OPERATORS = [
    st.Page(studies.page, title="Studies", url_path="studies", icon=":material/groups:"),
    st.Page(teams.page, title="Teams", url_path="teams", icon=":material/key:"),
    st.Page(system.page, title="System", url_path="system", icon=":material/monitor_heart:"),
]


def front() -> None:
    """The front page under its own name too, for those who type it."""
    overview.page()


FRONT = st.Page(front, title="Overview", url_path="overview", visibility="hidden")
settings = Settings()
snapshot.keep(settings.database, snapshot.path(settings))
if settings.review:
    OPERATORS.append(
        st.Page(review.page, title="Review", url_path="review", icon=":material/rate_review:")
    )

PAGES = [*TABS, FRONT, *MORE, *OPERATORS]
chosen = st.navigation(
    {"": [*TABS, FRONT], "More": MORE, "For operators": OPERATORS}, position="top"
)
st.set_page_config(page_title=f"{chosen.title} · Armillary")
remember_pages(PAGES)
above = st.container()
try:
    chosen.run()
    with above:
        notice()
except NoBoard as missing:
    no_board(str(missing))
except BadQuestion as bad:
    st.info(f"{bad} Choose a page above.", icon=":material/info:")
