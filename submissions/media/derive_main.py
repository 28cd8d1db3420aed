"""The child that re-encodes: `python -m submissions.media.derive_main BYTES`. A file in, its pixels
alone out: PNG or H.264 mp4.

A job with a `canvas` (width, height, frames a second) is for people who must not know whose it is:
every picture and clip comes out in the same size, at the same rate. Without a rate a clip keeps its
own, and its size unless it is larger.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from infra.sandbox.confinement import cut_network, limit
from infra.sandbox.fence import fence

FILE_BYTES, OPEN_FILES = 1 << 30, 64
GREY = (127, 127, 127)
FORMATS = ["PNG", "JPEG", "WEBP"]
LIMITED = 1
"""The range of nearly all video: 16 is black and 235 is white."""
ENCODER = {"crf": "16", "preset": "veryfast", "threads": "1"}


def main() -> None:
    """Do the jobs on stdin, one a line; a target that is there is whole."""
    jobs = [json.loads(line) for line in sys.stdin]
    limit(int(sys.argv[1]), FILE_BYTES, OPEN_FILES)
    cut_network()
    fence(sorted({Path(job["target"]).parent for job in jobs}))
    for job in jobs:
        partial = f"{job['target']}.part"
        (_clip if job["video"] else _picture)(job["source"], partial, job.get("canvas"))
        os.replace(partial, job["target"])


def _picture(source: str, target: str, canvas: list[Any] | None) -> None:
    """The pixels upright as 8-bit RGB, by the same rule as the judges see them."""
    from PIL import Image, ImageOps

    with Image.open(source, formats=FORMATS) as image:
        pixels = ImageOps.exif_transpose(image).convert("RGB")
    if canvas and canvas[2]:
        pixels = _fit_on_canvas(pixels, canvas)
    elif canvas:
        pixels = pixels.resize(_within(pixels.size, canvas))
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(
        target, format="PNG", compress_level=6
    )


def _fit_on_canvas(picture: Any, canvas: list[Any]) -> Any:
    """The picture fitted into the canvas, the rest grey."""
    from PIL import Image, ImageOps

    fitted = ImageOps.contain(picture, (canvas[0], canvas[1]))
    background = Image.new("RGB", (canvas[0], canvas[1]), GREY)
    background.paste(fitted, ((canvas[0] - fitted.width) // 2, (canvas[1] - fitted.height) // 2))
    return background


def _clip(source: str, target: str, canvas: list[Any] | None) -> None:
    """Every frame again, at the same rate or the canvas's; neither tags, but for those of its
    colours, nor other streams come along."""
    import av
    from av.video.reformatter import VideoReformatter

    with (
        av.open(source) as read,
        av.open(target, "w", format="mp4", options=_mp4_options()) as written,
    ):
        source_stream = read.streams.video[0]
        source_stream.codec_context.thread_count = 1
        rate = source_stream.average_rate or Fraction(16)
        size = (source_stream.width, source_stream.height)
        frames: Any = read.decode(source_stream)
        if canvas and canvas[2]:
            frames = _resampled(frames, rate, canvas)
            size, rate = (canvas[0], canvas[1]), Fraction(canvas[2])
        elif canvas:
            size = _within(size, canvas)
        colours = _Colours() if canvas and canvas[2] else _colours(source_stream)
        stream: Any = written.add_stream("libx264", rate=rate, options=ENCODER)
        stream.pix_fmt, stream.width, stream.height = "yuv420p", *map(_even, size)
        colours.tag(stream)
        reformat = VideoReformatter().reformat
        for number, frame in enumerate(frames):
            fresh: Any = reformat(
                frame, stream.width, stream.height, "yuv420p", dst_color_range=colours.range or None
            )
            fresh.pts, fresh.time_base = number, 1 / rate
            written.mux(stream.encode(fresh))
        written.mux(stream.encode(None))


@dataclass(frozen=True, slots=True)
class _Colours:
    """Matrix, primaries, transfer curve and range of a clip, by their numbers in H.264; where
    nothing is said it stays unsaid."""

    matrix: int = 2
    primaries: int = 2
    curve: int = 2
    range: int = 0

    def tag(self, stream: Any) -> None:
        """Write them into a stream's head, so that every player shows the same colours."""
        context = stream.codec_context
        context.colorspace, context.color_primaries = self.matrix, self.primaries
        context.color_trc, context.color_range = self.curve, self.range


def _colours(source: Any) -> _Colours:
    """A clip's own colours; a full range becomes a limited one."""
    context = source.codec_context
    return _Colours(
        int(context.colorspace),
        int(context.color_primaries),
        int(context.color_trc),
        LIMITED if context.color_range else 0,
    )


def _resampled(frames: Any, rate: Fraction, canvas: list[Any]) -> Iterator[Any]:
    """At each moment of the canvas's clock the frame that was visible then."""
    from av import VideoFrame

    framed: Any = VideoFrame.from_image
    moment = 0
    for number, frame in enumerate(frames):
        fitted = None
        while moment * rate < (number + 1) * canvas[2]:
            fitted = fitted or _fit_on_canvas(frame.to_image(), canvas)
            yield framed(fitted)
            moment += 1


def _within(size: tuple[int, int], canvas: list[Any]) -> tuple[int, int]:
    """A size that fits the canvas, the same where it does already."""
    scale = min(1.0, canvas[0] / size[0], canvas[1] / size[1])
    return max(2, round(size[0] * scale)), max(2, round(size[1] * scale))


def _mp4_options() -> dict[str, str]:
    return {"movflags": "+faststart", "fflags": "+bitexact", "map_metadata": "-1"}


def _even(side: int) -> int:
    """H.264 in this form takes even sides only."""
    return side + side % 2


if __name__ == "__main__":
    main()
