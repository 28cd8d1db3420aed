"""The one way to write a value as JSON (RFC 8785), quickly where it is an ordinary one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import rfc8785

LARGEST = 2**53
"""From here on JSON's numbers are not exact."""

SMALLEST = 1e-4
"""Below this Python writes a number with an exponent, and not as JavaScript does."""

_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode


class _Unusual(Exception):
    """Python's own encoder might write this in another way."""


def canonical(value: Any) -> bytes:
    """A value's canonical bytes. An integer past what JSON's numbers hold exactly is written in
    words.

    >>> canonical({"b": 1.0, "a": [0.25, None, 2**53]})
    b'{"a":[0.25,null,"9007199254740992"],"b":1}'
    """
    try:
        text = _encode(_ordinary(value))
    except _Unusual:
        text = ""
    return text.encode() if text and text.isascii() else rfc8785.dumps(_in_range(value))


def _ordinary(value: Any) -> Any:
    """The same value in such types and numbers as both ways of writing agree on."""
    kind = type(value)
    if value is None or kind is str or kind is bool:
        return value
    if kind is float:
        return _number(value)
    if kind is int:
        return value if abs(value) < LARGEST else str(value)
    if kind is dict:
        return {name: _ordinary(item) for name, item in value.items()}
    if kind is list or kind is tuple:
        return [_ordinary(item) for item in value]
    raise _Unusual


def _number(value: float) -> float:
    if value.is_integer() and abs(value) < LARGEST:
        return int(value)
    if SMALLEST <= abs(value) < LARGEST:
        return value
    raise _Unusual


def _in_range(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _in_range(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_range(item) for item in value]
    return str(value) if type(value) is int and abs(value) >= LARGEST else value
