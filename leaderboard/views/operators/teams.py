"""Teams: who asked for a token and waits, confirmed or refused by an operator."""

from __future__ import annotations

import streamlit as st

from infra.db import session
from infra.settings import Settings
from infra.tables import TokenRequest
from leaderboard.draw.words import escaped
from leaderboard.widgets.common import ask_now
from leaderboard.widgets.operator import operator
from submissions.format.errors import IntakeError
from submissions.teams import token_requests
from submissions.teams.tokens import Caller


def page() -> None:
    """Draw the requests that wait, for a holder of an operator's token."""
    st.title("Teams")
    st.markdown(
        "Who wants to hand in asks for a token on the page Submit. Here an operator confirms: the "
        "team is entered when it picks its token up. `armillary operate team` and `armillary "
        "operate token` do the same and more at the shell."
    )
    who = operator("teams")
    if who is None:
        return
    if problem := st.session_state.pop("request-error", ""):
        st.error(escaped(problem, 300), icon=":material/block:")
    requests = ask_now(token_requests.waiting)
    if not requests:
        st.info("Nobody waits for a token.", icon=":material/info:")
    for request in requests:
        _request(request, who)


def _request(request: TokenRequest, who: Caller) -> None:
    with st.container(border=True):
        st.markdown(
            f"**{escaped(request.team, 100)}** · {escaped(request.contact, 200)} · "
            f"{request.created_at:%Y-%m-%d %H:%M} UTC"
        )
        st.markdown(escaped(request.about or "Nothing was said about what comes.", 500))
        with st.container(horizontal=True):
            for word, confirmed in (("Confirm", True), ("Refuse", False)):
                st.button(
                    word,
                    key=f"{word}-{request.id}",
                    type="primary" if confirmed else "secondary",
                    on_click=_decide,
                    args=(request.id, who.team, confirmed),
                )


def _decide(request_id: str, by: str, confirmed: bool) -> None:
    try:
        with session(Settings().database) as db:
            token_requests.decide(db, request_id, by, confirmed)
    except IntakeError as error:
        st.session_state["request-error"] = str(error)
