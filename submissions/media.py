"""Whether a handed-in picture or clip is what it says it is, all of it, and nothing more."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

import av
from PIL import Image, UnidentifiedImageError

from submissions.errors import Problem, shown

IMAGES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
VIDEOS = {".mp4": "mp4", ".webm": "webm"}
CODECS = ("h264", "vp9", "vp8", "av1", "hevc")
MOST_PIXELS = 16_000_000
LEAST_SIDE, MOST_ASPECT = 16, 8
MOST_FRAMES, LEAST_FRAMES = 2_000, 2
MOST_METADATA = 1 << 20


@dataclass(frozen=True, slots=True)
class MediaFacts:
    """What was found in a file that decodes."""

    media_type: str
    width: int
    height: int
    frames: int
    fps: float | None
    static: bool


class Refused(Exception):
    """The file is not fit; carries the problem."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint

    def at(self, where: str) -> Problem:
        """The problem, with its place."""
        return Problem(self.code, shown(where), self.message, self.hint)


def inspect(path: Path, name: str, modality: str) -> MediaFacts:
    """Decode a file completely and tell what it is; Refused says what is wrong with it."""
    suffix = Path(name).suffix.lower()
    known = IMAGES if modality == "image" else VIDEOS
    if suffix not in known:
        raise Refused("E_MEDIA_KIND", f"{suffix or 'No ending'} is no {modality} we take.", f"Use {', '.join(known)}.")
    return _image(path, IMAGES[suffix]) if modality == "image" else _video(path, VIDEOS[suffix])


def _image(path: Path, wanted: str) -> MediaFacts:
    data = path.read_bytes()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as image:
                _check_image_head(image, wanted)
                _check_image_end(data, wanted)
                image.load()
                static = all(low == high for low, high in _extrema(image))
                return MediaFacts(Image.MIME[wanted], image.width, image.height, 1, None, static)
    except UnidentifiedImageError:
        raise Refused("E_MEDIA_KIND", "This is not a picture we can read.", f"Save it as {wanted}.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels() from None
    except (
        OSError,
        SyntaxError,
        ValueError,
        struct.error,
        EOFError,
        IndexError,
        TypeError,
        OverflowError,
        MemoryError,
    ):
        raise _broken("picture") from None


def _check_image_head(image: Image.Image, wanted: str) -> None:
    if image.format != wanted:
        raise Refused(
            "E_MEDIA_MISMATCH", f"The name says {wanted}, the bytes are {image.format}.", "Name files as they are."
        )
    _check_size(image.width, image.height)
    if getattr(image, "n_frames", 1) != 1:
        raise Refused("E_MEDIA_FRAMES", "This picture is animated.", "Hand in one still picture a sample.")
    if sum(len(str(value)) for value in image.info.values()) > MOST_METADATA:
        raise Refused("E_MEDIA_METADATA", "The picture carries too much metadata.", "Save it without metadata.")


def _extrema(image: Image.Image) -> list[tuple[float, float]]:
    found = image.convert("RGB").getextrema()
    return [(low, high) for low, high in found]  # type: ignore[misc]


def _check_image_end(data: bytes, kind: str) -> None:
    """The last byte of the picture is the last byte of the file."""
    end = {"PNG": _png_end, "JPEG": _jpeg_end, "WEBP": _webp_end}[kind](data)
    if end is None:
        raise _broken("picture")
    if end < len(data):
        raise Refused(
            "E_MEDIA_EXTRA_DATA", f"{len(data) - end} bytes stand behind the picture.", "Save the picture again."
        )


def _png_end(data: bytes) -> int | None:
    at = 8
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        at += 12 + length
        if kind == b"IEND":
            return at if at <= len(data) else None
    return None


def _jpeg_end(data: bytes) -> int | None:
    found = data.rfind(b"\xff\xd9")
    return None if found < 0 else found + 2


def _webp_end(data: bytes) -> int | None:
    size = 8 + int(struct.unpack("<I", data[4:8])[0])
    return size if size <= len(data) else None


def _video(path: Path, container: str) -> MediaFacts:
    try:
        with av.open(str(path), format=container) as file:
            return _clip(file, container)
    except av.error.FFmpegError:
        raise _broken("clip") from None
    except (ValueError, OverflowError, MemoryError, EOFError):
        raise _broken("clip") from None


def _clip(file: av.container.InputContainer, container: str) -> MediaFacts:
    if len(file.streams) != 1 or len(file.streams.video) != 1:
        raise Refused(
            "E_VIDEO_STREAMS", "The clip has other streams than one of video.", "Drop sound, subtitles and data."
        )
    stream = file.streams.video[0]
    context = stream.codec_context
    if context.name not in CODECS and context.codec.canonical_name not in CODECS:
        raise Refused(
            "E_VIDEO_CODEC", f"The codec {context.name} is not read here.", "Use H.264 in mp4 or VP9 in webm."
        )
    _check_size(context.width, context.height)
    frames, static, last = _decode(file)
    if not LEAST_FRAMES <= frames <= MOST_FRAMES:
        raise Refused(
            "E_VIDEO_SHAPE", f"{frames} frames; we take {LEAST_FRAMES} to {MOST_FRAMES}.", "Cut or extend it."
        )
    if stream.frames and stream.frames != frames:
        raise Refused("E_VIDEO_FRAMES", f"It declares {stream.frames} frames and has {frames}.", "Encode it again.")
    rate = float(stream.average_rate) if stream.average_rate else None
    return MediaFacts(f"video/{container}", last[0], last[1], frames, rate, static)


def _decode(file: av.container.InputContainer) -> tuple[int, bool, tuple[int, int]]:
    """Count the frames by decoding them; note whether anything ever changes."""
    frames, static, first, time, size = 0, True, b"", None, (0, 0)
    for frame in file.decode(video=0):
        if frame.pts is None or (time is not None and frame.pts <= time):
            raise Refused("E_VIDEO_TIMING", "Time stamps are missing or do not rise.", "Encode it at one frame rate.")
        time, size, frames = frame.pts, (frame.width, frame.height), frames + 1
        small = bytes(frame.reformat(width=32, height=32, format="gray").planes[0])
        first = first or small
        static = static and small == first
        if frames > MOST_FRAMES:
            break
    return frames, static, size


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise _too_many_pixels()
    if min(width, height) < LEAST_SIDE or max(width, height) > MOST_ASPECT * min(width, height):
        raise Refused(
            "E_MEDIA_DIMENSIONS", f"{width} x {height} pixels.", f"At least {LEAST_SIDE} px, at most {MOST_ASPECT}:1."
        )


def _too_many_pixels() -> Refused:
    return Refused("E_MEDIA_PIXELS", "The picture is too large.", f"At most {MOST_PIXELS} pixels.")


def _broken(what: str) -> Refused:
    return Refused(
        "E_MEDIA_BROKEN", f"The {what} is damaged or cut short.", "Make the file again and check that it opens."
    )
