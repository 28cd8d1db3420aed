"""JSON without its traps: no duplicate key, no NaN, no endless number, no deep nesting, UTF-8 and
nothing else.

Reading takes time and memory in proportion to the text: what is nested or holds too many values is
found by a walk over the bytes, before Python objects are made of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from submissions.format.errors import shown

MOST_BYTES = 64 << 20
MOST_VALUES = 4_000_000
"""A tokenizer of 250,000 words and their merges has two million; a value takes up to a hundred
bytes of memory."""
MOST_DEPTH = 32
MOST_DIGITS = 40
WINDOW = 1 << 18
BRACKETS = b"[]{}"
NO_BRACKETS = bytes(set(range(256)) - set(BRACKETS))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class BadJson(Exception):
    """Why a text is not taken: the kind is the end of its code."""

    def __init__(self, kind: str, where: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.kind, self.where, self.message, self.hint = kind, where, message, hint


def read(raw: bytes, *, infinite: bool = False, most_values: int = MOST_VALUES) -> Any:
    """The value that the bytes spell, or BadJson; `infinite` takes Infinity and -Infinity too."""
    if len(raw) > MOST_BYTES:
        raise BadJson(
            "LARGE", "$", f"{len(raw)} bytes; the limit is {MOST_BYTES}.", "Make it smaller."
        )
    text = _text(raw)
    _check_extent(raw, most_values)
    try:
        return json.loads(
            text,
            object_pairs_hook=_no_twins,
            parse_constant=_infinity if infinite else _no_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        raise BadJson(
            "JSON",
            at,
            f"This is not JSON: {error.msg}.",
            "Check it with `python -m json.tool FILE`.",
        ) from None


def holds_nul(raw: bytes) -> bool:
    r"""Whether a string of the text holds the character NUL, which JSON can only spell as an
    escape.

    >>> holds_nul(rb'["a\u0000"]'), holds_nul(rb'["a\\u0000"]')
    (True, False)
    """
    return rb"\u0000" in raw.replace(rb"\\", b"")


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadJson(
            "ENCODING", "$", "It is not UTF-8.", "Save it as UTF-8 without a BOM."
        ) from None
    if text.startswith("\ufeff"):
        raise BadJson(
            "ENCODING", "$", "It begins with a byte order mark.", "Save it as UTF-8 without a BOM."
        )
    return text


def _check_extent(raw: bytes, most_values: int) -> None:
    """Refuse what nests too deep or holds too many values, without making any of them."""
    depth, values = 0, 1
    for bare in _outside_strings(raw):
        brackets = bare.translate(None, NO_BRACKETS)
        depths = list(accumulate(map(STEPS.__getitem__, brackets), initial=depth))
        if max(depths) > MOST_DEPTH:
            raise BadJson("DEPTH", "$", f"Nested deeper than {MOST_DEPTH} levels.", "Flatten it.")
        depth = depths[-1]
        values += bare.count(b",") + bare.count(b"[") + bare.count(b"{")
        if values > most_values:
            raise BadJson(
                "LARGE", "$", f"It holds over {most_values} values.", "Leave out what nobody reads."
            )


def _outside_strings(raw: bytes) -> Iterator[bytes]:
    """The text between the strings, a window at a time; an escaped quote ends no string."""
    unescaped = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    inside = 0
    for at in range(0, len(unescaped), WINDOW):
        parts = unescaped[at : at + WINDOW].split(b'"')
        yield b"".join(parts[inside::2])
        inside ^= (len(parts) - 1) & 1


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twin = next(name for name, count in counts.items() if count > 1)
        raise BadJson(
            "DUPKEY", shown(twin), "This key stands twice in one object.", "Keep one of them."
        )
    return members


def _infinity(name: str) -> Any:
    return _no_constant(name) if name == "NaN" else float(name)


def _no_constant(name: str) -> Any:
    raise BadJson(
        "NUMBER", name, f"{name} is not a number in JSON.", "Leave the field out or write a number."
    )


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise BadJson("NUMBER", shown(text), "The number is too large.", "Write a finite number.")
    return value


def _short(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise BadJson(
            "NUMBER",
            shown(text),
            "The number has too many digits.",
            f"Write at most {MOST_DIGITS} digits.",
        )
    return int(text)
