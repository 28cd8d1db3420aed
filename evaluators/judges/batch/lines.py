"""A batch job's file: a line a call going out, a line a result coming back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluators.judges.completions import Completion, Malformed, parse_body

CALL = "/v1/chat/completions"
SUCCESS = 200
LONGEST = 200


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a job says of one call: a completion, or why there is none."""

    name: str
    completion: Completion | None = None
    problem: str = ""


def call_line(name: str, body: Mapping[str, Any]) -> bytes:
    """One call of a job; its name comes back with the result."""
    line = {"custom_id": name, "method": "POST", "url": CALL, "body": body}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def read_results(text: str) -> Iterator[BatchResult]:
    """The results in a job's file, in any order; a line that cannot be read is none.

    >>> next(read_results('{"custom_id": "a", "error": {"message": "too long"}}')).problem
    'too long'
    """
    for line in text.splitlines():
        try:
            fields: Any = json.loads(line)
        except ValueError:
            continue
        if isinstance(fields, dict) and isinstance(fields.get("custom_id"), str):
            yield _result(fields["custom_id"], fields.get("response"), fields.get("error"))


def _result(name: str, response: Any, error: Any) -> BatchResult:
    if not isinstance(response, dict) or response.get("status_code") != SUCCESS:
        body = response.get("body") if isinstance(response, dict) else None
        return BatchResult(name, problem=_words(error) or _words(body) or "the call failed")
    try:
        return BatchResult(name, parse_body(json.dumps(response.get("body"))))
    except Malformed as bad:
        return BatchResult(name, problem=str(bad))


def _words(error: Any) -> str:
    """The message of an error in any of the forms in which endpoints nest it."""
    while isinstance(error, dict):
        error = error.get("error") or error.get("message") or error.get("code")
    return str(error)[:LONGEST] if error else ""
