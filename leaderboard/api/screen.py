"""What no route has to look for: a request whose address holds a character that no database
keeps."""

from __future__ import annotations

from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from leaderboard.api.problems import answer
from submissions.format.errors import refusal

NUL = "\0"


class Screen:
    """Refuses such a request before any route, token or database sees it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with 400."""
        where = _where(scope) if scope["type"] == "http" else ""
        if not where:
            await self.app(scope, receive, send)
            return
        message = "It holds the character NUL, which is part of no name here."
        await answer(refusal("E_REQUEST", where, message, "Leave it out."))(scope, receive, send)


def _where(scope: Scope) -> str:
    if NUL in scope["path"]:
        return "path"
    return "query" if NUL in unquote(scope["query_string"].decode("latin-1")) else ""
