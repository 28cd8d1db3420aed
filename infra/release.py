"""Which release of the program this is, and which commit it was built from."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from infra.settings import Settings

TREE = Path(__file__).parents[1]


def release() -> str:
    """The installed release; empty where only the files are there."""
    try:
        return version("armillary")
    except PackageNotFoundError:
        return ""


def commit() -> str:
    """The commit that this installation was built from, as its image or its work tree says; empty
    where neither does."""
    return Settings().commit or _of_work_tree()


@cache
def _of_work_tree() -> str:
    """A work tree with edits of its own is told by a mark behind the commit."""
    if not (TREE / ".git").exists():
        return ""
    command = ("git", "-C", str(TREE), "describe", "--always", "--exclude=*", "--dirty=+edits")
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip()
