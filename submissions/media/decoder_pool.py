"""A few decoding children, shared by the process: a job goes to a free one; one that hangs or dies
is replaced."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from infra.fields import fields_of
from infra.memory import children_in_third
from submissions.format.archive import Span
from submissions.media.child_pool import Children, End
from submissions.media.facts import (
    MOST_FRAMES,
    MOST_MEDIA_BYTES,
    NOTHING,
    Looked,
    MediaFacts,
    MediaRequirements,
    Refused,
    broken,
)

MEMORY = 2 << 30
"""Bytes that a child may take."""
COMMAND = (sys.executable, "-m", "submissions.media.decode_main", str(MEMORY))
CPU_SECONDS = 10.0
WALL_SECONDS = 60.0
"""A child may be kept waiting by others on a busy machine, so the clock on the wall is more
patient."""
MOST_TOGETHER = 8
"""So many files are asked about at once: every question wakes a process, and so does every
answer."""


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
        self.children = Children(count, command)
        self._cpu, self._wall = cpu_seconds, wall_seconds

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
        longest = sum(job.asked.most_frames / MOST_FRAMES for job in jobs)
        answer = self.children.ask(self._question(jobs), self._wall * longest)
        if isinstance(answer, bytes):
            return [looked_of(fields) for fields in json.loads(answer)]
        return [_said(self._fate(answer))] if len(jobs) == 1 else [self.look(job) for job in jobs]

    def close(self) -> None:
        """End the children."""
        self.children.close()

    def _question(self, jobs: Sequence[Job]) -> bytes:
        plain = [
            {**fields_of(job), "span": fields_of(job.span), "asked": fields_of(job.asked)}
            for job in jobs
        ]
        return json.dumps({"jobs": plain, "seconds": self._cpu}).encode()

    def _fate(self, end: End) -> Refused:
        """What the end of a child says about the file it had: it took too long, or it broke the
        decoder."""
        if end.slow:
            hint = "Encode it again, shorter or smaller."
            return Refused("E_MEDIA_TIMEOUT", f"Decoding takes over {self._cpu:g} seconds.", hint)
        return broken("file")


@lru_cache(maxsize=1)
def shared() -> Decoders:
    """The children of this process, one a core where there is memory for so many."""
    return Decoders(children_in_third(MEMORY))


os.register_at_fork(after_in_child=shared.cache_clear)


def _too_large() -> Looked:
    return _said(
        Refused("E_TOO_LARGE", "The file is too large.", f"At most {MOST_MEDIA_BYTES} bytes.")
    )


def _said(refused: Refused) -> Looked:
    return Looked(
        "", None, {"code": refused.code, "message": refused.message, "hint": refused.hint}
    )


def looked_of(answer: dict[str, object]) -> Looked:
    """What a child found in one file, from its words."""
    facts = answer.get("facts")
    return Looked(
        str(answer["sha256"]),
        MediaFacts(**facts) if isinstance(facts, dict) else None,
        dict(answer.get("refused") or {}),  # type: ignore[call-overload]
        bool(answer.get("copied")),
    )
