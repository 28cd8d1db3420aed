"""Messages with arrays in them: msgpack in which an array is a map of its bytes, type and shape, as
openpi's servers and clients write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np

ARRAY, NUMBER = b"__ndarray__", b"__npgeneric__"
KINDS = "biufSU"
"""What an array may hold: truth values, numbers and texts, never objects."""


class BadMessage(ValueError):
    """The bytes are no message of this wire; the message says why."""


def pack(message: object) -> bytes:
    """The bytes of a message.

    >>> unpack(pack({"actions": np.ones((2, 3), np.float32)}))["actions"].shape
    (2, 3)
    """
    return bytes(msgpack.packb(message, default=_as_map))


def unpack(data: bytes) -> Any:
    """The message in some bytes; nothing in it is ever executed."""
    try:
        return msgpack.unpackb(data, object_hook=_from_map, strict_map_key=False)
    except BadMessage:
        raise
    except (ValueError, TypeError, msgpack.exceptions.UnpackException) as error:
        raise BadMessage(f"This is no msgpack ({error}).") from None


def _as_map(value: object) -> object:
    if isinstance(value, np.ndarray):
        _check_kind(value.dtype)
        shape, data = list(value.shape), np.ascontiguousarray(value).tobytes()
        return {ARRAY: True, b"data": data, b"dtype": value.dtype.str, b"shape": shape}
    if isinstance(value, np.generic):
        _check_kind(value.dtype)
        return {NUMBER: True, b"data": value.item(), b"dtype": value.dtype.str}
    raise TypeError(f"A {type(value).__name__} cannot be sent.")


def _from_map(value: Mapping[Any, Any]) -> object:
    if ARRAY in value:
        dtype = _dtype(value[b"dtype"])
        return np.frombuffer(value[b"data"], dtype).reshape(value[b"shape"]).copy()
    if NUMBER in value:
        return _dtype(value[b"dtype"]).type(value[b"data"])
    return value


def _dtype(name: object) -> np.dtype[Any]:
    dtype = np.dtype(name.decode() if isinstance(name, bytes) else str(name))
    _check_kind(dtype)
    return dtype


def _check_kind(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in KINDS:
        raise BadMessage(f"An array of {dtype} cannot be sent. Send numbers.")
