"""Media that are handed out, made alike in everything but their content: one size for files of a
kind, one time for all.

Who has the pictures can measure them, so this hides nothing that a picture shows; it keeps a rule
that opens no file from reading answers off a listing.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from struct import pack, unpack

WHEN = 315_532_800
"""1980-01-01, the earliest time that zip files know."""
PNG_END = b"\x00\x00\x00\x00IEND\xaeB`\x82"
PNG_CHUNK = 12
"""Length, name and checksum of an empty chunk."""
PNG_NAME = b"paDd"
"""Ancillary, private, safe to copy: every reader of PNG files skips it."""
ZIP_END = b"PK\x05\x06"
ZIP_DIRECTORY = 16
"""Where the end of an archive says at which byte its directory begins."""


def level_media(handed_out: Iterable[Path]) -> None:
    """Pad every file to the longest of its kind, and give all of them and the folders that were
    handed out one time; what else lies beside them is left alone."""
    paths = sorted({path for top in handed_out for path in (top, *top.rglob("*"))})
    for ending, padded in PADDING.items():
        _level_sizes([path for path in paths if path.suffix == ending], padded)
    for path in paths:
        os.utime(path, (WHEN, WHEN))


def _level_sizes(paths: list[Path], padded: Callable[[bytes, int], bytes]) -> None:
    sizes = {path: path.stat().st_size for path in paths}
    if len(set(sizes.values())) < 2:
        return
    longest = max(sizes.values()) + PNG_CHUNK
    for path, size in sizes.items():
        path.write_bytes(padded(path.read_bytes(), longest - size))


def padded_png(picture: bytes, missing: int) -> bytes:
    """The same picture, so many bytes longer; at least the twelve of an empty chunk."""
    end = picture.rfind(PNG_END)
    named = PNG_NAME + bytes(missing - PNG_CHUNK)
    chunk = pack(">I", missing - PNG_CHUNK) + named + pack(">I", zlib.crc32(named))
    return picture[:end] + chunk + picture[end:]


def padded_zip(archive: bytes, missing: int) -> bytes:
    """The same archive, with a gap of so many bytes before its directory."""
    field = archive.rfind(ZIP_END) + ZIP_DIRECTORY
    (directory,) = unpack("<I", archive[field : field + 4])
    moved = pack("<I", directory + missing)
    return (
        archive[:directory]
        + bytes(missing)
        + archive[directory:field]
        + moved
        + archive[field + 4 :]
    )


PADDING: Mapping[str, Callable[[bytes, int], bytes]] = {".png": padded_png, ".npz": padded_zip}
"""How files of a kind are made longer without changing what they hold."""
