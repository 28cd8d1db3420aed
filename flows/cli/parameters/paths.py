"""Paths of options and arguments: files and folders that have to exist, and those that will be
written."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.parameters.values import printable
from flows.cli.terminal import refuse

BUCKET = r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """A file that exists and can be read; `text`: in UTF-8."""

    content: str
    text: bool = True

    def __call__(self, value: str) -> Path:
        """Its path."""
        from submissions.format.errors import shown

        path, next_step = _path(value, self.content), f"Give the path of {self.content}."
        if os.path.isdir(path):
            refuse(f"{shown(value)} is a folder. {next_step}")
        if not os.path.isfile(path):
            refuse(f"There is no file {shown(value)}. {next_step}")
        if not os.access(path, os.R_OK):
            refuse(
                f"The file {shown(value)} may not be read. Change its permissions, or choose "
                "another."
            )
        if self.text and not _decodes(path):
            refuse(f"The file {shown(value)} is not text in UTF-8. {next_step}")
        return path


@dataclass(frozen=True, slots=True)
class ExistingFolder:
    """A folder that exists and holds at least one of the files that tell what it is."""

    content: str
    marks: tuple[str, ...] = ()

    def __call__(self, value: str) -> Path:
        """Its path."""
        from submissions.format.errors import shown

        path, next_step = _path(value, self.content), f"Give the path of {self.content}."
        if os.path.isfile(path):
            refuse(f"{shown(value)} is a file. {next_step}")
        if not os.path.isdir(path):
            refuse(f"There is no folder {shown(value)}. {next_step}")
        if self.marks and not any((path / mark).exists() for mark in self.marks):
            refuse(f"The folder {shown(value)} holds no {' or '.join(self.marks)}. {next_step}")
        return path


@dataclass(frozen=True, slots=True)
class Either:
    """A file of one kind, or a folder of another."""

    file: ExistingFile
    folder: ExistingFolder

    def __call__(self, value: str) -> Path:
        """Its path."""
        return self.folder(value) if os.path.isdir(value) else self.file(value)


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to write; folders on the way to it are made."""

    content: str

    def __call__(self, value: str) -> Path:
        """Its path."""
        from submissions.format.errors import shown

        path = _path(value, self.content)
        if os.path.isdir(path):
            refuse(
                f"{shown(value)} is a folder. Give the path of a file to write {self.content} into."
            )
        _check_room(path.parent, value)
        return path


@dataclass(frozen=True, slots=True)
class NewFolder:
    """A folder to write into; it is made if it is not there."""

    content: str

    def __call__(self, value: str) -> Path:
        """Its path."""
        from submissions.format.errors import shown

        path = _path(value, self.content)
        if os.path.exists(path) and not os.path.isdir(path):
            refuse(
                f"{shown(value)} is a file. Give the path of a folder to write {self.content} into."
            )
        _check_room(path, value)
        return path


@dataclass(frozen=True, slots=True)
class Place:
    """Something on this machine, or in S3 under an address like the example."""

    local: ExistingFile | ExistingFolder | NewFolder
    example: str

    def __call__(self, value: str) -> str:
        """The path or the address, as it was written."""
        from submissions.format.errors import shown

        if "://" not in value:
            return str(self.local(value))
        key = r"/\S+" if self.example.count("/") > 2 else r"(/\S*)?"
        if not value.isprintable() or not re.fullmatch(BUCKET + key, value):
            refuse(
                f"{shown(value)} is no address in S3. Write it like {self.example}, or give a path."
            )
        return value


def _path(value: str, content: str) -> Path:
    printable(value, f"the path of {content}")
    return Path(value)


def _check_room(folder: Path, value: str) -> None:
    """Refuse a place below something that is no folder, or in which nothing may be written."""
    from submissions.format.errors import shown

    above = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not os.path.isdir(above):
        refuse(
            f"{shown(value)} cannot be made: {shown(str(above))} is no folder. Choose another "
            "place."
        )
    if not os.access(above, os.W_OK | os.X_OK):
        refuse(
            f"{shown(value)} cannot be made: {shown(str(above))} may not be written. Choose "
            "another place."
        )
    if any(len(os.fsencode(part)) > 255 for part in Path(value).parts):
        refuse(f"{shown(value)} is too long for the name of a file. Choose a shorter one.")


def _decodes(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


MANIFEST = ExistingFile("a manifest without its files (submissions/README.md shows one)")
BUNDLE = ExistingFile("a bundle (a zip file)", text=False)
BACKUP = ExistingFile("a file that `armillary operate backup` wrote", text=False)
CASES = ExistingFolder("a folder with a .yaml sidecar beside each picture")
NEW_BUNDLE = NewFile("the bundle")
NEW_CASES = NewFolder("the finished cases")

Manifest = Annotated[Path, typer.Option(parser=MANIFEST, help="The manifest without its files.")]
NewBundle = Annotated[Path, typer.Option(parser=NEW_BUNDLE, help="The bundle to write.")]
NewCases = Annotated[Path, typer.Option(parser=NEW_CASES, help="Folder for the finished cases.")]
