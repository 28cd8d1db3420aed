"""Who may run things on the page: a holder of a token with the scope operate."""

from __future__ import annotations

import streamlit as st

from infra.db import session
from infra.settings import Settings
from leaderboard.draw.words import escaped
from submissions.format.errors import IntakeError
from submissions.teams import tokens
from submissions.teams.tokens import Caller


def operator(where: str) -> Caller | None:
    """Ask for an operator's token; None until a good one is given."""
    secret = st.text_input(
        "Token with the scope operate", type="password", key=f"operate-{where}", max_chars=200
    )
    st.caption(
        "`armillary operate token create TEAM --scope operate` makes one. It is kept nowhere on "
        "this page."
    )
    settings = Settings()
    if not secret:
        return None
    try:
        with session(settings.database) as db:
            who = tokens.caller(db, secret, f"{where} page", settings.rate_wrong_tokens)
            tokens.need(who, "operate")
    except IntakeError as error:
        st.error(escaped(str(error), 300), icon=":material/block:")
        return None
    return who
