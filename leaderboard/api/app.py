"""The API's process: FastAPI over the board's questions, with ETags and a short public cache."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from infra.settings import Settings
from leaderboard.api import embed, health, routes, standing, submissions
from leaderboard.api.problems import bad_value, refusals, route_path
from leaderboard.cache.reader import BadQuestion, NoBoard, reader
from leaderboard.queries.ranking import NotOnBoard

CACHE = "public, max-age=30, stale-while-revalidate=300"
ABSENT: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {"schema": {"type": "object"}}}}
    for status, text in (
        (404, "There is no such thing on the board."),
        (503, "The board cannot be read just now."),
    )
}
PRIVATE = ("/v1/submissions", "/v1/teams", "/v1/inbox")
"""What a team reads about its own; no cache between may keep it."""
Next = Callable[[Request], Awaitable[Response]]


def create(settings: Settings) -> FastAPI:
    """The application for these settings; `uvicorn --factory leaderboard.api.app:from_environment`
    serves it."""
    app = FastAPI(
        title="Armillary",
        version="1",
        description=__doc__,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.include_router(routes.router, prefix="/v1", responses={**refusals(400), **ABSENT})
    app.include_router(standing.router, prefix="/v1", responses={**refusals(400), **ABSENT})
    app.include_router(embed.router, prefix="/v1", responses={**refusals(400), **ABSENT})
    app.add_api_route("/v1/docs", embed.described, include_in_schema=False)
    submissions.install(app)
    health.install(app)
    app.middleware("http")(tagged)
    app.exception_handler(NotOnBoard)(_not_found)
    app.exception_handler(NoBoard)(_unavailable)
    app.exception_handler(BadQuestion)(bad_value)
    return app


def from_environment() -> FastAPI:
    """The application for the settings of the environment."""
    return create(Settings())


async def tagged(request: Request, call: Next) -> Response:
    """Give every JSON answer an ETag, and answer 304 where the reader has it already."""
    answer = await call(request)
    answer.headers["X-Content-Type-Options"] = "nosniff"
    if route_path(request).startswith(PRIVATE):
        answer.headers["Cache-Control"] = "private, no-store"
        return answer
    if (
        request.method != "GET"
        or answer.status_code != 200
        or answer.headers.get("content-type") != "application/json"
    ):
        return answer
    body = b"".join([part async for part in answer.body_iterator])  # type: ignore[attr-defined]
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {
        **dict(answer.headers),
        "ETag": tag,
        "Cache-Control": CACHE,
        "Access-Control-Allow-Origin": "*",
    }
    since = reader(request.app.state.settings).stale_since
    if since:
        headers["X-Board-As-Of"] = since.isoformat()
    if tag in request.headers.get("if-none-match", ""):
        headers.pop("content-length", None)
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers)


def _not_found(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 404)


def _unavailable(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": f"{error} Try again in a minute."}, 503, {"Retry-After": "60"})
