"""Servers that can be killed at any moment and started again with the same commands, ports and
data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from types import TracebackType

import psutil

from .process import Running, wait_until

Start = Callable[[], AbstractContextManager[Running]]


class Again:
    """One server of one or more processes; `ready` says whether it answers."""

    def __init__(
        self,
        starts: Sequence[Start],
        ready: Callable[[], bool] = lambda: True,
        seconds: float = 180,
    ) -> None:
        self._starts, self._ready, self._seconds = starts, ready, seconds
        self._running: list[Running] = []
        self._stack = ExitStack()

    def __enter__(self) -> Again:
        """Start it and wait until it answers."""
        self.start()
        try:
            wait_until(self._ready, self._running, self._seconds)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._stack.close()

    def start(self) -> None:
        """Start it and wait for nothing."""
        self._running = [self._stack.enter_context(start()) for start in self._starts]

    def kill(self) -> None:
        """Kill -9 it and everything that it started."""
        every = [found for running in self._running for found in _family(running.pid)]
        for process in every:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(every, timeout=30)
        self._stack.close()

    def lives(self) -> bool:
        """Say whether all its processes run."""
        return all(running.process.poll() is None for running in self._running)

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of its processes."""
        return tuple(running.pid for running in self._running)

    def tail(self) -> str:
        """The end of what it printed."""
        return "\n".join(running.tail() for running in self._running)


def _family(pid: int) -> list[psutil.Process]:
    """The process and its descendants, itself first, so that it starts no more of them."""
    try:
        leader = psutil.Process(pid)
        return [leader, *leader.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
