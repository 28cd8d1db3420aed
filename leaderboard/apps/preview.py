"""What a link to the board shows elsewhere: title, description and picture in the page's head,
which Streamlit's own page has not."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TITLES = {
    "": "Armillary: the open leaderboard for visual world models",
    "ranking": "Ranking of visual world models · Armillary",
    "samples": "What world models show, sample by sample · Armillary",
    "compare": "Two world models side by side · Armillary",
    "submit": "Hand in a world model · Armillary",
    "model": "One world model's results · Armillary",
    "papers": "What the papers print · Armillary",
}
DESCRIPTION = (
    "World models judged on what they show, by scenario, task and setting. Every number says how "
    "sure it is, who judged, and leads to the outputs behind it."
)
PICTURE = "preview.png"


class LinkPreview:
    """Writes the head of every page of the board, and serves the preview picture."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; a page's HTML gets its head."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
        elif scope["path"] == f"/{PICTURE}":
            headers = {"Cache-Control": "public, max-age=86400"}
            await Response(_picture(), media_type="image/png", headers=headers)(
                scope, receive, send
            )
        else:
            await self.app(scope, receive, _HeadWriter(Request(scope), send))


class _HeadWriter:
    """Holds a page's HTML back until it is whole, and sends it with our head."""

    def __init__(self, request: Request, send: Send) -> None:
        self.request, self.send = request, send
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        """Send a message on, or keep it while the page is not whole."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            is_page = kind.startswith("text/html") and not self.request.url.path.startswith("/api")
            if is_page and message["status"] == 200:
                self.start = message
                return
        elif self.start is not None:
            self.body += message.get("body", b"")
            if message.get("more_body"):
                return
            page = with_head(self.body, self.request.url.path, str(self.request.base_url))
            MutableHeaders(raw=self.start["headers"])["content-length"] = str(len(page))
            await self.send(self.start)
            message = {"type": "http.response.body", "body": page}
        await self.send(message)


def with_head(page: bytes, path: str, base: str) -> bytes:
    """A page with title, description and preview picture.

    >>> b'og:title' in with_head(b"<html><head></head></html>", "/ranking", "http://x/")
    True
    """
    title = escape(TITLES.get(path.strip("/"), TITLES[""]))
    description = escape(DESCRIPTION)
    picture = escape(f"{base}{PICTURE}")
    tags = (
        f'<meta name="description" content="{description}">'
        f'<meta property="og:title" content="{title}">'
        f'<meta property="og:description" content="{description}">'
        f'<meta property="og:image" content="{picture}"><meta property="og:type" content="website">'
        '<meta name="twitter:card" content="summary_large_image">'
    )
    return page.replace(b"<title>Streamlit</title>", f"<title>{title}</title>".encode()).replace(
        b"</head>", tags.encode() + b"</head>", 1
    )


@cache
def _picture() -> bytes:
    return (files("leaderboard.apps") / PICTURE).read_bytes()
