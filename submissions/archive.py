"""A zip file, read member by member under limits; nothing is ever unpacked by its own names."""

from __future__ import annotations

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from submissions.errors import IntakeError, Problem, shown
from submissions.names import clashes, path_problems

CHUNK = 1 << 20
JUNK = ("__MACOSX", ".DS_Store", "Thumbs.db")
OTHER_ARCHIVES = {b"\x1f\x8b": "gzip", b"7z\xbc\xaf": "7z", b"Rar!": "rar", b"BZh": "bzip2", b"\xfd7zX": "xz"}
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    KeyError,
    RuntimeError,
    NotImplementedError,
    OSError,
    OverflowError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one bundle may be."""

    members: int = 100_000
    member_bytes: int = 64 * 1024**3
    total_bytes: int = 256 * 1024**3
    ratio: int = 200
    ratio_from_bytes: int = 1 << 20


class Archive:
    """An open zip whose table of contents has been checked."""

    def __init__(self, file: zipfile.ZipFile, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self.ignored = tuple(info.filename for info in file.infolist() if _junk(info.filename))
        self.members = {
            info.filename: info for info in file.infolist() if not info.is_dir() and not _junk(info.filename)
        }

    def chunks(self, name: str) -> Iterator[bytes]:
        """A member's bytes, stopped when they exceed what its header says or what we take."""
        info, read = self.members[name], 0
        with _broken_is_ours(name), self._file.open(info) as stream:
            while chunk := stream.read(CHUNK):
                read += len(chunk)
                if read > info.file_size or self._too_dense(info, read):
                    raise _refused(
                        "E_BOMB", name, "It unpacks to far more than it should.", "Compress files as they are."
                    )
                yield chunk

    def read(self, name: str, most: int) -> bytes:
        """A small member whole."""
        if self.members[name].file_size > most:
            raise _refused("E_TOO_LARGE", name, f"It is over {most} bytes.", "Make it smaller.")
        return b"".join(self.chunks(name))

    def copy(self, name: str, to: BinaryIO) -> str:
        """Write a member's bytes to a file of ours and return their SHA-256."""
        digest = hashlib.sha256()
        for chunk in self.chunks(name):
            digest.update(chunk)
            to.write(chunk)
        return digest.hexdigest()

    def _too_dense(self, info: zipfile.ZipInfo, read: int) -> bool:
        return read > self._limits.ratio_from_bytes and read > self._limits.ratio * max(info.compress_size, 1)


@contextmanager
def open_archive(path: Path, limits: Limits | None = None) -> Iterator[Archive]:
    """Open and check a bundle's table of contents; IntakeError names everything wrong with it."""
    limits = limits or Limits()
    _check_kind(path)
    with _broken_is_ours(path.name):
        file = zipfile.ZipFile(path)
    with file:
        problems = list(_contents_problems(file, path.stat().st_size, limits))
        if problems:
            raise IntakeError(problems)
        yield Archive(file, limits)


def _check_kind(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as stream:
        head = stream.read(512)
    if not size:
        raise _refused("E_EMPTY", path.name, "The file is empty.", "Make the bundle again.")
    other = next((kind for magic, kind in OTHER_ARCHIVES.items() if head.startswith(magic)), None)
    if other or head[257:262] == b"ustar":
        raise _refused("E_ARCHIVE_KIND", path.name, f"This is a {other or 'tar'} archive.", "Hand in a zip file.")
    if not zipfile.is_zipfile(path):
        broken = head.startswith(b"PK")
        code, what = ("E_ZIP_BROKEN", "The zip is cut short.") if broken else ("E_NOT_ZIP", "This is not a zip file.")
        raise _refused(code, path.name, what, "Make the bundle again with any zip program.")
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        raise _refused("E_ZIP_EXTRA_DATA", path.name, "Other data stands before the zip.", "Hand in the zip alone.")


def _contents_problems(file: zipfile.ZipFile, size: int, limits: Limits) -> Iterator[Problem]:
    infos = [info for info in file.infolist() if not _junk(info.filename)]
    if len(infos) > limits.members:
        yield Problem(
            "E_TOO_MANY_FILES", "bundle", f"{len(infos)} entries; the limit is {limits.members}.", "Hand in fewer."
        )
        return
    for info in infos:
        yield from path_problems(info.orig_filename)
        yield from _member_problems(info, limits)
    yield from clashes(info.filename for info in infos if not info.is_dir())
    if sum(info.file_size for info in infos) > limits.total_bytes:
        yield Problem(
            "E_TOO_LARGE", "bundle", "It unpacks to more than we take.", f"The limit is {limits.total_bytes} bytes."
        )
    yield from _layout_problems(infos, file, size)


def _member_problems(info: zipfile.ZipInfo, limits: Limits) -> Iterator[Problem]:
    where = shown(info.orig_filename)
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield Problem(
            "E_LINK", where, "This is a link or a device, not a file.", "Put the file itself into the bundle."
        )
    if info.flag_bits & 0x1:
        yield Problem("E_ZIP_ENCRYPTED", where, "This member is encrypted.", "Make the bundle without a password.")
    elif info.compress_type not in METHODS:
        yield Problem(
            "E_ZIP_METHOD", where, "This compression is not read here.", "Use deflate, or store without compression."
        )
    if info.file_size > limits.member_bytes:
        yield Problem("E_TOO_LARGE", where, "This member is too large.", f"The limit is {limits.member_bytes} bytes.")
    if info.file_size > limits.ratio_from_bytes and info.file_size > limits.ratio * max(info.compress_size, 1):
        yield Problem(
            "E_BOMB", where, f"It unpacks to more than {limits.ratio} times its size.", "Compress files as they are."
        )


def _layout_problems(infos: list[zipfile.ZipInfo], file: zipfile.ZipFile, size: int) -> Iterator[Problem]:
    """Members that share bytes, and bytes that no member owns."""
    end = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < end:
            yield Problem(
                "E_ZIP_OVERLAP", shown(info.filename), "Two members share the same bytes.", "Make the bundle again."
            )
        end = info.header_offset + 30 + info.compress_size
    if file.start_dir < end or file.start_dir + len(file.comment) + 22 > size:
        yield Problem(
            "E_ZIP_BROKEN", "bundle", "The table of contents is not where it should be.", "Make the bundle again."
        )
    if file.comment:
        yield Problem(
            "E_ZIP_EXTRA_DATA", "bundle", "The zip has a comment behind it.", "Make the bundle without a comment."
        )


@contextmanager
def _broken_is_ours(name: str) -> Iterator[None]:
    """Whatever zipfile raises on bad bytes becomes one clear error."""
    try:
        yield
    except IntakeError:
        raise
    except BROKEN:
        raise _refused(
            "E_ZIP_BROKEN", name, "The zip is damaged here.", "Make the bundle again and hand it in again."
        ) from None


def _junk(name: str) -> bool:
    return any(part in JUNK for part in name.split("/"))


def _refused(code: str, where: str, message: str, hint: str) -> IntakeError:
    return IntakeError([Problem(code, shown(where), message, hint)])
