"""Inspection of one clip: walks its boxes and decodes its video stream to the last frame. Runs in
the decoding child."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import av

from submissions.media.facts import (
    DARK,
    LEAST_FRAMES,
    MOST_FRAMES,
    MOST_PIXELS,
    MediaFacts,
    MediaRequirements,
    Refused,
    broken,
    check_size,
    extra,
)
from submissions.media.webm import check_elements

CODECS = ("h264", "hevc", "vp8", "vp9", "av1")
BOXES = {
    b"ftyp",
    b"styp",
    b"moov",
    b"moof",
    b"mdat",
    b"mfra",
    b"free",
    b"skip",
    b"wide",
    b"sidx",
    b"uuid",
    b"meta",
}
EBML = b"\x1aE\xdf\xa3"
STRIDE = 97
"""Every so many bytes of a frame's brightness are compared to see whether anything changes."""
GLANCE = 9_973
"""Every so many bytes tell of most frames that they are not black."""


@dataclass(slots=True)
class DecodingProgress:
    """What decoding has shown so far."""

    times: list[float]
    static: bool = True
    black: int = 0
    width: int = 0
    height: int = 0
    first: bytes = b""


def clip(data: bytes, container: str, requirements: MediaRequirements) -> MediaFacts:
    """What the clip is; Refused says what is wrong with it."""
    _check_container(data, container)
    try:
        with av.open(io.BytesIO(data), format=container) as file:
            return _facts(file, container, requirements)
    except Refused:
        raise
    except Exception:  # FFmpeg's errors, and what PyAV raises on values it did not foresee
        raise broken("clip") from None


def _check_container(data: bytes, container: str) -> None:
    if container == "webm":
        if not data.startswith(EBML):
            raise _no_clip()
        if b"webm" not in data[:64]:
            raise Refused(
                "E_MEDIA_MISMATCH",
                "The name says webm, the bytes are Matroska.",
                "Save it as webm or mp4.",
            )
        check_elements(data)
        return
    if data[4:8] != b"ftyp":
        raise _no_clip()
    _check_boxes(data)


def _check_boxes(data: bytes) -> None:
    """The boxes of an mp4 tile the file from end to end."""
    at, kinds = 0, set()
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind not in BOXES:
            raise extra(len(data) - at, "clip")
        if size == 1:
            size = int.from_bytes(data[at + 8 : at + 16], "big")
        size = size or len(data) - at
        if size < 8 or at + size > len(data):
            raise broken("clip")
        kinds.add(kind)
        at += size
    if at < len(data):
        raise extra(len(data) - at, "clip")
    if b"moov" not in kinds:
        raise broken("clip")


def _facts(file: Any, container: str, requirements: MediaRequirements) -> MediaFacts:
    if len(file.streams) != 1 or len(file.streams.video) != 1:
        raise Refused(
            "E_VIDEO_STREAMS",
            "The clip has other streams than one of video.",
            "Drop sound, subtitles and data.",
        )
    stream = file.streams.video[0]
    context = stream.codec_context
    if context.name not in CODECS and context.codec.canonical_name not in CODECS:
        raise Refused(
            "E_VIDEO_CODEC",
            f"The codec {context.name} is not read here.",
            "Use H.264 in mp4 or VP9 in webm.",
        )
    if not context.width or not context.height:
        raise Refused(
            "E_MEDIA_PIXELS",
            "It has no size that a decoder takes.",
            f"At most {MOST_PIXELS} pixels.",
        )
    check_size(context.width, context.height)
    context.thread_count = 1
    progress = _decode(file, stream, requirements.most_frames)
    _check_count(len(progress.times), stream.frames, requirements.most_frames)
    _check_times(progress.times)
    rate = float(stream.average_rate) if stream.average_rate else None
    facts = MediaFacts(
        f"video/{container}",
        progress.width,
        progress.height,
        len(progress.times),
        rate,
        progress.static,
        "YUV",
        progress.black,
    )
    _check_requirements(facts, requirements)
    return facts


def _decode(file: Any, stream: Any, most_frames: int) -> DecodingProgress:
    """Decode every frame; note when each is shown and whether anything ever changes."""
    progress = DecodingProgress([])
    for frame in _frames(file, stream, progress):
        if frame.time is None:
            raise _timing()
        progress.times.append(frame.time)
        if (frame.width, frame.height) != (
            progress.width or frame.width,
            progress.height or frame.height,
        ):
            raise Refused(
                "E_VIDEO_SHAPE",
                "The picture changes its size on the way.",
                "Encode it at one size.",
            )
        progress.width, progress.height = frame.width, frame.height
        check_size(frame.width, frame.height)
        _note_light(progress, memoryview(frame.planes[0]))
        if len(progress.times) > most_frames:
            break
    return progress


def _note_light(progress: DecodingProgress, plane: memoryview) -> None:
    """Whether this frame differs from the first and is black; most are told at a glance once
    something has moved."""
    if not progress.static and max(plane[::GLANCE]) > DARK:
        return
    light = bytes(plane[::STRIDE])
    progress.first = progress.first or light
    progress.static = progress.static and light == progress.first
    progress.black += max(light) <= DARK


def _frames(file: Any, stream: Any, progress: DecodingProgress) -> Iterator[Any]:
    """The frames; where they stop early, the count says so better than the decoder does."""
    try:
        yield from file.decode(stream)
    except av.error.FFmpegError:
        if not progress.times or not stream.frames:
            raise


def _check_count(frames: int, declared: int, most_frames: int) -> None:
    if declared and frames and declared != frames and frames <= most_frames:
        raise Refused(
            "E_VIDEO_FRAMES", f"It declares {declared} frames and has {frames}.", "Encode it again."
        )
    if not frames:
        raise broken("clip")
    if not LEAST_FRAMES <= frames <= most_frames:
        raise Refused(
            "E_VIDEO_SHAPE",
            f"{frames} frames; we take {LEAST_FRAMES} to {most_frames}.",
            f"Cut or extend it; a video of several steps may have {MOST_FRAMES} a step, if its "
            "steps are declared.",
        )


def _check_times(times: Sequence[float]) -> None:
    """Every frame is shown for the same time, but for the rounding of a container to
    milliseconds."""
    steps = [after - before for before, after in pairwise(times)]
    slack = max(0.0021, 0.02 * min(steps))
    if min(steps) <= 0 or times[0] < 0 or max(steps) - min(steps) > slack:
        raise _timing()


def _check_requirements(facts: MediaFacts, requirements: MediaRequirements) -> None:
    for name in ("frames", "fps", "width", "height"):
        want, got = getattr(requirements, name), getattr(facts, name)
        if want is not None and (got is None or abs(got - want) > 0.01 * want * (name == "fps")):
            raise Refused(
                "E_VIDEO_SHAPE",
                f"Asked: {name} {want}; got: {got}.",
                "Encode it as the suite asks.",
            )


def _timing() -> Refused:
    return Refused(
        "E_VIDEO_TIMING",
        "Time stamps are missing, do not rise or jump.",
        "Encode it at one frame rate.",
    )


def _no_clip() -> Refused:
    return Refused(
        "E_MEDIA_KIND", "This is not a clip we can read.", "Use H.264 in mp4 or VP9 in webm."
    )
