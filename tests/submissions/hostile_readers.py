"""Readers that do, to a bundle called `hostile`, what no sound reader does; every other bundle is
read as always."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from submissions.bundle import check
from submissions.bundle.check import Catalogue, Contents
from submissions.format.errors import refusal


def spins(path: Path, catalogue: Catalogue) -> Contents:
    """Never leaves the processor."""
    while _is_hostile(path):
        pass
    return check.read(path, catalogue)


def sleeps(path: Path, catalogue: Catalogue) -> Contents:
    """Never comes back, and takes no time of the processor."""
    while _is_hostile(path):
        time.sleep(1)
    return check.read(path, catalogue)


def swallows(path: Path, catalogue: Catalogue) -> Contents:
    """Takes all the memory that there is."""
    held = []
    while _is_hostile(path):
        held.append(bytes(64 << 20))
    return check.read(path, catalogue)


def crashes(path: Path, catalogue: Catalogue) -> Contents:
    """Ends as a broken library does."""
    if _is_hostile(path):
        os.kill(os.getpid(), signal.SIGSEGV)
    return check.read(path, catalogue)


def is_killed(path: Path, catalogue: Catalogue) -> Contents:
    """Ends as by a machine that is short of memory."""
    if _is_hostile(path):
        os.kill(os.getpid(), signal.SIGKILL)
    return check.read(path, catalogue)


def babbles(path: Path, catalogue: Catalogue) -> Contents:
    """Writes something else than an answer, and leaves."""
    if _is_hostile(path):
        os.write(1, b"half an answer")
        os._exit(0)
    return check.read(path, catalogue)


def digs(path: Path, catalogue: Catalogue) -> Contents:
    """Calls itself for ever."""
    return digs(path, catalogue) if _is_hostile(path) else check.read(path, catalogue)


def has_a_bug(path: Path, catalogue: Catalogue) -> Contents:
    """Fails by a fault of ours."""
    if _is_hostile(path):
        raise ZeroDivisionError("a fault of ours")
    return check.read(path, catalogue)


def refuses(path: Path, catalogue: Catalogue) -> Contents:
    """Finds what it cannot take."""
    if _is_hostile(path):
        raise refusal("E_SUITE", "manifest.suite", "No such suite.", "Use another.", 7)
    return check.read(path, catalogue)


def _is_hostile(path: Path) -> bool:
    return path.name.startswith("hostile")
