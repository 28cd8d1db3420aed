"""How the API says no: one shape for every refusal, with a code, a place, a remedy, and all
problems at once."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.routing import compile_path

from submissions.format.errors import IntakeError, refusal
from submissions.teams.rate_limits import TooOften

log = logging.getLogger("armillary")
STATUS = {
    **dict.fromkeys(("E_AUTH_MISSING", "E_AUTH_INVALID"), 401),
    **dict.fromkeys(("E_AUTH_SCOPE", "E_TEAM_BLOCKED", "E_TEAM", "E_S3_FORBIDDEN"), 403),
    "E_NOT_FOUND": 404,
    **dict.fromkeys(
        (
            "E_IDEMPOTENCY_CONFLICT",
            "E_NAME_TAKEN",
            "E_CLOSED",
            "E_OBJECT_CHANGED",
            "E_UPLOAD_CLOSED",
        ),
        409,
    ),
    "E_STATE": 409,
    "E_STORE": 503,
    **dict.fromkeys(("E_INCOMPLETE", "E_REQUEST", "E_MULTIPART"), 400),
    **dict.fromkeys(("E_MEDIA_TYPE", "E_ARCHIVE_KIND"), 415),
    **dict.fromkeys(("E_RATE", "E_QUOTA"), 429),
}
"""The HTTP status of a code; every other one is 422."""
WORDS = {
    400: "The request is not understood.",
    401: "No token, or one that opens nothing.",
    403: "Not with this token, or not by this team.",
    404: "There is no such thing here.",
    409: "It does not fit what is there already.",
    413: "Too large.",
    415: "Of the wrong kind.",
    422: "Understood, and refused.",
    429: "Too often, or over the quota.",
    503: "Our store or database does not answer; nothing was lost, try again.",
}
WHOLE_BODY = ("body", "part", "size")
"""Where E_TOO_LARGE means the request itself, not a member of the bundle."""


class ProblemDetail(BaseModel):
    """One problem."""

    code: str
    where: str
    message: str
    hint: str
    limit: float | None = None


class ProblemResponse(ProblemDetail):
    """The first problem, and all of them."""

    problems: list[ProblemDetail]
    total: int


class Refusal(BaseModel):
    """The answer to a request that was refused."""

    error: ProblemResponse
    submission: str | None


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a route may say no, for its description."""
    return {status: {"model": Refusal, "description": WORDS[status]} for status in statuses}


def refused(_request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that was refused."""
    assert isinstance(error, IntakeError)
    return answer(error)


def away(_request: Request, error: Exception) -> JSONResponse:
    """The answer when our own store or database fails: our fault, and worth trying again."""
    log.error("%s: %s", type(error).__name__, error)
    response = answer(
        refusal(
            "E_STORE", "server", "Our store or database does not answer.", "Try again in a minute."
        )
    )
    response.headers["Retry-After"] = "60"
    return response


def bad_value(_request: Request, error: Exception) -> JSONResponse:
    """The answer to a value that no database takes: the fault of the request, and of nothing of
    ours."""
    log.info("%s: %s", type(error).__name__, error)
    message = "It holds a text or number that cannot be stored."
    return answer(refusal("E_REQUEST", "request", message, "See /v1/docs."))


def route_path(request: Request) -> str:
    """The path as the routes know it, also where the API is mounted below another address."""
    return str(request.scope["path"]).removeprefix(request.scope.get("root_path", ""))


def wrong_method(request: Request, _error: Exception) -> JSONResponse:
    """405 with every method that the place knows; the framework itself names only those of one
    route."""
    allowed = {
        method.upper()
        for path, methods in request.app.openapi()["paths"].items()
        if compile_path(path)[0].match(route_path(request))
        for method in methods
    }
    return JSONResponse(
        {"detail": "Method Not Allowed"}, 405, {"Allow": ", ".join(sorted(allowed))}
    )


def answer(error: IntakeError, submission: str | None = None) -> JSONResponse:
    """The refusal as JSON."""
    first = error.problems[0]
    status = STATUS.get(first.code, 422)
    if first.code == "E_TOO_LARGE" and first.where.startswith(WHOLE_BODY):
        status = 413
    headers = {"Cache-Control": "no-store"}
    if isinstance(error, TooOften):
        headers["Retry-After"] = str(error.retry_after)
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    problems = [asdict(problem) for problem in error.problems]
    body: dict[str, Any] = {**problems[0], "problems": problems, "total": error.total}
    return JSONResponse({"error": body, "submission": submission}, status, headers)
