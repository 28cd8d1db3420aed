"""A zip file, read member by member under limits; nothing is ever unpacked by its own names."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from submissions.format.errors import IntakeError, refusal, shown
from submissions.format.layout import (
    ARCHIVES,
    TRAJECTORY,
    BundleLimits,
    contents_problems,
    data_offset,
    junk,
)

CHUNK = 1 << 20
EMPTY, MEMBER, END = b"PK\x05\x06", b"PK\x03\x04", b"PK\x05\x06"
END_BYTES = 22
AGAIN = "Make the bundle again with any zip program."
BROKEN = (
    *(
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        KeyError,
        RuntimeError,
        NotImplementedError,
    ),
    *(OSError, OverflowError, MemoryError, IndexError, TypeError),
)
"""What zipfile and zlib were seen to raise on damaged bytes."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where some bytes lie in a file, for a reader in another process."""

    file: str
    offset: int
    packed: int
    size: int
    crc: int | None = None
    deflated: bool = False


class Archive:
    """An open zip whose table of contents has been checked."""

    def __init__(
        self, path: Path, stream: BinaryIO, file: zipfile.ZipFile, limits: BundleLimits
    ) -> None:
        self._path, self._stream = path, stream
        self._file = file
        self._limits = limits
        self.ignored = tuple(info.filename for info in file.infolist() if junk(info.filename))
        self.members = {
            info.filename: info
            for info in file.infolist()
            if not info.is_dir() and not junk(info.filename)
        }

    def chunks(self, name: str) -> Iterator[bytes]:
        """A member's bytes, stopped when they exceed what its header says or what we take."""
        info, read = self.members[name], 0
        with explain_damage(name), self._file.open(info) as stream:
            while chunk := stream.read(CHUNK):
                if not read and not name.endswith(TRAJECTORY) and chunk.startswith(tuple(ARCHIVES)):
                    raise nested(name)
                read += len(chunk)
                if read > info.file_size or self._too_dense(info, read):
                    raise refusal(
                        "E_BOMB",
                        shown(name),
                        "It unpacks to far more than it should.",
                        "Compress files as they are.",
                    )
                yield chunk

    def span(self, name: str) -> Span:
        """Where a member's bytes lie in the zip."""
        info = self.members[name]
        start = data_offset(self._stream, info)
        if start is None:
            raise refusal("E_ZIP_BROKEN", shown(name), "The zip changed while it was read.", AGAIN)
        deflated = info.compress_type == zipfile.ZIP_DEFLATED
        return Span(str(self._path), start, info.compress_size, info.file_size, info.CRC, deflated)

    def read(self, name: str, max_bytes: int) -> bytes:
        """A small member whole."""
        if self.members[name].file_size > max_bytes:
            raise refusal(
                "E_TOO_LARGE",
                shown(name),
                f"It is over {max_bytes} bytes.",
                "Make it smaller.",
                max_bytes,
            )
        return b"".join(self.chunks(name))

    def copy(self, name: str, to: BinaryIO) -> str:
        """Write a member's bytes to a file of ours and return their SHA-256."""
        digest = hashlib.sha256()
        for chunk in self.chunks(name):
            digest.update(chunk)
            to.write(chunk)
        return digest.hexdigest()

    def _too_dense(self, info: zipfile.ZipInfo, read: int) -> bool:
        return read > self._limits.ratio_from_bytes and read > self._limits.ratio * max(
            info.compress_size, 1
        )


@contextmanager
def open_archive(
    path: Path, limits: BundleLimits | None = None, *, passed: bool = False
) -> Iterator[Archive]:
    """Open and check a bundle's table of contents; IntakeError names everything wrong with it.

    `passed` is for the very bytes that went through the door before: their names are not looked at
    again.
    """
    path = path.resolve()  # the decoding children have another working folder
    limits = limits or BundleLimits()
    size = path.stat().st_size
    with path.open("rb") as stream:
        _check_kind(stream, size)
        file = _table_of_contents(stream)
        with file:
            with explain_damage("bundle"):
                problems = [] if passed else list(contents_problems(file, stream, size, limits))
            if problems:
                raise IntakeError(problems)
            yield Archive(path, stream, file, limits)


@lru_cache(maxsize=1)
def open_cached(path: Path) -> Archive:
    """A bundle that was checked before, kept open for many reads: its table of contents is read
    once.

    The last one stays open until another is opened, or the process ends.
    """
    stream = path.resolve().open("rb")
    _check_kind(stream, path.stat().st_size)
    return Archive(path, stream, _table_of_contents(stream), BundleLimits())


def nested(name: str) -> IntakeError:
    """The refusal of an archive inside the bundle."""
    return refusal(
        "E_NESTED_ARCHIVE",
        shown(name),
        "This member is itself an archive.",
        "Put its files in directly.",
    )


@contextmanager
def explain_damage(name: str) -> Iterator[None]:
    """Whatever zipfile raises on bad bytes becomes one clear error."""
    try:
        yield
    except IntakeError:
        raise
    except BROKEN:
        raise refusal("E_ZIP_BROKEN", shown(name), "The zip is damaged here.", AGAIN) from None


def _table_of_contents(stream: BinaryIO) -> zipfile.ZipFile:
    try:
        with explain_damage("bundle"):
            return zipfile.ZipFile(stream)
    except IntakeError as error:
        if isinstance(error.__context__, UnicodeDecodeError):
            hint = "Use plain relative names such as outputs/sample.png."
            raise refusal(
                "E_PATH_CHARS", "bundle", "A member's name is not valid UTF-8.", hint
            ) from None
        raise


def _check_kind(stream: BinaryIO, size: int) -> None:
    """A zip that begins with its first byte and ends with its last."""
    head = stream.read(512)
    if not size:
        raise refusal("E_EMPTY", "bundle", "The file is empty.", "Make the bundle again.")
    other_kind = next(
        (kind for magic, kind in ARCHIVES.items() if kind != "zip" and head.startswith(magic)), None
    )
    if other_kind or head[257:262] == b"ustar":
        raise refusal(
            "E_ARCHIVE_KIND",
            "bundle",
            f"This is a {other_kind or 'tar'} archive.",
            "Hand in a zip file.",
        )
    begins = head.startswith((MEMBER, EMPTY))
    with explain_damage("bundle"):
        whole = zipfile.is_zipfile(stream)
    if not whole:
        code, message = (
            ("E_ZIP_BROKEN", "The zip is cut short.")
            if begins
            else ("E_NOT_ZIP", "This is not a zip file.")
        )
        raise refusal(code, "bundle", message, AGAIN)
    stream.seek(max(size - END_BYTES, 0))
    end = stream.read(END_BYTES)
    if not begins or not end.startswith(END) or end[-2:] != b"\0\0":
        side = "behind" if begins else "before"
        raise refusal(
            "E_ZIP_EXTRA_DATA",
            "bundle",
            f"Other data stands {side} the zip.",
            "Hand in the zip alone.",
        )
