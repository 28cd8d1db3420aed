"""How the API says no: one shape for every refusal, with a code, a place, a remedy, and all problems at once."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from submissions.errors import IntakeError
from submissions.rates import TooOften

STATUS = {
    **dict.fromkeys(("E_AUTH_MISSING", "E_AUTH_INVALID"), 401),
    **dict.fromkeys(("E_AUTH_SCOPE", "E_TEAM_BLOCKED", "E_TEAM", "E_S3_FORBIDDEN"), 403),
    "E_NOT_FOUND": 404,
    **dict.fromkeys(("E_IDEMPOTENCY_CONFLICT", "E_NAME_TAKEN", "E_CLOSED", "E_OBJECT_CHANGED", "E_UPLOAD_CLOSED"), 409),
    "E_STATE": 409,
    **dict.fromkeys(("E_INCOMPLETE", "E_REQUEST", "E_MULTIPART"), 400),
    **dict.fromkeys(("E_MEDIA_TYPE", "E_ARCHIVE_KIND"), 415),
    **dict.fromkeys(("E_RATE", "E_QUOTA"), 429),
}
"""The HTTP status of a code; every other one is 422."""
WHOLE_BODY = ("body", "part", "size")
"""Where E_TOO_LARGE means the request itself, not a member of the bundle."""


def refused(_request: Request, error: Exception) -> JSONResponse:
    """The answer to a request that was refused."""
    assert isinstance(error, IntakeError)
    return answer(error)


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
    said: dict[str, Any] = {**problems[0], "problems": problems, "total": error.total}
    return JSONResponse({"error": said, "submission": submission}, status, headers)
