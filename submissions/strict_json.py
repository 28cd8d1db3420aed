"""JSON without its traps: no duplicate key, no NaN, no endless number, no deep nesting, UTF-8 and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

from submissions.errors import shown

MOST_DEPTH = 32
MOST_DIGITS = 40
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
BRACKETS = re.compile(r"[\[\]{}]")


class BadJson(Exception):
    """Why a text is not taken: the kind is the end of its code."""

    def __init__(self, kind: str, where: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.kind, self.where, self.message, self.hint = kind, where, message, hint


def read(raw: bytes) -> Any:
    """The value that the bytes spell, or BadJson."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadJson("ENCODING", "$", "It is not UTF-8.", "Save it as UTF-8 without a BOM.") from None
    if text.startswith("\ufeff"):
        raise BadJson("ENCODING", "$", "It begins with a byte order mark.", "Save it as UTF-8 without a BOM.")
    if _depth(text) > MOST_DEPTH:
        raise BadJson("DEPTH", "$", f"Nested deeper than {MOST_DEPTH} levels.", "Flatten it.")
    try:
        return json.loads(
            text, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_float=_finite, parse_int=_short
        )
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise BadJson("JSON", at, f"{error.msg}.", "Check it with `python -m json.tool manifest.json`.") from None


def _depth(text: str) -> int:
    """The deepest nesting of brackets outside strings."""
    deepest = depth = 0
    for found in BRACKETS.finditer(STRINGS.sub("", text)):
        depth += 1 if found.group() in "[{" else -1
        deepest = max(deepest, depth)
        if deepest > MOST_DEPTH:
            break
    return deepest


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise BadJson("DUPKEY", shown(twin), "This key stands twice in one object.", "Keep one of them.")
    return found


def _no_constant(name: str) -> Any:
    raise BadJson("NUMBER", name, f"{name} is not a number in JSON.", "Leave the field out or write a number.")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadJson("NUMBER", shown(text), "The number is too large.", "Write a finite number.")
    return value


def _short(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise BadJson("NUMBER", shown(text), "The number has too many digits.", f"Write at most {MOST_DIGITS} digits.")
    return int(text)
