"""The body of a request, read by a route when the caller is known: refused by its length, counted,
and strict JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import IO, Any, TypeVar

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from submissions.format import strict_json
from submissions.format.errors import MOST_PROBLEMS, IntakeError, Problem, refusal

MOST_VALUES = 1_000_000
"""Twice what a manifest of the largest size can have any use for. While values are made of a text
no other thread of the process goes on."""
Asked = TypeVar("Asked", bound=BaseModel)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """How a route that reads its body itself describes it."""
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }


async def json_bytes(request: Request, limit: int) -> bytes:
    """A body that says it is JSON, within a limit and not empty."""
    check_type(request, ("application/json",), "The body is not JSON.")
    body = await read(request, limit)
    if not body:
        raise refusal("E_EMPTY", "body", "The body is empty.", "Send what /v1/docs describes.")
    return body


def check_type(request: Request, accepted: tuple[str, ...], message: str) -> None:
    """Refuse a body of another type than those taken."""
    if request.headers.get("content-type", "").partition(";")[0].strip() not in accepted:
        raise refusal("E_MEDIA_TYPE", "content-type", message, f"Send {accepted[0]}.")


async def read(request: Request, limit: int, where: str = "body") -> bytes:
    """The body, refused by its length before it is read, or cut when it goes on too long."""
    body = bytearray()
    async for chunk in _chunks(request, limit, where):
        body += chunk
    return bytes(body)


async def save(request: Request, limit: int, where: str, to: IO[bytes]) -> None:
    """The same into a file: however many send at once, it costs no memory."""
    async for chunk in _chunks(request, limit, where):
        await run_in_threadpool(to.write, chunk)
    await run_in_threadpool(to.flush)


async def _chunks(request: Request, limit: int, where: str) -> AsyncIterator[bytes]:
    promised = request.headers.get("content-length", "")
    if promised.isdecimal() and int(promised) > limit:
        raise refusal(
            "E_TOO_LARGE",
            where,
            f"{int(promised)} bytes; the limit is {limit}.",
            "Send less.",
            limit,
        )
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise refusal("E_TOO_LARGE", where, f"Over {limit} bytes.", "Send less.", limit)
            yield chunk
    except ClientDisconnect:
        raise refusal("E_INCOMPLETE", where, "The connection was cut.", "Send it again.") from None


def parsed(body: bytes, model: type[Asked]) -> Asked:
    """What a body asks for; BadJson or IntakeError says what is wrong with it."""
    if strict_json.holds_nul(body):
        message = "It holds the character NUL, which is part of no name here."
        raise refusal("E_REQUEST", "body", message, "Leave it out.")
    fields, beyond = _with_few_unknown(strict_json.read(body, most_values=MOST_VALUES), model)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refused(error.errors(include_url=False, include_context=False), beyond) from None


def _with_few_unknown(value: Any, model: type[BaseModel]) -> tuple[Any, int]:
    """The value with no more unknown fields than are told, and how many others it had: a schema
    that finds a fault in each of half a million keeps all other threads waiting for seconds."""
    if not isinstance(value, dict):
        return value, 0
    unknown = [name for name in value if name not in model.model_fields]
    beyond = set(unknown[MOST_PROBLEMS:])
    return {name: field for name, field in value.items() if name not in beyond}, len(beyond)


def refused(details: Any, beyond: int = 0) -> IntakeError:
    """What a schema has against a request, the first problems and how many there are."""
    total = len(details) + beyond
    return IntakeError([_problem(detail) for detail in details[:MOST_PROBLEMS]], total)


def _problem(detail: Any) -> Problem:
    where = ".".join(str(part) for part in detail["loc"])
    return Problem("E_REQUEST", where[:80], f"{detail['msg']}.", "See /v1/docs.")
