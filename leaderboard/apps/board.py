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
    judges,
    methods,
    model,
    overview,
    papers,
    ranking,
    samples,
    submit,
)
from leaderboard.views.operators import review, studies, system
from leaderboard.widgets.common import no_board, notice, remember_pages

st.set_page_config(
    page_title="Armillary", page_icon=str(Path(__file__).parent / "icon.png"), layout="wide"
)

# Streamlit leaves half a hand of white above the title, and a reader wants to see who leads. Charts
# of several panels are wider than a phone, and Streamlit would cut them off.
st.markdown(
    "<style>.stMainBlockContainer{padding:3.75rem 5rem 3rem}@media(max-width:640px)"
    "{.stMainBlockContainer{padding:3.75rem 1rem 3rem}"
    ".stElementContainer:has(.stVegaLiteChart){overflow-x:auto}}</style>",
    unsafe_allow_html=True,
)

PAGES = [
    st.Page(overview.page, title="Overview", icon=":material/language:", default=True),
    st.Page(ranking.page, title="Ranking", url_path="ranking", icon=":material/leaderboard:"),
    st.Page(gaps.page, title="Gaps", url_path="gaps", icon=":material/trending_down:"),
    st.Page(samples.page, title="Samples", url_path="samples", icon=":material/image_search:"),
    st.Page(compare.page, title="Compare", url_path="compare", icon=":material/compare_arrows:"),
    st.Page(model.page, title="Model", url_path="model", icon=":material/badge:"),
    st.Page(papers.page, title="Papers", url_path="papers", icon=":material/menu_book:"),
    st.Page(judges.page, title="Judges", url_path="judges", icon=":material/gavel:"),
    st.Page(studies.page, title="Studies", url_path="studies", icon=":material/groups:"),
    st.Page(methods.page, title="Methods", url_path="methods", icon=":material/function:"),
    st.Page(submit.page, title="Submit", url_path="submit", icon=":material/upload:"),
    st.Page(system.page, title="System", url_path="system", icon=":material/monitor_heart:"),
]


def front() -> None:
    """The front page under its own name too, for those who type it."""
    overview.page()


PAGES.append(st.Page(front, title="Overview", url_path="overview", visibility="hidden"))
settings = Settings()
snapshot.keep(settings.database, snapshot.path(settings))
if settings.review:
    PAGES.append(
        st.Page(review.page, title="Review", url_path="review", icon=":material/rate_review:")
    )

chosen = st.navigation(PAGES, position="top")
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
