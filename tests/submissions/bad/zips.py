"""Rows 9 and 16 to 43: what can be wrong with a zip."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.bundles import picture

from .case import Case, Manifest, Members, bundle, edited, pictures, spoil_bytes


def whole(row: int, what: str, code: str, data: bytes) -> Case:
    """A file that is no zip of ours at all."""

    def make(to: Path) -> Path:
        to.write_bytes(data)
        return to

    return Case(row, what, code, make)


def member(row: int, what: str, code: str, name: str, data: bytes = b"x") -> Case:
    """A bundle with one more member."""

    def edit(_manifest: Manifest, members: Members) -> None:
        members[name] = data

    return edited(row, what, code, edit)


def header(
    row: int, what: str, code: str, change: Callable[[zipfile.ZipInfo], None], data: bytes = b"x"
) -> Case:
    """A bundle with one more member whose header is changed."""

    def make(to: Path) -> Path:
        bundle(to, pictures(2))
        with zipfile.ZipFile(to, "a") as file:
            info = zipfile.ZipInfo("outputs/more.png")
            change(info)
            file.writestr(info, data)
        return to

    return Case(row, what, code, make)


def mode(kind: int) -> Callable[[zipfile.ZipInfo], None]:
    def change(info: zipfile.ZipInfo) -> None:
        info.external_attr = (kind | 0o777) << 16

    return change


def tar() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        file.addfile(tarfile.TarInfo("manifest.json"))
    return data.getvalue()


def names(*said: str) -> Callable[[Path], Path]:
    def make(to: Path) -> Path:
        bundle(to, pictures(2))
        with zipfile.ZipFile(to, "a") as file:
            for name in said:
                file.writestr(name, picture(7))
        return to

    return make


def patched_name(inside: bytes) -> Callable[[Path], Path]:
    """A member whose name is these bytes, put into both headers behind zipfile's back."""

    def make(to: Path) -> Path:
        placeholder = "q" * len(inside)
        names(placeholder)(to)
        data = bytearray(to.read_bytes().replace(placeholder.encode(), inside))
        for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            start = data.rfind(magic)
            data[start + at + 1] |= 0x08
        to.write_bytes(data)
        return to

    return make


def central(
    field: int, width: str, value: int, flags: int | None = None
) -> Callable[[bytes], bytes]:
    """Change a number in the last central header, and the same flag in the local one."""

    def spoil(data: bytes) -> bytes:
        found = bytearray(data)
        start = found.rfind(b"PK\x01\x02")
        struct.pack_into(width, found, start + field, value)
        if flags is not None:
            local = struct.unpack_from("<I", found, start + 42)[0]
            struct.pack_into("<H", found, local + flags, value)
        return bytes(found)

    return spoil


