"""What people see of a picture or clip: encoded again in one format, without metadata, made once
and kept by its hash.

Judges look at decoded pixels anyway. The file as it was handed in is never shown: its tags, name
and container could say who made it, or more than a browser should read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Semaphore

from infra.memory import children_in_third
from infra.store import Missing, Store, StoreError, fetch_blob
from submissions.media.child_pool import ROOT
from submissions.media.shown_files import make_room, used

VERSION = 1
MEMORY = 3 << 30
"""Bytes that a child may take."""
COMMAND = (sys.executable, "-m", "submissions.media.derive_main", str(MEMORY))
SECONDS = 300
"""For each file."""
PATIENCE = 30.0
TOGETHER = 32
"""So many files at most are given to one child."""


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file that may be shown, and its type."""

    path: Path
    media_type: str


@dataclass(frozen=True, slots=True)
class Canvas:
    """The size and frame rate of what people see. Without a rate each clip keeps its own size and
    rate, and is only made smaller where it is larger than the canvas."""

    width: int
    height: int
    fps: int | None


def public_file(store: Store, sha256: str, media_type: str, folder: Path) -> PublicFile | None:
    """The derivative as a file in a folder; None if it is not media, is gone, or cannot be made
    now."""
    if not media_type.startswith(("image/", "video/")):
        return None
    ending, kind = (
        (".mp4", "video/mp4") if media_type.startswith("video/") else (".png", "image/png")
    )
    path, key = folder / f"{sha256}{ending}", f"shown/{VERSION}/{sha256}{ending}"
    if used(path):
        return PublicFile(path, kind)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        store.fetch(key, path)
    except Missing:
        if not _made_in_turn(store, sha256, key, path):
            return None
    except (StoreError, OSError):
        return None
    make_room(folder)
    return PublicFile(path, kind)


@lru_cache(maxsize=1)
def making() -> Semaphore:
    """Held while one is made: anybody may ask to see any output, and making one takes minutes and
    gigabytes at worst."""
    return Semaphore(children_in_third(MEMORY))


def _made_in_turn(store: Store, sha256: str, key: str, path: Path) -> bool:
    if not making().acquire(timeout=PATIENCE):
        return False
    try:
        return used(path) or _make(store, sha256, key, path)
    finally:
        making().release()


def _make(store: Store, sha256: str, key: str, path: Path) -> bool:
    with TemporaryDirectory(prefix="derive-", dir=path.parent) as name:
        source, target = Path(name) / "source", Path(name) / f"target{path.suffix}"
        try:
            fetch_blob(store, sha256, source)
            if not _derived(source, target):
                return False
            store.put_file(key, target)
        except (StoreError, OSError):
            return False
        target.replace(path)
    return True


def _derived(source: Path, target: Path) -> bool:
    _run([(source, target)], None)
    return target.is_file()


def blind(files: Sequence[tuple[Path, Path]], canvas: Canvas) -> list[bool]:
    """Bring sources to targets (.png or .mp4) that all look alike; for each whether it could be
    done.

    A file that breaks the child costs only itself: the others go on in a new one.
    """
    remaining = list(files)
    while remaining:
        _run(remaining[:TOGETHER], canvas)
        broken = next(
            (at for at, (_, target) in enumerate(remaining[:TOGETHER]) if not target.is_file()),
            None,
        )
        remaining = remaining[TOGETHER if broken is None else broken + 1 :]
    return [target.is_file() for _, target in files]


def _run(files: Sequence[tuple[Path, Path]], canvas: Canvas | None) -> None:
    """Have a child do it, with limits, for the files are somebody else's."""
    lines = "".join(f"{json.dumps(_job(source, target, canvas))}\n" for source, target in files)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            COMMAND, input=lines.encode(), env=environment, cwd="/", check=False,
            timeout=SECONDS * len(files), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _job(source: Path, target: Path, canvas: Canvas | None) -> dict[str, object]:
    job = {
        "source": str(source.resolve()),
        "target": str(target.resolve()),
        "video": target.suffix == ".mp4",
    }
    return {**job, "canvas": [canvas.width, canvas.height, canvas.fps]} if canvas else job
