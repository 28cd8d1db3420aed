"""Sentences about a name that does not exist: what it may have been meant for, which names there
are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from submissions.format.errors import shown

MOST_LISTED = 12


def no_such(
    noun: str, value: str, names: Iterable[str], next_step: str = "", within: str = ""
) -> str:
    """Say that a name does not exist, with a near one, the first of those that do, and the next
    step.

    >>> no_such("metric", "tim", ["time", "length"], within="liva")
    "There is no metric 'tim' in liva. Did you mean 'time'? There are: time, length."
    >>> no_such("study", "pilot", [], "Make one with `armillary study create`.")
    "There is no study 'pilot', nor any other yet. Make one with `armillary study create`."
    """
    existing = list(dict.fromkeys(names))
    place = f" in {within}" if within else ""
    nor = "" if existing else ", nor any other yet"
    beyond = f" and {len(existing) - MOST_LISTED} more" if len(existing) > MOST_LISTED else ""
    listed = f"There are: {', '.join(existing[:MOST_LISTED])}{beyond}." if existing else ""
    sentences = (
        f"There is no {noun} {shown(value)}{place}{nor}.",
        did_you_mean(value, existing),
        listed,
        next_step,
    )
    return " ".join(filter(None, sentences))


def did_you_mean(value: str, names: Iterable[str]) -> str:
    """A question with the nearest name, or nothing where none is near.

    >>> did_you_mean("sub-12", ["sub-123", "other"])
    "Did you mean 'sub-123'?"
    """
    near = get_close_matches(value, list(names), 1)
    return f"Did you mean {near[0]!r}?" if near else ""