def wrong_crc(data: bytes) -> bytes:
    """One flipped bit in a member's stored bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        info = file.getinfo("outputs/0.png")
    at = info.header_offset + 30 + len(info.filename) + info.compress_size // 2
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]


def before_its_table(data: bytes) -> bytes:
    """A sound zip with bytes between its last member and its table of contents, which knows of
    them."""
    start = data.index(b"PK\x01\x02")
    moved = struct.pack("<I", start + 40)
    return data[:start] + bytes(40) + data[start:-6] + moved + data[-2:]


def overlapping(data: bytes) -> bytes:
    """The last two members point at the same bytes, under the same local header."""
    found = bytearray(data)
    last = found.rfind(b"PK\x01\x02")
    before = found.rfind(b"PK\x01\x02", 0, last)
    found[last + 42 : last + 46] = found[before + 42 : before + 46]
    return bytes(found)


def quoted(to: Path) -> Path:
    """Fifield's bomb in small: a member whose data runs through the next member's header."""
    data = bytearray(bundle(to, pictures(2)).read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as file:
        first = file.infolist()[1]
    for magic, at in ((b"PK\x01\x02", 20), (b"PK\x03\x04", 18)):
        start = data.find(magic, first.header_offset if magic[2] == 3 else 0)
        while (
            magic[2] == 1
            and data[start + 46 : start + 46 + len(first.filename)] != first.filename.encode()
        ):
            start = data.find(magic, start + 4)
        struct.pack_into("<I", data, start + at, first.compress_size + 20)
    to.write_bytes(data)
    return to


def huge_zip64(to: Path) -> Path:
    """A member that declares 2^63 bytes by its zip64 field."""
    data = bytearray(bundle(to, pictures(1)).read_bytes())
    start = data.rfind(b"PK\x01\x02")
    name = struct.unpack_from("<H", data, start + 28)[0]
    struct.pack_into("<I", data, start + 24, 0xFFFFFFFF)
    struct.pack_into("<H", data, start + 30, 12)
    field = struct.pack("<HHQ", 1, 8, 1 << 63)
    data[start + 46 + name : start + 46 + name] = field
    end = data.rfind(b"PK\x05\x06")
    struct.pack_into("<I", data, end + 12, struct.unpack_from("<I", data, end + 12)[0] + 12)
    to.write_bytes(data)
    return to


def nested(depth: int) -> bytes:
    data = b"the innermost"
    for _ in range(depth):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as file:
            file.writestr("inner.zip", data)
        data = outer.getvalue()
    return data


def disguised(to: Path) -> Path:
    return bundle(
        to,
        {"outputs/0.png": (None, nested(5))},
        lambda manifest, _: manifest["files"][0].update(sample=next(iter(pictures(1).values()))[0]),
    )


def lying_size(to: Path) -> Path:
    """The header says 10 bytes, the data inflate to 2 MB."""

    def edit(manifest: Manifest, members: Members) -> None:
        members["outputs/zeros.png"] = bytes(2 << 20)
        manifest["files"][0].update(path="outputs/zeros.png")
        members.pop("outputs/0.png")

    data = bytearray(bundle(to, pictures(1), edit).read_bytes())
    start = data.rfind(b"PK\x01\x02")
    local = struct.unpack_from("<I", data, start + 42)[0]
    struct.pack_into("<I", data, start + 24, 10)
    struct.pack_into("<I", data, local + 22, 10)
    to.write_bytes(data)
    return to


def many(to: Path) -> Path:
    """Empty members, their headers written by hand: zipfile would take ten times as long."""
    local, central = bytearray(), bytearray()
    for number in range(100_001):
        name = f"{number:06x}".encode()
        sizes = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0)
        central += (
            b"PK\x01\x02\x14\x00" + sizes + struct.pack("<HHHII", 0, 0, 0, 0, len(local)) + name
        )
        local += b"PK\x03\x04" + sizes + name
    count, start = 100_001, len(local)
    end64 = struct.pack(
        "<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(central), start
    )
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, start + len(central), 1)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(central), start, 0)
    to.write_bytes(bytes(local + central) + end64 + locator + end)
    return to


CASES = [
    whole(9, "empty file", "E_EMPTY", b""),
    whole(16, "png", "E_NOT_ZIP", picture(1)),
    whole(16, "pdf", "E_NOT_ZIP", b"%PDF-1.7 not a zip"),
    whole(16, "html", "E_NOT_ZIP", b"<html><body>Sign in</body></html>"),
    whole(19, "gzip", "E_ARCHIVE_KIND", b"\x1f\x8b\x08\x00 gzip"),
    whole(19, "tar", "E_ARCHIVE_KIND", tar()),
    whole(19, "7z", "E_ARCHIVE_KIND", b"7z\xbc\xaf\x27\x1c rest"),
    whole(19, "rar", "E_ARCHIVE_KIND", b"Rar!\x1a\x07\x00 rest"),
    whole(17, "only a header", "E_ZIP_BROKEN", b"PK\x03\x04 cut short"),
    spoil_bytes(17, "cut in half", "E_ZIP_BROKEN", lambda data: data[: len(data) // 2]),
    spoil_bytes(18, "wrong crc", "E_ZIP_BROKEN", wrong_crc),
    spoil_bytes(20, "encrypted", "E_ZIP_ENCRYPTED", central(8, "<H", 1, 6)),
    spoil_bytes(21, "method 93 (zstd)", "E_ZIP_METHOD", central(10, "<H", 93, 8)),
    spoil_bytes(21, "method 9 (deflate64)", "E_ZIP_METHOD", central(10, "<H", 9, 8)),
    spoil_bytes(21, "method 99", "E_ZIP_METHOD", central(10, "<H", 99, 8)),
    member(22, "../x", "E_PATH_ESCAPE", "../x"),
    member(23, "/etc/x", "E_PATH_ESCAPE", "/etc/x"),
    member(23, "C:\\x", "E_PATH_ESCAPE", "C:\\x"),
    member(23, "\\\\host\\x", "E_PATH_ESCAPE", "\\\\host\\x"),
    *(
        member(24, repr(name), "E_PATH_NOT_CANONICAL", name)
        for name in ("a/../../b", "./a", "a//b", "a.", "a ")
    ),
    member(25, "backslash", "E_PATH_CHARS", "outputs\\x.png"),
    *(
        member(26, repr(name), "E_PATH_CHARS", name)
        for name in ("a\nb", "a\x07b", "a\u202eb.png", "a\u200bb.png")
    ),
    Case(26, "NUL", "E_PATH_CHARS", patched_name(b"a\0b.png")),
    Case(26, "lone surrogate", "E_PATH_CHARS", patched_name(b"a\xed\xa0\x80b.png")),
    Case(27, "same name twice", "E_DUPLICATE_ENTRY", names("outputs/0.png")),
    Case(
        28, "names equal but for case", "E_DUPLICATE_ENTRY", names("outputs/A.png", "outputs/a.png")
    ),
    Case(
        28,
        "e acute two ways",
        "E_DUPLICATE_ENTRY",
        names("outputs/\u00e9.png", "outputs/e\u0301.png"),
    ),
    Case(29, "file and folder", "E_PATH_CONFLICT", names("a", "a/b")),
    header(30, "symlink", "E_LINK", mode(stat.S_IFLNK), b"/etc/passwd"),
    *(
        header(31, name, "E_LINK", mode(kind))
        for name, kind in (
            ("device", stat.S_IFCHR),
            ("fifo", stat.S_IFIFO),
            ("socket", stat.S_IFSOCK),
        )
    ),
    Case(32, "100,001 entries", "E_TOO_MANY_FILES", many),
    member(33, "5,000 characters", "E_PATH_LONG", "/".join(["a" * 200] * 25)),
    member(33, "60 levels", "E_PATH_LONG", "a/" * 60 + "b"),
    member(33, "component of 300 bytes", "E_PATH_LONG", "a" * 300),
    member(34, "200 MiB of zeros", "E_BOMB", "outputs/zeros.png", bytes(200 << 20)),
    Case(35, "declares little, holds much", "E_ZIP_BROKEN", lying_size),
    spoil_bytes(36, "two members, one place", "E_ZIP_OVERLAP", overlapping),
    Case(36, "quoted header", "E_ZIP_OVERLAP", quoted),
    member(37, "zip in zip, five deep", "E_NESTED_ARCHIVE", "outputs/inner.zip", nested(5)),
    Case(37, "zip named png", "E_NESTED_ARCHIVE", disguised),
    Case(39, "zip64 size of 2^63", "E_ZIP_BROKEN", huge_zip64),
    spoil_bytes(40, "a picture before it", "E_ZIP_EXTRA_DATA", lambda data: picture(1) + data),
    spoil_bytes(40, "bytes behind it", "E_ZIP_EXTRA_DATA", lambda data: data + b"and more"),
    spoil_bytes(
        40, "a comment behind it", "E_ZIP_EXTRA_DATA", lambda data: data[:-2] + b"\x05\x00hello"
    ),
    spoil_bytes(40, "two zips in one file", "E_ZIP_EXTRA_DATA", lambda data: data + data),
    spoil_bytes(40, "bytes before its table", "E_ZIP_EXTRA_DATA", before_its_table),
    Case(
        41, "left-overs", "W_IGNORED", names("__MACOSX/._0.png", "outputs/.DS_Store", "Thumbs.db")
    ),
    member(42, "unlisted file", "E_UNLISTED_FILE", "outputs/extra.png"),
    *(
        member(43, ending, "E_FORBIDDEN_TYPE", f"outputs/x{ending}")
        for ending in (
            ".pkl",
            ".pt",
            ".pth",
            ".bin",
            ".ckpt",
            ".npy",
            ".joblib",
            ".py",
            ".so",
            ".sh",
            ".exe",
            ".ipynb",
        )
    ),
]
