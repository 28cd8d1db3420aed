"""A dataclass as a plain dict, one level deep: `asdict` copies all that lies within, value by value."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from evaluators.contracts import Sample


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name, as they are."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _names(kind)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def plain(sample: Sample) -> dict[str, Any]:
    """A sample with all it is made of, ready to be written as JSON."""
    questions = [fields_of(question) for question in sample.questions]
    return {**fields_of(sample), "facets": fields_of(sample.facets), "questions": questions}
