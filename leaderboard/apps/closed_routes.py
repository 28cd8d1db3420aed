"""Routes that Streamlit brings and no page of ours uses: they answer 404 before a byte of a body is
read."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

CLOSED = ("/_stcore/upload_file", "/_stcore/metrics", "/_stcore/agent")
"""Files kept in memory for whoever opens a page, figures of the process, and a way to drive pages
without a browser."""


class ClosedRoutes:
    """Answers for the closed routes, and passes everything else on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a closed route."""
        if scope["type"] == "http" and scope["path"].startswith(CLOSED):
            headers = {"Connection": "close"}
            await PlainTextResponse("There is nothing here.\n", 404, headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
