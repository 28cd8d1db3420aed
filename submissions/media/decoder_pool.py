"""A few decoding children, shared by the process: a job goes to a free one; one that hangs or dies
is replaced."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from queue import LifoQueue
from typing import IO

from infra.fields import fields_of
from submissions.format.archive import Span
from submissions.media.facts import (
    MOST_MEDIA_BYTES,
    NOTHING,
    Looked,
    MediaFacts,
    MediaRequirements,
    Refused,
    broken,
)

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "submissions.media.decode_main")
CPU_SECONDS = 10.0
WALL_SECONDS = 60.0
"""A child may be kept waiting by others on a busy machine, so the clock on the wall is more
patient."""
MOST_TOGETHER = 8
"""So many files are asked about at once: every question wakes a process, and so does every
answer."""
KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
"""The next picture takes the memory of the last, instead of having it from the system page by
page."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file to look at: where its bytes lie, what it is called, and what is asked of it."""

    span: Span
    name: str
    modality: str
    sha256: str | None = None
    asked: MediaRequirements = NOTHING


class Decoders:
    """Children that are started when they are needed and end with this process."""

    def __init__(
        self,
        count: int,
        command: Sequence[str] = COMMAND,
        cpu_seconds: float = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> None:
        self.count = count
        self._command, self._cpu, self._wall = tuple(command), cpu_seconds, wall_seconds
        self._free: LifoQueue[subprocess.Popen[bytes] | None] = LifoQueue()
        for _ in range(count):
            self._free.put(None)

    def look(self, job: Job) -> Looked:
        """Have a child look at one file; whatever happens to the child, there is an answer."""
        return self._look([job])[0]

    def look_all(self, jobs: Sequence[Job]) -> Iterator[Looked]:
        """Look at many files, as many at once as there are children, in the order given."""
        size = max(1, min(MOST_TOGETHER, len(jobs) // (self.count * 4)))
        heaps = [jobs[first : first + size] for first in range(0, len(jobs), size)]
        if self.count == 1 or len(heaps) < 2:
            yield from chain.from_iterable(map(self._look, heaps))
            return
        with ThreadPoolExecutor(self.count) as threads:
            yield from chain.from_iterable(threads.map(self._look, heaps))

    def _look(self, jobs: Sequence[Job]) -> list[Looked]:
        """Look at some files together; if that ends the child, at each alone, to know which one it
        was."""
        if any(job.span.size > MOST_MEDIA_BYTES for job in jobs):
            return [_too_large()] if len(jobs) == 1 else [self.look(job) for job in jobs]
        child = self._free.get()
        try:
            if child is None or child.poll() is not None:
                child = self._start()
            answer = self._ask(child, jobs)
            if answer is not None:
                return [_looked(one) for one in json.loads(answer)]
            refused = self._fate(child)
            child = None
        finally:
            self._free.put(child)
        return [_said(refused)] if len(jobs) == 1 else [self.look(job) for job in jobs]

    def close(self) -> None:
        """End the children."""
        for _ in range(self.count):
            child = self._free.get()
            if child is not None:
                child.kill()
                child.wait()
            self._free.put(None)

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": os.defpath,
            "PYTHONPATH": str(ROOT),
            "OPENBLAS_NUM_THREADS": "1",
            **KEPT_MEMORY,
        }
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            start_new_session=True,
        )

    def _ask(self, child: subprocess.Popen[bytes], jobs: Sequence[Job]) -> bytes | None:
        assert child.stdin and child.stdout
        plain = [
            {**fields_of(job), "span": fields_of(job.span), "asked": fields_of(job.asked)}
            for job in jobs
        ]
        try:
            child.stdin.write(json.dumps({"jobs": plain, "seconds": self._cpu}).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            return None
        return _line(child.stdout, self._wall * len(jobs))

    def _fate(self, child: subprocess.Popen[bytes]) -> Refused:
        """What the end of a child says about the file it had: it took too long, or it broke the
        decoder."""
        hangs = child.poll() is None and not _ended(child)
        child.kill()
        ended = child.wait()
        if hangs or ended == -signal.SIGPROF:
            hint = "Encode it again, shorter or smaller."
            return Refused("E_MEDIA_TIMEOUT", f"Decoding takes over {self._cpu:g} seconds.", hint)
        return broken("file")


@lru_cache(maxsize=1)
def shared() -> Decoders:
    """The children of this process, one a core."""
    return Decoders(len(os.sched_getaffinity(0)))


os.register_at_fork(after_in_child=shared.cache_clear)


def _line(stream: IO[bytes], seconds: float) -> bytes | None:
    """One line, or None if the stream ends or stays silent for so long."""
    ready, _, _ = select.select([stream], [], [], seconds)
    line = stream.readline() if ready else b""
    return line if line.endswith(b"\n") else None


def _ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child is ending by itself: its pipe closes a moment before it can be waited
    for."""
    assert child.stdout
    closed, _, _ = select.select([child.stdout], [], [], 0)
    if not closed:
        return False
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        return False
    return True


def _too_large() -> Looked:
    return _said(
        Refused("E_TOO_LARGE", "The file is too large.", f"At most {MOST_MEDIA_BYTES} bytes.")
    )


def _said(refused: Refused) -> Looked:
    return Looked(
        "", None, {"code": refused.code, "message": refused.message, "hint": refused.hint}
    )


def _looked(answer: dict[str, object]) -> Looked:
    facts = answer.get("facts")
    return Looked(
        str(answer["sha256"]),
        MediaFacts(**facts) if isinstance(facts, dict) else None,
        dict(answer.get("refused") or {}),  # type: ignore[call-overload]
        bool(answer.get("copied")),
    )
