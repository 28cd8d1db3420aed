"""Checks of a zip's table of contents: counts, sizes and names, and that no two members share
bytes."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from submissions.format.errors import MOST_PROBLEMS, Problem, shown
from submissions.format.names import clashes, path_problems

JUNK = ("__MACOSX", ".DS_Store", "Thumbs.db")
ARCHIVES = {
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf": "7z",
    b"Rar!": "rar",
    b"BZh": "bzip2",
    b"\xfd7zX": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
TRAJECTORY = ".npz"
"""A rollout's file: a zip by its bytes, and none to look into."""
NESTED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz", ".zst")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LOCAL_HEADER = 30
DESCRIPTORS = (12, 16, 20, 24)
"""How long sizes and checksum behind a member are: with or without a signature, of 32 or 64
bits."""
IMPOSSIBLE = 1 << 62
AGAIN = "Make the bundle again."


@dataclass(frozen=True, slots=True)
class BundleLimits:
    """How much one bundle may be."""

    members: int = 100_000
    member_bytes: int = 64 * 1024**3
    total_bytes: int = 256 * 1024**3
    ratio: int = 200
    ratio_from_bytes: int = 1 << 20


def junk(name: str) -> bool:
    """Whether a file manager left this behind."""
    return any(part in JUNK for part in name.split("/"))


def contents_problems(
    file: zipfile.ZipFile, stream: BinaryIO, size: int, limits: BundleLimits
) -> Iterator[Problem]:
    """Everything wrong with the table of contents."""
    infos = [info for info in file.infolist() if not junk(info.filename)]
    if len(file.infolist()) > limits.members:
        message = f"{len(file.infolist())} entries; the limit is {limits.members}."
        yield Problem("E_TOO_MANY_FILES", "bundle", message, "Hand in fewer.", limits.members)
        return
    for info in infos:
        yield from path_problems(info.orig_filename)
        yield from _member_problems(info, size, limits)
    yield from clashes(info.filename for info in infos if not info.is_dir())
    if limits.total_bytes < sum(info.file_size for info in infos) < IMPOSSIBLE:
        hint = f"The limit is {limits.total_bytes} bytes."
        yield Problem(
            "E_TOO_LARGE", "bundle", "It unpacks to more than we take.", hint, limits.total_bytes
        )
    yield from _layout_problems(file, stream)


def _member_problems(info: zipfile.ZipInfo, size: int, limits: BundleLimits) -> Iterator[Problem]:
    where = shown(info.orig_filename)
    mode = info.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        hint = "Put the file itself into the bundle."
        yield Problem("E_LINK", where, "This is a link or a device, not a file.", hint)
    if info.flag_bits & 0x1:
        yield Problem(
            "E_ZIP_ENCRYPTED",
            where,
            "This member is encrypted.",
            "Make the bundle without a password.",
        )
    elif info.compress_type not in METHODS:
        hint = "Use deflate, or store without compression."
        yield Problem("E_ZIP_METHOD", where, "This compression is not read here.", hint)
    if info.filename.lower().endswith(NESTED):
        yield Problem(
            "E_NESTED_ARCHIVE",
            where,
            "This member is itself an archive.",
            "Put its files in directly.",
        )
    yield from _size_problems(info, size, limits)


def _size_problems(info: zipfile.ZipInfo, size: int, limits: BundleLimits) -> Iterator[Problem]:
    where = shown(info.orig_filename)
    if info.compress_size > size or info.header_offset > size or info.file_size >= IMPOSSIBLE:
        yield Problem("E_ZIP_BROKEN", where, "Its sizes cannot be true.", AGAIN)
    elif info.file_size > limits.member_bytes:
        hint = f"The limit is {limits.member_bytes} bytes."
        yield Problem("E_TOO_LARGE", where, "This member is too large.", hint, limits.member_bytes)
    elif info.file_size > limits.ratio_from_bytes and info.file_size > limits.ratio * max(
        info.compress_size, 1
    ):
        message = f"It unpacks to more than {limits.ratio} times its size."
        yield Problem("E_BOMB", where, message, "Compress files as they are.", limits.ratio)


def _layout_problems(file: zipfile.ZipFile, stream: BinaryIO) -> Iterator[Problem]:
    """Members that share bytes with each other or with the table of contents, whose own header
    says another name, or between which bytes lie that belong to none."""
    reported, end, described, hidden = 0, 0, False, False
    for info in sorted(file.infolist(), key=lambda info: info.header_offset):
        start = data_offset(stream, info)
        if reported < MOST_PROBLEMS and (start is None or info.header_offset < end):
            reported += 1
            yield _shared(info) if info.header_offset < end else _disagrees(info)
        hidden |= not _joins(end, info.header_offset, described)
        end = max(end, (start or info.header_offset) + info.compress_size)
        described = bool(info.flag_bits & 0x8)
    if file.start_dir < end and not reported:
        yield Problem(
            "E_ZIP_BROKEN", "bundle", "The table of contents is not where it should be.", AGAIN
        )
    elif not reported and (hidden or not _joins(end, file.start_dir, described)):
        message = "Bytes lie in the file that no member names, as when two zips are joined."
        yield Problem("E_ZIP_EXTRA_DATA", "bundle", message, "Hand in one zip alone.")


def _joins(end: int, start: int, described: bool) -> bool:
    """Whether what begins at `start` follows at once, or behind the sizes that some programs write
    after a member."""
    return start <= end or (described and start - end in DESCRIPTORS)


def _disagrees(info: zipfile.ZipInfo) -> Problem:
    return Problem(
        "E_ZIP_BROKEN", shown(info.filename), "Its own header does not agree with the table.", AGAIN
    )


def _shared(info: zipfile.ZipInfo) -> Problem:
    return Problem(
        "E_ZIP_OVERLAP", shown(info.filename), "Two members share the same bytes.", AGAIN
    )


def data_offset(stream: BinaryIO, info: zipfile.ZipInfo) -> int | None:
    """Where a member's bytes begin, behind its own header; None if that header is not of this
    member."""
    stream.seek(info.header_offset)
    head = stream.read(LOCAL_HEADER)
    if len(head) < LOCAL_HEADER or head[:4] != b"PK\x03\x04":
        return None
    flags, method = struct.unpack("<HH", head[6:10])
    name_length, extra_length = struct.unpack("<HH", head[26:30])
    local_name = stream.read(name_length).decode("utf-8" if flags & 0x800 else "cp437", "replace")
    if local_name != info.orig_filename or method != info.compress_type:
        return None
    return info.header_offset + LOCAL_HEADER + int(name_length) + int(extra_length)
