"""What rows hash to, thousands at once: of each, eight bytes of its key and eight of the whole
row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

BYTES = 8
"""Of each hash so many are kept."""


def digests(
    names: Sequence[str], keys: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Iterator[bytes]:
    """Hash each row's key, as a JSON list, and the row, as a JSON object with its names in order.

    >>> row = b'{"a":null,"b":"x"}'
    >>> next(digests(["b", "a"], ["b"], [("x", None)])) == _short(b'["x"]') + _short(row)
    True
    """
    columns = dict(zip(names, map(_texts, zip(*rows, strict=True)), strict=True))
    ordered = sorted(columns)
    whole = "{" + ",".join(f"{_encode(name)}:%s" for name in ordered) + "}"
    key = "[" + ",".join(["%s"] * len(keys)) + "]"
    named = zip(*(columns[name] for name in keys), strict=True)
    for values, row in zip(
        named, zip(*(columns[name] for name in ordered), strict=True), strict=True
    ):
        yield _short((key % values).encode()) + _short((whole % row).encode())


def _short(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()[:BYTES]


def _texts(values: Sequence[Any]) -> list[str]:
    """Each value as JSON. Plain ones in one go, parted by a character that JSON never leaves as it
    is."""
    if {dict, list} & set(map(type, values)):
        return ["{}" if value == {} else _encode(value) for value in values]
    return _encode_all(values)[1:-1].split("\0")


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else str(value)


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_plain).encode
_encode_all = json.JSONEncoder(separators=("\0", ":"), default=_plain).encode
