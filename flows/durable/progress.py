"""Telling a waiting person how far a long piece of work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Reporter = Callable[[str, int, int], None]
_reporters: list[Reporter] = []
_done: dict[str, int] = {}
_total: dict[str, int] = {}


def begin(what: str, total: int) -> None:
    """Start counting something from nothing."""
    _done[what], _total[what] = 0, total
    if total:
        _tell(what)


def tick(what: str) -> None:
    """One more is done; called where the work is, if that is in this process."""
    if _done.get(what, 0) < _total.get(what, 0):
        _done[what] += 1
        _tell(what)


def reach(what: str, done: int) -> None:
    """At least so many are done; called where results come in, for work in other processes."""
    _done[what] = max(_done.get(what, 0), done)
    _tell(what)


def _tell(what: str) -> None:
    for reporter in _reporters:
        reporter(what, _done[what], _total.get(what, 0))


@contextmanager
def heard_by(reporter: Reporter) -> Iterator[None]:
    """Listen while the block runs."""
    _reporters.append(reporter)
    try:
        yield
    finally:
        _reporters.remove(reporter)
