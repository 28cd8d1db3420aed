"""Reading what strangers hand in, whatever the door: in children with bounds on memory and time,
then decoded."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import is_not
from pathlib import Path
from typing import Any

from infra.memory import children_in_third
from infra.settings import Settings
from submissions.bundle.check import Catalogue, CheckedBundle, Contents, SuiteFacts, settle
from submissions.bundle.read_main import NO_MEMORY
from submissions.format.archive import Span
from submissions.format.errors import IntakeError, Problem, too_heavy, too_slow, unreadable
from submissions.format.manifest import Manifest
from submissions.media.child_pool import Children, End
from submissions.media.decoder_pool import Decoders, looked_of
from submissions.media.decoder_pool import shared as shared_decoders

COMMAND = (sys.executable, "-m", "submissions.bundle.read_main")
CPU_BYTES_A_SECOND = 20 << 20
WALL_BYTES_A_SECOND = 1 << 20
"""A tenth of what one slow core reads and hashes, and a hundredth of it while others keep the
machine busy."""


@dataclass(frozen=True, slots=True)
class ReaderBounds:
    """What reading one bundle may take; large bundles get more time."""

    memory: int = 3 << 30
    cpu_seconds: float = 60.0
    wall_seconds: float = 600.0

    def cpu(self, size: int) -> float:
        """Seconds of the processor for so many bytes."""
        return self.cpu_seconds + size / CPU_BYTES_A_SECOND

    def wall(self, size: int) -> float:
        """Seconds by the clock for so many bytes."""
        return self.wall_seconds + size / WALL_BYTES_A_SECOND


@dataclass(frozen=True, slots=True)
class ReadBundle:
    """A bundle that was read and whose media are not decoded yet; they must be by a time of
    `time.monotonic`."""

    path: Path
    contents: Contents
    deadline: float


class ReaderFault(RuntimeError):
    """A fault of ours in the child, with where it came up there."""


class Readers:
    """Children that read bundles, and one more for manifests alone, which are not to wait for
    bundles."""

    def __init__(
        self, bounds: ReaderBounds | None = None, count: int = 1, command: Sequence[str] = COMMAND
    ) -> None:
        self.bounds = bounds or ReaderBounds()
        self._spelled = _Spelled()
        self._bundles, self._texts = (
            Children(n, (*command, str(self.bounds.memory))) for n in (count, 1)
        )

    def check(
        self, path: Path, catalogue: Catalogue, decoders: Decoders | None = None
    ) -> CheckedBundle:
        """Read a bundle completely; IntakeError lists every problem, and nothing is kept."""
        return self.decode(self.read(path, catalogue), catalogue, decoders)

    def read(
        self, path: Path, catalogue: Catalogue, fetch: Callable[[Manifest], Path] | None = None
    ) -> ReadBundle:
        """Read all of a bundle but its media; of one that only names a model on a hub, the bundle
        that `fetch` brings."""
        size, start = path.stat().st_size, time.monotonic()
        job = {"task": "read", "path": str(path.resolve()), "catalogue": self._spelled(catalogue)}
        contents = _contents(self._ask(self._bundles, job, size))
        if contents.manifest.on_hub and fetch:
            return self.read(fetch(contents.manifest), catalogue)
        return ReadBundle(path, contents, start + self.bounds.wall(size))

    def decode(
        self, bundle: ReadBundle, catalogue: Catalogue, decoders: Decoders | None = None
    ) -> CheckedBundle:
        """Have the media of a bundle decoded that was read, within the time that is left of it."""
        media_decoders = decoders or shared_decoders()
        return settle(bundle.contents, catalogue, media_decoders, bundle.deadline)

    def manifest(self, text: str) -> Manifest:
        """A manifest that comes before its bundle."""
        return Manifest.model_validate_json(
            self._ask(self._texts, {"task": "manifest", "text": text}, 0)
        )

    def close(self) -> None:
        """End the children."""
        self._bundles.close()
        self._texts.close()

    def _ask(self, children: Children, job: dict[str, str], size: int) -> Any:
        line = json.dumps({**job, "seconds": self.bounds.cpu(size)}).encode()
        answer = children.ask(line, self.bounds.wall(size))
        if isinstance(answer, End) and _is_from_outside(answer):
            answer = children.ask(line, self.bounds.wall(size))
        if isinstance(answer, End):
            raise self._refusal(answer, size)
        return _found(json.loads(answer))

    def _refusal(self, end: End, size: int) -> IntakeError:
        if end.slow:
            return too_slow(
                self.bounds.cpu(size) if end.code == -signal.SIGPROF else self.bounds.wall(size)
            )
        return too_heavy(self.bounds.memory) if end.code == NO_MEMORY else unreadable()


def readers_of(settings: Settings) -> Readers:
    """The readers of this process, within the bounds that its settings name."""
    return _readers(
        ReaderBounds(
            settings.intake_memory, settings.intake_cpu_seconds, settings.intake_wall_seconds
        )
    )


@lru_cache(maxsize=4)
def _readers(bounds: ReaderBounds) -> Readers:
    return Readers(bounds, children_in_third(bounds.memory))


os.register_at_fork(after_in_child=_readers.cache_clear)


class _Spelled:
    """The last catalogue as text for a child: spelling one out takes longer than reading a small
    bundle."""

    def __init__(self) -> None:
        self._suites: tuple[SuiteFacts, ...] = ()
        self._text = ""

    def __call__(self, catalogue: Catalogue) -> str:
        suites = tuple(catalogue.values())
        if (
            not self._text
            or len(suites) != len(self._suites)
            or any(map(is_not, suites, self._suites))
        ):
            self._text = b64encode(pickle.dumps(dict(catalogue), pickle.HIGHEST_PROTOCOL)).decode()
            self._suites = suites
        return self._text


def _is_from_outside(end: End) -> bool:
    """Whether somebody else ended the child, such as a machine that is short of memory: it is worth
    another try."""
    return not end.slow and end.code == -signal.SIGKILL


def _found(answer: dict[str, Any]) -> Any:
    if "fault" in answer:
        raise ReaderFault(answer["fault"])
    if "problems" in answer:
        raise IntakeError([Problem(**problem) for problem in answer["problems"]], answer["total"])
    return answer["found"]


def _contents(fields: dict[str, Any]) -> Contents:
    return Contents(
        Manifest.model_validate_json(fields["manifest"]),
        tuple(fields["ignored"]),
        {int(number): looked_of(looked) for number, looked in fields["values"].items()},
        {int(number): Span(**span) for number, span in fields["media"].items()},
        tuple(Problem(**warning) for warning in fields["warnings"]),
    )
