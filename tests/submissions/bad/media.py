"""Rows 75 to 93: what can be wrong with pictures and clips."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import av
import numpy as np
from PIL import Image

from .case import Case, one_file


def saved(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    data = io.BytesIO()
    image.save(data, kind, **options)
    return data.getvalue()


def noise(size: tuple[int, int] = (64, 48), seed: int = 0) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def png(width: int, height: int, *chunks: tuple[bytes, bytes], rows: bytes = b"") -> bytes:
    """A PNG by hand; its pixels need not be there."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body


def clip(
    count: int = 6,
    codec: str = "libx264",
    container: str = "mp4",
    size: tuple[int, int] = (64, 48),
    times: Callable[[int], int] = lambda number: number,
    still: bool = False,
    sound: bool = False,
    options: dict[str, str] | None = None,
    pixels: str = "yuv420p",
) -> bytes:
    """A small clip at 8 frames a second."""
    data = io.BytesIO()
    with av.open(data, "w", format=container, options=options or {}) as file:
        stream: Any = file.add_stream(codec, rate=8)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        stream.codec_context.time_base = Fraction(1, 8)
        audio: Any = file.add_stream("aac", rate=16_000) if sound else None
        for number in range(count):
            frame = av.VideoFrame.from_ndarray(
                np.asarray(noise(size, 0 if still else number)), format="rgb24"
            )
            frame.pts, frame.time_base = times(number), Fraction(1, 8)
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
        if audio is not None:
            beep = av.AudioFrame.from_ndarray(
                np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
            )
            beep.sample_rate = 16_000
            file.mux(audio.encode(beep))
            file.mux(audio.encode(None))
    return data.getvalue()


def fewer_frames() -> bytes:
    """Declares 40 frames; the bytes of the last ones are zeros."""
    data = clip(40)
    moov = data.rfind(b"moov") - 4
    at = data.find(b"mdat") + 4
    keep = at + (moov - at) // 10
    free = struct.pack(">I4s", moov - keep, b"free") + bytes(moov - keep - 8)
    return (
        data[: at - 8]
        + struct.pack(">I4s", keep - at + 8, b"mdat")
        + data[at:keep]
        + free
        + data[moov:]
    )


def stretched() -> bytes:
    """A VP9 clip whose first frame says 65,536 x 65,536: sixteen bits each, half a byte behind the
    sync code."""
    data = bytearray(clip(2, container="webm", codec="libvpx-vp9"))
    at = data.find(b"\x49\x83\x42") + 3
    data[at] |= 0x0F
    data[at + 1 : at + 4] = b"\xff\xff\xff"
    data[at + 4] |= 0xF0
    return bytes(data)


def animation(kind: str) -> bytes:
    return saved(noise(), kind, save_all=True, append_images=[noise(seed=1)], duration=100)


def jpeg_with(marker: int, size: int, count: int) -> bytes:
    data = saved(noise(), "JPEG")
    segment = struct.pack(">BBH", 0xFF, marker, size + 2) + random_bytes(size)
    return data[:2] + segment * count + data[2:]


