"""The folder of a web process with files that people have looked at: bounded, for whoever walks
through all outputs has them all put there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 10 << 30
IN_USE_SECONDS = 600.0
"""Who has asked for a file may still be reading it."""


def used(path: Path) -> bool:
    """Whether the file is there; if so it is the last to go."""
    try:
        os.utime(path)
    except OSError:
        return False
    return True


def make_room(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove files that nobody has asked for lately, the longest unused first, until those that are
    left have at most so many bytes."""
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # somebody else has just removed it
                if entry.is_file():
                    files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
    total, lately = 0, time.time() - IN_USE_SECONDS
    for at, size, path in sorted(files, reverse=True):
        total += size
        if total > most and at < lately:
            with suppress(OSError):
                os.unlink(path)
            total -= size
