"""Bundles on a worker's disk: fetched once a machine, opened once a process, unpacked if they hold
a model."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from infra.store import Corrupt, Store, bundle_key, landing, put_blob, put_bytes
from submissions.format.archive import Archive, open_archive, open_cached
from submissions.format.manifest import NAME, parse
from submissions.model_files.unread_files import left_out

MANIFEST = ".manifest"
"""Where a bundle's manifest lies in the unpacked model; no loader looks at hidden files."""
SMALL = 16 << 20
"""Members of a bundle up to so many bytes go into the store from memory."""


def open_bundle(store: Store, sha256: str, work: Path) -> Archive:
    """The bundle of this hash, open for reading; it stays open for the next shard."""
    return open_cached(fetch_bundle(store, sha256, work))


def put_member(archive: Archive, name: str, store: Store, spot: Path, as_file: bool) -> str:
    """Put a member of the bundle into the store; through the file `spot` if it is large or will be
    read again."""
    if not as_file and archive.members[name].file_size <= SMALL:
        return put_bytes(store, archive.read(name, SMALL))
    with spot.open("wb") as stream:
        sha256 = archive.copy(name, stream)
    return put_blob(store, spot, sha256)


def fetch_bundle(store: Store, sha256: str, work: Path) -> Path:
    """The bundle as a local file, fetched once a machine."""
    path = work / "bundles" / f"{sha256}.zip"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        fetched = store.lend(bundle_key(sha256), partial)
        if fetched != sha256:
            partial.unlink()
            raise Corrupt(bundle_key(sha256), sha256, fetched)
        partial.replace(path)
    return path


def unpack_model(store: Store, sha256: str, work: Path) -> Path:
    """The model folder of a bundle, written file by file under names that were checked at the door.

    Files that no loader reads are left out; the manifest is kept in the folder as a hidden file.
    """
    folder = work / "models" / sha256
    finished = folder / ".complete"
    if not finished.exists():
        with open_archive(fetch_bundle(store, sha256, work), passed=True) as archive:
            for name in archive.members:
                if name.startswith("model/") and not left_out(name):
                    with landing(folder / name.removeprefix("model/")) as stream:
                        archive.copy(name, stream)
            with landing(folder / MANIFEST) as stream:
                archive.copy(NAME, stream)
        finished.touch()
    return folder


@lru_cache(maxsize=64)
def declared_base(folder: Path) -> str:
    """The base that an unpacked adapter's manifest names, as `org/name@revision`; empty if it names
    none.

    A model's folder is named by its bundle's hash and never changes, so its manifest is parsed once
    a process.
    """
    if not (folder / MANIFEST).is_file():
        return ""
    base = parse((folder / MANIFEST).read_bytes()).model.base
    return f"{base.id}@{base.revision}" if base else ""
