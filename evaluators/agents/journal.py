"""A journal of finished work: records and files kept one by one, so that a killed run resumes and
repeats nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Protocol

from evaluators.media import sha256_file


class Journal(Protocol):
    """Small records and files under keys. What was put is durable before the call returns, or was
    not put at all."""

    def get(self, key: str) -> bytes | None:
        """The record under a key, None if there is none yet."""

    def put(self, key: str, data: bytes) -> None:
        """Keep a record."""

    def file(self, key: str) -> Path | None:
        """The file under a key as a local path, None if there is none yet."""

    def keep(self, key: str, path: Path) -> Path:
        """Keep a file, and return where it lies from now on."""

    def find(self, sha256: str) -> Path:
        """A kept file by the SHA-256 of its bytes."""


class FolderJournal:
    """A journal in a folder of one machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, Path] = {}

    def get(self, key: str) -> bytes | None:
        """The record's bytes."""
        path = self._folder / key
        return path.read_bytes() if path.is_file() else None

    def put(self, key: str, data: bytes) -> None:
        """Written beside its place, then moved there whole."""
        partial = self._partial(key)
        partial.write_bytes(data)
        self._land(partial, key)

    def file(self, key: str) -> Path | None:
        """The file where it lies."""
        path = self._folder / key
        return path if path.is_file() else None

    def keep(self, key: str, path: Path) -> Path:
        """Copied beside its place, then moved there whole."""
        partial = self._partial(key)
        shutil.copyfile(path, partial)
        return self._land(partial, key)

    def find(self, sha256: str) -> Path:
        """Looked for among the clips; each is hashed once."""
        if sha256 not in self._found:
            self._found = {sha256_file(path): path for path in self._folder.rglob("*.mp4")}
        return self._found[sha256]

    def _partial(self, key: str) -> Path:
        target = self._folder / key
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.with_name(f".partial-{os.getpid()}-{target.name}")

    def _land(self, partial: Path, key: str) -> Path:
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        return partial.replace(self._folder / key)
