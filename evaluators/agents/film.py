"""Clips of a film, one frame at a time: colours converted exactly and tagged, frames fitted into a
size without distortion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import H264, Pixels, Unreadable

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

BT709, LIMITED = 1, 1
"""The matrix, primaries and transfer curve of high-definition video, and its range, 16 to 235."""
MOST_CROPPED = 1 / 8
"""A picture loses at most this share of a side to a crop; beyond it nothing is cut away."""


@dataclass(frozen=True, slots=True)
class FittedFrame:
    """A frame in the size that was asked for, and by which rule it got there."""

    pixels: Pixels
    rule: str


def write_film(frames: Iterable[Pixels], path: Path, fps: float) -> Path:
    """Write a clip that a browser plays, in its true colours: H.264, tagged BT.709, limited range.

    Frames are taken one by one; odd sizes are padded by their last line.
    """
    import av

    remaining = iter(frames)
    first = next(remaining, None)
    if first is None:
        raise ValueError("A clip needs at least one frame; none was passed.")
    rate = Fraction(fps).limit_denominator(1001)
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(path, "w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=rate, options=H264)
        stream.pix_fmt = "yuv420p"
        stream.height, stream.width = (side + side % 2 for side in first.shape[:2])
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = BT709
        context.color_range = LIMITED
        for pixels in chain((first,), remaining):
            container.mux(stream.encode(_yuv(pixels)))
        container.mux(stream.encode(None))
    return path


def film_frames(path: Path) -> Iterator[Pixels]:
    """The frames of a clip one after the other, by the colours that it is tagged with."""
    import av

    try:
        with av.open(path) as container:
            for frame in container.decode(video=0):
                yield _rgb(frame)
    except (av.FFmpegError, IndexError) as error:
        raise Unreadable(
            f"{path.name} cannot be decoded to its end ({error}). Encode it again as H.264 mp4."
        ) from error


def last_frame(path: Path) -> Pixels:
    """The frame that a clip ends with."""
    pixels = None
    for frame in film_frames(path):
        pixels = frame
    if pixels is None:
        raise Unreadable(f"{path.name} has no frame that can be decoded. Encode it again as mp4.")
    return pixels


def fit_frame(pixels: Pixels, width: int, height: int) -> FittedFrame:
    """Bring a picture of any aspect to a size: scaled alike in both directions, cropped in its
    middle where that cuts away little, padded with black where it would cut away more.

    >>> fit_frame(np.zeros((480, 832, 3), np.uint8), 512, 512).rule
    '832x480 padded to 512x512'
    >>> fit_frame(np.zeros((480, 832, 3), np.uint8), 1280, 720).rule
    '832x480 cropped to 1280x720'
    """
    source_height, source_width = pixels.shape[:2]
    if (source_width, source_height) == (width, height):
        return FittedFrame(pixels, f"{width}x{height} as it is")
    scales = (width / source_width, height / source_height)
    lost = 1 - min(scales) / max(scales)
    word = "cropped" if lost <= MOST_CROPPED else "padded"
    if lost * max(width, height) < 1:
        word = "scaled"
    scale = min(scales) if word == "padded" else max(scales)
    return FittedFrame(
        _placed(pixels, scale, width, height),
        f"{source_width}x{source_height} {word} to {width}x{height}",
    )


def _placed(pixels: Pixels, scale: float, width: int, height: int) -> Pixels:
    """The scaled picture in the middle of a black one of the size; what stands over is cut off."""
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(pixels))
    size = tuple(max(1, round(side * scale)) for side in picture.size)
    scaled = picture.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    canvas = Image.new("RGB", (width, height))
    canvas.paste(scaled, ((width - size[0]) // 2, (height - size[1]) // 2))
    return np.asarray(canvas, dtype=np.uint8)


def _yuv(pixels: Pixels) -> VideoFrame:
    import av
    from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

    height, width, _ = pixels.shape
    padding = ((0, height % 2), (0, width % 2), (0, 0))
    even = np.ascontiguousarray(np.pad(pixels, padding, mode="edge"))
    return VideoReformatter().reformat(
        av.VideoFrame.from_ndarray(even, format="rgb24"),
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709,
        dst_color_range=ColorRange.MPEG,
        interpolation=_exactly(),
    )


def _rgb(frame: VideoFrame) -> Pixels:
    converted = frame.reformat(format="rgb24", interpolation=_exactly())
    return np.asarray(converted.to_ndarray(), dtype=np.uint8)


def _exactly() -> int:
    """Rounded rather than cut off, which darkens, with colour at full width on the way."""
    from av.video.reformatter import Interpolation

    return int(
        Interpolation.BICUBIC
        | Interpolation.ACCURATE_RND
        | Interpolation.FULL_CHR_H_INT
        | Interpolation.FULL_CHR_H_INP
        | Interpolation.BITEXACT
    )
