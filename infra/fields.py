"""A dataclass as a plain dict, one level deep; `asdict` copies nested values too, which is slow for
thousands."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _names(kind)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