def glued_ends() -> Iterator[tuple[str, bytes]]:
    """Pictures of three kinds of coding that lost their second half and got a new end."""
    for options in ({}, {"progressive": True}, {"restart_marker_rows": 1}):
        whole = saved(noise((128, 96)), "JPEG", **options)
        yield " ".join(options), whole[: len(whole) // 2] + b"\xff\xd9"


def webm(**options: str) -> bytes:
    return clip(24, container="webm", codec="libvpx-vp9", options=options)


def cut_webms() -> Iterator[tuple[str, bytes]]:
    """Clips that say how long they are, and such as are written while they are filmed."""
    for name, whole in (("", webm()), ("while written", webm(live="1"))):
        yield name, whole[: len(whole) * 2 // 3]


def random_bytes(count: int) -> bytes:
    return np.random.default_rng(0).bytes(count)


PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n"
CONCAT = b"ffconcat version 1.0\nfile /etc/passwd\n"
SDP = b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n"
ZIP_HEAD = b"PK\x03\x04 and more"

CASES: list[Case] = [
    one_file(76, "jpeg named png", "E_MEDIA_MISMATCH", "0.png", lambda: saved(noise(), "JPEG")),
    one_file(76, "png named jpg", "E_MEDIA_MISMATCH", "0.jpg", lambda: saved(noise())),
    one_file(76, "png named webp", "E_MEDIA_MISMATCH", "0.webp", lambda: saved(noise())),
    one_file(77, "svg", "E_MEDIA_KIND", "0.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    one_file(
        77, "svg named png", "E_MEDIA_KIND", "0.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    ),
    one_file(77, "pdf named png", "E_MEDIA_KIND", "0.png", b"%PDF-1.7"),
    one_file(77, "html named png", "E_MEDIA_KIND", "0.png", b"<html></html>"),
    one_file(77, "heic named png", "E_MEDIA_KIND", "0.png", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
    one_file(77, "tiff named png", "E_MEDIA_KIND", "0.png", lambda: saved(noise(), "TIFF")),
    one_file(77, "tiff", "E_MEDIA_KIND", "0.tiff", lambda: saved(noise(), "TIFF")),
    one_file(78, "png cut", "E_MEDIA_BROKEN", "0.png", lambda: saved(noise())[:-30]),
    one_file(78, "png without IEND", "E_MEDIA_BROKEN", "0.png", lambda: saved(noise())[:-12]),
    one_file(78, "png of its first bytes", "E_MEDIA_BROKEN", "0.png", lambda: saved(noise())[:20]),
    one_file(78, "jpeg cut", "E_MEDIA_BROKEN", "0.jpg", lambda: saved(noise(), "JPEG")[:-60]),
    *(
        one_file(78, f"jpeg cut, with an end glued on {options}", "E_MEDIA_BROKEN", "0.jpg", data)
        for options, data in glued_ends()
    ),
    one_file(78, "webp cut", "E_MEDIA_BROKEN", "0.webp", lambda: saved(noise(), "WEBP")[:-60]),
    one_file(
        79,
        "20,000 x 20,000",
        "E_MEDIA_PIXELS",
        "0.png",
        lambda: png(20_000, 20_000, rows=bytes(1 << 20)),
    ),
    one_file(80, "0 x 0", "E_MEDIA_DIMENSIONS", "0.png", lambda: png(0, 0)),
    one_file(80, "1 x 1", "E_MEDIA_DIMENSIONS", "0.png", lambda: saved(noise((1, 1)))),
    one_file(
        80,
        "10,000 x 1",
        "E_MEDIA_DIMENSIONS",
        "0.png",
        lambda: saved(Image.new("RGB", (10_000, 1))),
    ),
    one_file(81, "animated png", "E_MEDIA_FRAMES", "0.png", lambda: animation("PNG")),
    one_file(81, "animated webp", "E_MEDIA_FRAMES", "0.webp", lambda: animation("WEBP")),
    one_file(81, "animated gif", "E_MEDIA_KIND", "0.gif", lambda: animation("GIF")),
    one_file(82, "CMYK", "W_CONVERTED", "0.jpg", lambda: saved(noise().convert("CMYK"), "JPEG")),
    one_file(82, "16 bit", "W_CONVERTED", "0.png", lambda: saved(noise().convert("I;16"))),
    one_file(
        82, "palette", "W_CONVERTED", "0.png", lambda: saved(noise().convert("P"), transparency=0)
    ),
    one_file(
        83,
        "text bomb",
        "E_MEDIA_METADATA",
        "0.png",
        lambda: png(
            32, 32, (b"zTXt", b"k\0\0" + zlib.compress(bytes(8 << 20))), rows=bytes(97 * 32)
        ),
    ),
    one_file(
        83,
        "profile bomb",
        "E_MEDIA_METADATA",
        "0.png",
        lambda: png(
            32, 32, (b"iCCP", b"k\0\0" + zlib.compress(bytes(8 << 20))), rows=bytes(97 * 32)
        ),
    ),
    one_file(
        83,
        "giant text",
        "E_MEDIA_METADATA",
        "0.png",
        lambda: png(32, 32, (b"tEXt", b"k\0" + noise((800, 600)).tobytes()), rows=bytes(97 * 32)),
    ),
    one_file(83, "giant exif", "E_MEDIA_METADATA", "0.jpg", lambda: jpeg_with(0xE1, 60_000, 20)),
    one_file(
        84, "zip behind a png", "E_MEDIA_EXTRA_DATA", "0.png", lambda: saved(noise()) + ZIP_HEAD
    ),
    one_file(
        84,
        "html behind a jpeg",
        "E_MEDIA_EXTRA_DATA",
        "0.jpg",
        lambda: saved(noise(), "JPEG") + b"<html>",
    ),
    one_file(
        84, "a second jpeg", "E_MEDIA_EXTRA_DATA", "0.jpg", lambda: saved(noise(), "JPEG") * 2
    ),
    one_file(
        84,
        "bytes behind a webp",
        "E_MEDIA_EXTRA_DATA",
        "0.webp",
        lambda: saved(noise(), "WEBP") + ZIP_HEAD,
    ),
    one_file(84, "zip behind an mp4", "E_MEDIA_EXTRA_DATA", "0.mp4", lambda: clip() + ZIP_HEAD),
    one_file(85, "mp4 cut", "E_MEDIA_BROKEN", "0.mp4", lambda: clip()[:-200]),
    one_file(
        85, "moov missing", "E_MEDIA_BROKEN", "0.mp4", lambda: clip().replace(b"moov", b"free")
    ),
    one_file(
        85,
        "webm cut",
        "E_MEDIA_BROKEN",
        "0.webm",
        lambda: clip(container="webm", codec="libvpx-vp9")[:60],
    ),
    *(
        one_file(85, f"webm cut by a third {name}", "E_MEDIA_BROKEN", "0.webm", data)
        for name, data in cut_webms()
    ),
    one_file(84, "bytes behind a webm", "E_MEDIA_EXTRA_DATA", "0.webm", lambda: webm() + ZIP_HEAD),
    one_file(0, "webm whose length is left open", "", "0.webm", lambda: webm(live="1")),
    one_file(86, "fewer frames than declared", "E_VIDEO_FRAMES", "0.mp4", fewer_frames),
    one_file(87, "one frame", "E_VIDEO_SHAPE", "0.mp4", lambda: clip(1)),
    one_file(
        87, "2,001 frames", "E_VIDEO_SHAPE", "0.mp4", lambda: clip(2_001, size=(32, 32), still=True)
    ),
    one_file(88, "variable rate", "E_VIDEO_TIMING", "0.mp4", lambda: clip(times=lambda n: n * n)),
    one_file(88, "a gap", "E_VIDEO_TIMING", "0.mp4", lambda: clip(times=lambda n: n + 5 * (n > 3))),
    one_file(89, "playlist", "E_MEDIA_KIND", "0.mp4", PLAYLIST),
    one_file(89, "concat", "E_MEDIA_KIND", "0.mp4", CONCAT),
    one_file(89, "session description", "E_MEDIA_KIND", "0.webm", SDP),
    one_file(90, "mjpeg", "E_VIDEO_CODEC", "0.mp4", lambda: clip(codec="mjpeg", pixels="yuvj420p")),
    one_file(90, "mpeg4", "E_VIDEO_CODEC", "0.mp4", lambda: clip(codec="mpeg4")),
    one_file(
        90,
        "prores in mov",
        "E_MEDIA_KIND",
        "0.mov",
        lambda: clip(codec="prores_ks", container="mov", pixels="yuv422p10le"),
    ),
    one_file(90, "mkv", "E_MEDIA_KIND", "0.mkv", lambda: clip(container="matroska")),
    one_file(
        90, "mkv named webm", "E_MEDIA_MISMATCH", "0.webm", lambda: clip(container="matroska")
    ),
    one_file(91, "sound", "E_VIDEO_STREAMS", "0.mp4", lambda: clip(sound=True)),
    one_file(92, "65,535 x 65,535", "E_MEDIA_PIXELS", "0.webm", stretched),
    one_file(93, "black picture", "W_STATIC", "0.png", lambda: saved(Image.new("RGB", (64, 48)))),
    one_file(93, "still clip", "W_STATIC", "0.mp4", lambda: clip(still=True, options={})),
]
