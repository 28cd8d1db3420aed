"""Asking for a token on the page, and picking it up when an operator has confirmed."""

from __future__ import annotations

import streamlit as st

from infra.db import session
from infra.settings import Settings
from leaderboard.draw.words import escaped
from submissions.format.errors import IntakeError
from submissions.teams import token_requests

STATES = {
    token_requests.OPEN: "An operator has not looked at it yet. Come back with the same code.",
    token_requests.REFUSED: "The operators refused it.",
    token_requests.TAKEN: "Its token was picked up already.",
}


def token_request() -> None:
    """Draw the form, and under it where a code picks a token up."""
    with st.expander("Get a token", icon=":material/key:"):
        st.markdown(
            "A team hands in with its token. Ask here; the people who run this board confirm, and "
            "with the code that you get now you pick the token up."
        )
        _ask()
        _pick_up()


def _ask() -> None:
    with st.form("token-request", border=False):
        first, second = st.columns(2)
        team = first.text_input("Team, as the board shows it", max_chars=100)
        contact = second.text_input("E-mail address, not shown", max_chars=200)
        about = st.text_input("What you want to hand in", max_chars=500)
        sent = st.form_submit_button("Ask for a token")
    if not sent:
        return
    address = str(st.context.ip_address or "page")
    try:
        with session(Settings().database) as db:
            code = token_requests.ask(db, team.strip(), contact.strip(), about.strip(), address)
    except IntakeError as error:
        st.error(escaped(str(error), 400), icon=":material/block:")
        return
    st.success("Asked. Keep this code: it is shown once, and picks your token up.")
    st.code(code, language=None)


def _pick_up() -> None:
    with st.form("token-pick-up", border=False):
        code = st.text_input("Code of your request", type="password", max_chars=100)
        sent = st.form_submit_button("Look whether it is confirmed")
    if not sent:
        return
    try:
        with session(Settings().database) as db:
            request = token_requests.state_of(db, code)
            waits = STATES.get(request.state, "")
            token = "" if waits else token_requests.pick_up(db, code)
    except IntakeError as error:
        st.error(escaped(str(error), 400), icon=":material/block:")
        return
    if waits:
        st.info(waits, icon=":material/hourglass_empty:")
    else:
        st.success("Confirmed. This is your team's token; it is shown once.")
        st.code(token, language=None)
