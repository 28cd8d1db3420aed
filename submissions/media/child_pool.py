"""Child processes that answer a line with a line: a few, shared by threads; one that hangs or dies
is replaced."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import LifoQueue
from typing import IO

ROOT = Path(__file__).parents[2]
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
"""The next picture takes the memory of the last, instead of having it from the system page by
page."""
MOST_ANSWER = 256 << 20
CHUNK = 1 << 16

Child = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class End:
    """How a child ended instead of answering: it was too slow, or it left with a code (a signal is
    below zero)."""

    slow: bool
    code: int


class Children:
    """So many children of one command, started when they are needed; they end with this process."""

    def __init__(self, count: int, command: Sequence[str]) -> None:
        self.count = count
        self._command = tuple(command)
        self._free: LifoQueue[Child | None] = LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def ask(self, line: bytes, seconds: float) -> bytes | End:
        """Have a free child answer one line, within so many seconds once it has it."""
        child = self._free.get()
        try:
            if child is None or child.poll() is not None:
                child = _start(self._command)
            answer = _exchange(child, line, seconds)
            if answer is not None:
                return answer
            end = _end(child)
            child = None
            return end
        except BaseException:
            # Its answer would be taken for that to the next line.
            if child is not None:
                child.kill()
                child.wait()
                child = None
            raise
        finally:
            self._free.put(child)

    @property
    def pids(self) -> list[int]:
        """The processes that wait for work."""
        return [child.pid for child in self._free.queue if child]

    def close(self) -> None:
        """End the children."""
        for _ in range(self.count):
            child = self._free.get()
            if child is not None:
                child.kill()
                child.wait()
            self._free.put(None)


def _start(command: Sequence[str]) -> Child:
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "OPENBLAS_NUM_THREADS": "1",
        **KEPT_MEMORY,
    }
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,
    )


def _exchange(child: Child, line: bytes, seconds: float) -> bytes | None:
    assert child.stdin and child.stdout
    try:
        child.stdin.write(line + b"\n")
        child.stdin.flush()
    except BrokenPipeError:
        return None
    return _line(child.stdout, seconds)


def _line(stream: IO[bytes], seconds: float) -> bytes | None:
    """One line, or None if the stream ends, runs over, or the line is not whole after so long."""
    deadline = time.monotonic() + seconds
    parts, size = list[bytes](), 0
    while size <= MOST_ANSWER and _is_ready(stream, deadline - time.monotonic()):
        part = os.read(stream.fileno(), CHUNK)
        parts.append(part)
        size += len(part)
        if part.endswith(b"\n"):
            return b"".join(parts)
        if not part:
            return None
    return None


def _is_ready(stream: IO[bytes], seconds: float) -> bool:
    """Whether there is something to read, or the end; `select` knows no descriptors beyond the
    first thousand."""
    watch = select.poll()
    watch.register(stream, select.POLLIN | select.POLLHUP)
    return bool(watch.poll(max(0.0, seconds) * 1000))


def _end(child: Child) -> End:
    """What became of a child that gave no answer; it is gone afterwards."""
    hangs = child.poll() is None and not _leaves(child)
    child.kill()
    code = child.wait()
    return End(hangs or code == -signal.SIGPROF, code)


def _leaves(child: Child) -> bool:
    """Whether the child is ending by itself: its pipe closes a moment before it can be waited
    for."""
    assert child.stdout
    if not _is_ready(child.stdout, 0):
        return False
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        return False
    return True
