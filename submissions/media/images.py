"""Inspection of one still picture: walks its file format from the first byte to the last, then
decodes it. Runs in the decoding child."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zlib
from collections.abc import Iterator

from PIL import Image

from submissions.media.facts import (
    DARK,
    MOST_METADATA,
    MediaFacts,
    Refused,
    animated,
    broken,
    check_size,
    extra,
    metadata,
    too_many_pixels,
)

MAGIC = {"PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff"}
PNG_PIXELS = (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS")
PNG_PACKED = {b"zTXt": 1, b"iCCP": 1, b"iTXt": 2}
"""Chunks with compressed contents, and how many bytes stand between the keyword's end and them at
the least."""
MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
SCAN = b"\xff\xda"
RESTART = re.compile(rb"\xff[\xd0-\xd7]")
MORE_PIXELS = bytes(17 + 89 * number % 200 for number in range(128))
BARE = {0x01, *range(0xD0, 0xD9)}
LOOKS = 16


def picture(data: bytes, declared_kind: str) -> tuple[MediaFacts, Image.Image]:
    """What the picture is, and itself; Refused says what is wrong with it."""
    kind = _kind(data)
    if kind is None:
        raise Refused(
            "E_MEDIA_KIND", "This is not a picture we can read.", f"Save it as {declared_kind}."
        )
    if kind != declared_kind:
        raise Refused(
            "E_MEDIA_MISMATCH",
            f"The name says {declared_kind}, the bytes are {kind}.",
            "Name files as they are.",
        )
    _check_parts(data, kind)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=[kind])
            check_size(image.width, image.height)
            if getattr(image, "n_frames", 1) != 1:
                raise animated()
            image.load()
            if kind == "JPEG" and not _is_whole(data, image):
                raise broken("picture")
    except Refused:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise too_many_pixels() from None
    except Exception:  # Pillow's plugins raise a dozen kinds, and all mean the same here
        raise broken("picture") from None
    static = _one_colour(image)
    black = int(static and _is_black(image))
    return MediaFacts(
        Image.MIME[kind], image.width, image.height, 1, None, static, image.mode, black
    ), image


def difference_hash(image: Image.Image) -> str:
    """64 bits that survive scaling and re-encoding: whether each of 8 x 8 cells is darker than the
    next."""
    small = list(image.convert("L").resize((9, 8)).tobytes())
    bits = [
        small[row * 9 + column] < small[row * 9 + column + 1]
        for row in range(8)
        for column in range(8)
    ]
    return f"dhash:{sum(bit << place for place, bit in enumerate(bits)):016x}"


def _kind(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return next((kind for kind, magic in MAGIC.items() if data.startswith(magic)), None)


def _one_colour(image: Image.Image) -> bool:
    """Whether all pixels are the same; a few along the diagonal nearly always tell that they are
    not."""
    width, height = image.size
    diagonal = {
        image.getpixel((width * step // LOOKS, height * step // LOOKS)) for step in range(LOOKS)
    }
    if len(diagonal) > 1:
        return False
    extrema = (image if image.mode == "RGB" else image.convert("RGB")).getextrema()
    return all(low == high for low, high in extrema)  # type: ignore[misc]


def _is_black(image: Image.Image) -> bool:
    red, green, blue = image.convert("RGB").resize((1, 1)).tobytes()
    return max(red, green, blue) <= DARK


def _check_parts(data: bytes, kind: str) -> None:
    """Walk the file's own structure to its end: nothing is missing, nothing is behind it, metadata
    is small."""
    walk = {"PNG": _png, "JPEG": _jpeg, "WEBP": _webp}[kind]
    end, meta = 0, 0
    try:
        for upto, weight in walk(data):
            end, meta = upto, meta + weight
            if meta > MOST_METADATA:
                raise metadata()
    except (struct.error, IndexError):
        raise broken("picture") from None
    if end < len(data):
        raise extra(len(data) - end, "picture")


def _png(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each chunk ends, and how much metadata it holds."""
    at = 8
    while True:
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        start, at = at + 8, at + 12 + length
        if at > len(data):
            raise broken("picture")
        body = b"" if kind == b"IDAT" else data[start : start + length]
        if kind == b"IHDR":
            check_size(*struct.unpack(">II", body[:8]))
        if kind == b"acTL":
            raise animated()
        yield at, 0 if kind in PNG_PIXELS else max(length, _unpacked(kind, body))
        if kind == b"IEND":
            return


def _unpacked(kind: bytes, body: bytes) -> int:
    """How much a compressed chunk unpacks to, counted no further than the limit."""
    if kind not in PNG_PACKED:
        return 0
    start = body.find(b"\0") + 1 + PNG_PACKED[kind]
    if kind == b"iTXt":
        start = body.find(b"\0", body.find(b"\0", start) + 1) + 1
    try:
        return len(zlib.decompressobj().decompress(body[start:], MOST_METADATA + 1))
    except zlib.error:
        return 0


def _jpeg(data: bytes) -> Iterator[tuple[int, int]]:
    """Where each segment ends; the coded pixels run to the next marker."""
    at = 2
    while True:
        match = MARKER.search(data, at)
        if match is None:
            raise broken("picture")
        marker, at = data[match.start() + 1], match.end()
        if marker == 0xD9:
            yield at, 0
            return
        if marker not in BARE:
            length = int(struct.unpack(">H", data[at : at + 2])[0])
            at += length
            yield at, length if marker == 0xFE or 0xE0 <= marker <= 0xEF else 0


def _is_whole(data: bytes, image: Image.Image) -> bool:
    """Whether a JPEG's pixels are all there: a decoder fills the rest of a cut one with grey and
    says nothing. Coded bytes put in before the end change nothing but what was not there yet."""
    scan = data.rfind(SCAN)
    restarts = len(RESTART.findall(data, scan))
    marker = bytes([0xFF, 0xD0 + restarts % 8]) if restarts else b""
    longer = data[:-2] + MORE_PIXELS + marker + MORE_PIXELS + data[-2:]
    return Image.open(io.BytesIO(longer), formats=["JPEG"]).tobytes() == image.tobytes()


def _webp(data: bytes) -> Iterator[tuple[int, int]]:
    whole = 8 + int(struct.unpack("<I", data[4:8])[0])
    if whole > len(data):
        raise broken("picture")
    at = 12
    while at + 8 <= whole:
        kind, length = struct.unpack("<4sI", data[at : at + 8])
        at += 8 + length + length % 2
        if kind in (b"ANIM", b"ANMF"):
            raise animated()
        yield min(at, whole), 0 if kind in (b"VP8 ", b"VP8L", b"VP8X", b"ALPH") else length
    yield whole, 0
