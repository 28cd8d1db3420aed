"""The store's protocol, errors and keys, and what folder and S3 stores share: blobs, copying,
atomic files."""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

PARTIAL = ".partial-"
"""How a file still being written is called; no key may have a component that starts so."""

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """One object in a listing; `version` is another one each time something is put under the
    key."""

    key: str
    size: int
    version: str = field(default="", compare=False)


class Store(Protocol):
    """Objects are written once and never changed: putting the same bytes under the same key again
    is harmless."""

    def put(self, key: str, data: bytes, sha256: str | None = None) -> str:
        """Store the bytes and return their SHA-256; give it where it is known."""

    def put_file(self, key: str, path: Path, sha256: str | None = None) -> str:
        """Store the file's bytes and return their SHA-256; where it is given, store nothing that
        differs from it."""

    def get(self, key: str) -> bytes:
        """Return the object's bytes, or raise Missing."""

    def fetch(self, key: str, path: Path) -> str:
        """Write the object to the path, whole or not at all, and return its SHA-256."""

    def lend(self, key: str, path: Path) -> str:
        """Have the object at the path, to be read and never written, and return its SHA-256."""

    def exists(self, key: str) -> bool:
        """Say whether there is such an object."""

    def list(self, prefix: str) -> Iterator[Stored]:
        """Give the objects whose keys start with the prefix, sorted by key."""

    def delete(self, key: str) -> None:
        """Remove the object; that there is none is fine."""

    def url(self) -> str:
        """Return the address that `open_store` takes."""


class StoreError(Exception):
    """The store could not do what was asked; the message says whose fault it is and what to do."""


class Unreachable(StoreError):
    """The store fails or does not answer, though it was asked again and again; later it may."""


class BadKey(StoreError):
    """The key is not one that every store can hold."""


class Missing(StoreError):
    """There is no object under this key."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        return (
            f"There is no object {self.key!r} in the store. Either it was never stored or somebody "
            "deleted it: "
            "run the stage that writes it again."
        )


class Corrupt(StoreError):
    """The object's bytes are not those that were stored."""

    def __init__(self, key: str, expected: str, actual: str) -> None:
        super().__init__(key, expected, actual)
        self.key, self.expected, self.actual = key, expected, actual

    def __str__(self) -> str:
        return (
            f"The object {self.key!r} is damaged: its SHA-256 is {self.actual}, it should be "
            f"{self.expected}. "
            "This is the store's fault, not the submitter's: delete the object and store the file "
            "again."
        )


def bundle_key(sha256: str) -> str:
    """Where a bundle lies in the store."""
    return f"bundles/{sha256}.zip"


def curation_picture_key(sha256: str) -> str:
    """Where a picture lies that people decide about while cases are written."""
    return f"curations/{sha256}"


def report_key(submission_id: str) -> str:
    """Where the door's findings about a bundle lie in the store."""
    return f"reports/{submission_id}.json"


def blob_key(sha256: str) -> str:
    """Say where the bytes with this SHA-256 lie.

    >>> blob_key("ab" * 32)[:12]
    'blobs/ab/aba'
    """
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        raise BadKey(f"{sha256!r} is no SHA-256. Give its 64 lower-case hexadecimal digits.")
    return f"blobs/{sha256[:2]}/{sha256[2:]}"


def put_blob(store: Store, path: Path, sha256: str | None = None) -> str:
    """Store the file under its own SHA-256, unless it is there already, and return that; give it
    where it is known."""
    if sha256 is None:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    key = blob_key(sha256)
    if not store.exists(key):
        store.put_file(key, path, sha256)
    return sha256


def put_bytes(store: Store, data: bytes) -> str:
    """The same for bytes that are in memory."""
    sha256 = hashlib.sha256(data).hexdigest()
    key = blob_key(sha256)
    if not store.exists(key):
        store.put(key, data, sha256)
    return sha256


def fetch_blob(store: Store, sha256: str, path: Path) -> None:
    """Write the blob to the path, or raise Corrupt and leave the path as it was."""
    key, partial = blob_key(sha256), partial_of(path)
    try:
        actual = store.fetch(key, partial)
        if actual != sha256:
            raise Corrupt(key, sha256, actual)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def lend_blob(store: Store, sha256: str, path: Path) -> None:
    """Have the blob at the path for reading, without a copy where the store is at hand; Corrupt if
    it is not itself."""
    actual = store.lend(blob_key(sha256), path)
    if actual != sha256:
        path.unlink()
        raise Corrupt(blob_key(sha256), sha256, actual)


def check_key(key: str) -> str:
    """Return the key if it is safe in a folder and in S3 alike, else raise BadKey."""
    parts = key.split("/")
    unsafe = any(part in ("", ".", "..") or part.startswith(PARTIAL) for part in parts)
    if unsafe or "\\" in key or not key.isprintable():
        raise BadKey(
            f"{key!r} is no key of a store. Use names parted by single slashes, without '.', '..', "
            "a backslash or "
            f"unprintable characters, none of them beginning with {PARTIAL!r}."
        )
    longest = max(len(part.encode()) for part in parts)
    if longest > 255 or len(key.encode()) > 1024:
        raise BadKey(
            f"The key {key[:40]!r}... is too long. A name may have 255 bytes, a whole key 1,024."
        )
    return key


def check_prefix(prefix: str) -> str:
    """Return what a listing may begin with: nothing, or the beginning of a key."""
    if prefix:
        check_key(prefix.removesuffix("/"))
    return prefix


class Readable(Protocol):
    """What `copy` reads from: a file or the body of an HTTP answer."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes, none at the end."""


def copy(source: Readable, sink: BinaryIO) -> str:
    """Copy to the end and return the SHA-256 of what went through."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        sink.write(chunk)
    return digest.hexdigest()


def changed(path: Path) -> StoreError:
    """The complaint about a file that is not what it was when its SHA-256 was taken."""
    return StoreError(
        f"{path.name!r} changed while it was being stored, so nothing was stored. "
        "Whatever writes the file must end first: then store it again."
    )


@contextmanager
def landing(path: Path, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of the path when it is complete, and never before;
    durable: on the disk."""
    make_folder(path.parent)
    partial = partial_of(path)
    try:
        with partial.open("x+b") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def partial_of(path: Path) -> Path:
    """Name a file beside the path that nobody else writes."""
    return path.with_name(PARTIAL + uuid.uuid4().hex)


def make_folder(folder: Path) -> None:
    """Make the folder and those above it so that they outlive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Bring the folder's list of names to the disk: fsync of a file does not."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
