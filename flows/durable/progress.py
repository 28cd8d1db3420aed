"""Telling a waiting person how far a long piece of work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Reporter = Callable[[str, int, int], None]
_reporters: list[Reporter] = []
_finished: dict[str, int] = {}
_total: dict[str, int] = {}


def start_progress(stage: str, total: int) -> None:
    """Start counting something from nothing."""
    _finished[stage], _total[stage] = 0, total
    if total:
        _tell(stage)


def advance_progress(stage: str) -> None:
    """One more is done; called where the work is, if that is in this process."""
    if _finished.get(stage, 0) < _total.get(stage, 0):
        _finished[stage] += 1
        _tell(stage)


def set_progress(stage: str, finished: int) -> None:
    """At least so many are done; called where results come in, for work in other processes."""
    _finished[stage] = max(_finished.get(stage, 0), finished)
    _tell(stage)


def _tell(stage: str) -> None:
    for reporter in _reporters:
        reporter(stage, _finished[stage], _total.get(stage, 0))


@contextmanager
def progress_reported_to(reporter: Reporter) -> Iterator[None]:
    """Listen while the block runs."""
    _reporters.append(reporter)
    try:
        yield
    finally:
        _reporters.remove(reporter)
