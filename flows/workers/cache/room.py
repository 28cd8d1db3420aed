"""Room on a worker's disk: of the bundles and models that it keeps, those go that nobody has used
for longest, and never one that is in use."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BUNDLES, MODELS = "bundles", "models"
LEAST_FREE = 0.05


@contextmanager
def in_use(work: Path, sha256: str) -> Iterator[None]:
    """While the block runs no process of this machine removes this bundle or its model."""
    lock = _lock(work, sha256)
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        os.utime(lock)
        yield


def tidy(work: Path, most: int) -> None:
    """Make room; where the disk is nearly full nothing stays but what is in use."""
    disk = shutil.disk_usage(work)
    make_room(work, most if disk.free > disk.total * LEAST_FREE else 0)


def make_room(work: Path, most: int) -> None:
    """Remove bundles and their models, the longest unused first, until those that are left have at
    most so many bytes."""
    kept = {path.stem for path in (work / BUNDLES).glob("*.zip")}
    kept |= {path.name for path in (work / MODELS).glob("*") if len(path.name) == 64}
    total = 0
    for sha256 in sorted(kept, key=lambda name: _last_used(work, name), reverse=True):
        total += (size := _size(work, sha256))
        if total > most and _removed(work, sha256):
            total -= size


def _removed(work: Path, sha256: str) -> bool:
    """Whether it could be removed. The lock's file stays, or two processes might hold two of
    them."""
    with _lock(work, sha256).open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        (work / BUNDLES / f"{sha256}.zip").unlink(missing_ok=True)
        shutil.rmtree(work / MODELS / sha256, ignore_errors=True)
        return True


def _lock(work: Path, sha256: str) -> Path:
    return work / BUNDLES / f"{sha256}.lock"


def _last_used(work: Path, sha256: str) -> float:
    lock = _lock(work, sha256)
    return lock.stat().st_mtime if lock.exists() else 0.0


def _size(work: Path, sha256: str) -> int:
    bundle, model = work / BUNDLES / f"{sha256}.zip", work / MODELS / sha256
    files = [bundle, *(model.rglob("*") if model.is_dir() else ())]
    return sum(path.stat().st_size for path in files if path.is_file())
