"""A case of the table, and the sound bundles that cases spoil."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.bundles import declaration, demo_samples, picture, write

Members = dict[str, bytes]
Manifest = dict[str, Any]
Edit = Callable[[Manifest, Members], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table: its number, what it is, the code it gets, and how to make it. W_ codes
    are taken."""

    row: int
    what: str
    code: str
    make: Callable[[Path], Path]

    @property
    def id(self) -> str:
        return f"{self.row} {self.what}"


@lru_cache(maxsize=4)
def ids(modality: str) -> tuple[str, ...]:
    """The demo's samples of a modality."""
    return tuple(sample.id for sample in demo_samples(modality))


def sha256(data: bytes) -> str:
    """The hash that a manifest lists."""
    return hashlib.sha256(data).hexdigest()


def bundle(
    to: Path, files: dict[str, tuple[str | None, bytes]], edit: Edit | None = None, **changes: Any
) -> Path:
    """A bundle of files (path to sample and bytes), spoilt by `edit` before it is written."""
    members = {path: data for path, (_, data) in files.items()}
    listed = [
        {"path": path, "sha256": sha256(data), "sample": sample}
        for path, (sample, data) in files.items()
    ]
    manifest = {**declaration(partial=True, **changes), "files": listed}
    if edit:
        edit(manifest, members)
    return write(to, json.dumps(manifest).encode(), members)


def edited(row: int, what: str, code: str, edit: Edit, **changes: Any) -> Case:
    """A partial bundle of four pictures, spoilt by `edit`."""
    return Case(row, what, code, lambda to: bundle(to, pictures(4), edit, **changes))


def pictures(count: int) -> dict[str, tuple[str | None, bytes]]:
    """Files for the first samples."""
    return {
        f"outputs/{number}.png": (ids("image")[number], picture(number)) for number in range(count)
    }


def one_file(row: int, what: str, code: str, name: str, data: bytes | Callable[[], bytes]) -> Case:
    """A bundle whose one output has these bytes."""
    modality = "video" if name.endswith((".mp4", ".webm", ".mkv", ".mov")) else "image"

    def make(to: Path) -> Path:
        found = data if isinstance(data, bytes) else data()
        return bundle(to, {f"outputs/{name}": (ids(modality)[0], found)}, modalities=[modality])

    return Case(row, what, code, make)


def raw_manifest(row: int, what: str, code: str, spoil: Callable[[str], bytes | str]) -> Case:
    """A bundle whose manifest is spoilt as text."""

    def make(to: Path) -> Path:
        good = bundle(to.with_name("good.zip"), pictures(2))
        with zipfile.ZipFile(good) as file:
            members = {name: file.read(name) for name in file.namelist()}
        text = spoil(members.pop("manifest.json").decode())
        good.unlink()
        return write(to, text.encode() if isinstance(text, str) else text, members)

    return Case(row, what, code, make)


def put_at(field: str, value: Any) -> Edit:
    """Set a field of the manifest, named with dots."""

    def edit(manifest: Manifest, _members: Members) -> None:
        *path, last = field.split(".")
        part: Any = manifest
        for name in path:
            part = part[int(name) if name.isdecimal() else name]
        part[int(last) if last.isdecimal() else last] = value

    return edit


def take_out(field: str) -> Edit:
    """Remove a field of the manifest."""

    def edit(manifest: Manifest, _members: Members) -> None:
        *path, last = field.split(".")
        part: Any = manifest
        for name in path:
            part = part[name]
        del part[last]

    return edit


def spoil_bytes(row: int, what: str, code: str, spoil: Callable[[bytes], bytes]) -> Case:
    """A sound bundle whose bytes are changed afterwards."""

    def make(to: Path) -> Path:
        to.write_bytes(spoil(bundle(to, pictures(2)).read_bytes()))
        return to

    return Case(row, what, code, make)
