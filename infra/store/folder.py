"""A store in a folder: for one machine, and for tests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from infra.store.objects import (
    PARTIAL,
    Missing,
    Stored,
    StoreError,
    changed,
    check_key,
    check_prefix,
    copy,
    landing,
)


@dataclass(frozen=True, slots=True)
class FolderStore:
    """Each object is a file; one that is being written bears a name that is no key until it is
    whole."""

    root: Path

    def put(self, key: str, data: bytes, sha256: str | None = None) -> str:
        """Store the bytes and return their SHA-256; give it where it is known."""
        with self._placing(key) as file:
            file.write(data)
        return sha256 or hashlib.sha256(data).hexdigest()

    def put_file(self, key: str, path: Path, sha256: str | None = None) -> str:
        """Store the file's bytes and return their SHA-256; where it is given, store nothing that
        differs from it."""
        with path.open("rb") as source, self._placing(key) as file:
            stored = copy(source, file)
            if sha256 not in (None, stored):
                raise changed(path)
        return stored

    def get(self, key: str) -> bytes:
        """Return the object's bytes, or raise Missing."""
        with self._open(key) as file:
            return file.read()

    def fetch(self, key: str, path: Path) -> str:
        """Write the object to the path, whole or not at all, and return its SHA-256."""
        with self._open(key) as source, landing(path, durable=False) as sink:
            return copy(source, sink)

    def lend(self, key: str, path: Path) -> str:
        """Have the object at the path, to be read and never written, and return its SHA-256: a
        link, no copy."""
        with self._open(key) as source:
            try:
                os.link(self._path(key), path)
            except OSError:
                return self.fetch(key, path)  # another disk, or one that knows no links
            return hashlib.file_digest(source, "sha256").hexdigest()

    def exists(self, key: str) -> bool:
        """Say whether there is such an object."""
        path = self._path(key)
        with _explained(f"look for {key!r}"):
            return path.is_file()

    def list(self, prefix: str) -> Iterator[Stored]:
        """Give the objects whose keys start with the prefix, sorted by key."""
        return _walk(self.root, "", check_prefix(prefix))

    def delete(self, key: str) -> None:
        """Remove the object; that there is none is fine."""
        if self.exists(key):
            with _explained(f"delete {key!r}"):
                self._path(key).unlink(missing_ok=True)

    def url(self) -> str:
        """Return the address that `open_store` takes."""
        return str(self.root.absolute())

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _open(self, key: str) -> BufferedReader:
        path = self._path(key)
        with _explained(f"read {key!r}"):
            try:
                return path.open("rb")
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                raise Missing(key) from None

    @contextmanager
    def _placing(self, key: str) -> Iterator[BinaryIO]:
        path = self._path(key)
        with _explained(f"store {key!r}"), landing(path) as file:
            yield file


def _walk(folder: Path, base: str, prefix: str) -> Iterator[Stored]:
    for name, size in _entries(folder):
        key = base + name
        if size is None and (key.startswith(prefix) or prefix.startswith(key)):
            yield from _walk(folder / name, key, prefix)
        if size is not None and key.startswith(prefix) and not name.startswith(PARTIAL):
            yield Stored(key, size)


def _entries(folder: Path) -> list[tuple[str, int | None]]:
    """The folder's files with their sizes and its folders with None, in the order of the keys."""
    with _explained("list the objects"):
        try:
            with os.scandir(folder) as listing:
                entries = [_entry(entry) for entry in listing]
        except FileNotFoundError:
            return []
    return sorted(entry for entry in entries if entry)


def _entry(entry: os.DirEntry[str]) -> tuple[str, int | None] | None:
    # The slash belongs to the name, or "a/b" would come before "a.b", unlike in S3.
    if entry.is_dir():
        return f"{entry.name}/", None
    try:
        return entry.name, entry.stat().st_size
    except FileNotFoundError:
        return None


@contextmanager
def _explained(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"Could not {doing}: {error.strerror}. This is our store's fault, not the submitter's: "
            "see that its folder is there, ours to write and not full, then try again."
        ) from error
