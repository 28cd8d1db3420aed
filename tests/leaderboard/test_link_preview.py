"""What a link to the board shows elsewhere."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from leaderboard.apps.preview import LinkPreview

PAGE = "<html><head><title>Streamlit</title></head><body>x</body></html>"


def _page(_request: Request) -> HTMLResponse:
    return HTMLResponse(PAGE)


def _data(_request: Request) -> JSONResponse:
    return JSONResponse({"html": "</head>"})


def board() -> TestClient:
    routes = [Route("/ranking", _page), Route("/data", _data)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(LinkPreview)]))


def test_a_page_has_title_description_and_picture_before_any_script_runs() -> None:
    page = board().get("/ranking")

    assert "<title>Ranking of visual world models · Armillary</title>" in page.text
    assert 'property="og:image" content="http://testserver/preview.png"' in page.text
    assert 'name="description"' in page.text
    assert int(page.headers["content-length"]) == len(page.content)


def test_what_is_no_page_stays_as_it_is() -> None:
    assert board().get("/data").json() == {"html": "</head>"}


def test_the_preview_is_a_picture() -> None:
    picture = board().get("/preview.png")

    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")
