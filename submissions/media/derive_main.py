"""The child that re-encodes: `python -m submissions.media.derive_main`. A file in, its pixels alone
out: PNG or H.264 mp4.

A job with a `canvas` (width, height, frames a second, most seconds) is for people who must not know
whose it is: every picture and clip comes out in the same size, at the same rate.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from infra.sandbox.confinement import cut_network, limit
from infra.sandbox.fence import fence

MEMORY, FILE_BYTES, OPEN_FILES = 3 << 30, 1 << 30, 64
GREY = (127, 127, 127)
FORMATS = ["PNG", "JPEG", "WEBP"]
ENCODER = {"crf": "16", "preset": "veryfast", "threads": "1"}


def main() -> None:
    """Do the jobs on stdin, one a line; a target that is there is whole."""
    jobs = [json.loads(line) for line in sys.stdin]
    limit(MEMORY, FILE_BYTES, OPEN_FILES)
    cut_network()
    fence(sorted({Path(job["target"]).parent for job in jobs}))
    for job in jobs:
        partial = f"{job['target']}.part"
        (_clip if job["video"] else _picture)(job["source"], partial, job.get("canvas"))
        os.replace(partial, job["target"])


def _picture(source: str, target: str, canvas: list[int] | None) -> None:
    """The pixels upright as 8-bit RGB, by the same rule as the judges see them."""
    from PIL import Image, ImageOps

    with Image.open(source, formats=FORMATS) as image:
        pixels = ImageOps.exif_transpose(image).convert("RGB")
    if canvas:
        pixels = _fit_on_canvas(pixels, canvas)
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(
        target, format="PNG", compress_level=6
    )


def _fit_on_canvas(picture: Any, canvas: list[int]) -> Any:
    """The picture fitted into the canvas, the rest grey."""
    from PIL import Image, ImageOps

    fitted = ImageOps.contain(picture, (canvas[0], canvas[1]))
    background = Image.new("RGB", (canvas[0], canvas[1]), GREY)
    background.paste(fitted, ((canvas[0] - fitted.width) // 2, (canvas[1] - fitted.height) // 2))
    return background


def _clip(source: str, target: str, canvas: list[int] | None) -> None:
    """Every frame again, at the same rate or the canvas's; neither tags nor other streams come
    along."""
    import av

    with (
        av.open(source) as read,
        av.open(target, "w", format="mp4", options=_mp4_options()) as written,
    ):
        source_stream = read.streams.video[0]
        source_stream.codec_context.thread_count = 1
        rate = source_stream.average_rate or Fraction(16)
        frames = (
            _resampled(read.decode(source_stream), rate, canvas)
            if canvas
            else read.decode(source_stream)
        )
        size, rate = (
            (canvas[:2], Fraction(canvas[2]))
            if canvas
            else ([source_stream.width, source_stream.height], rate)
        )
        stream: Any = written.add_stream("libx264", rate=rate, options=ENCODER)
        stream.pix_fmt, stream.width, stream.height = "yuv420p", *map(_even, size)
        for number, frame in enumerate(frames):
            fresh = frame.reformat(stream.width, stream.height, format="yuv420p")
            fresh.pts, fresh.time_base = number, 1 / rate
            written.mux(stream.encode(fresh))
        written.mux(stream.encode(None))


def _resampled(frames: Any, rate: Fraction, canvas: list[int]) -> Iterator[Any]:
    """At each moment of the canvas's clock the frame that was visible then, for as long as the
    canvas allows."""
    from av import VideoFrame

    fps, seconds = canvas[2], canvas[3]
    framed: Any = VideoFrame.from_image
    moment = 0
    for number, frame in enumerate(frames):
        if moment >= fps * seconds:
            return
        fitted = None
        while moment * rate < (number + 1) * fps and moment < fps * seconds:
            fitted = fitted or _fit_on_canvas(frame.to_image(), canvas)
            yield framed(fitted)
            moment += 1


def _mp4_options() -> dict[str, str]:
    return {"movflags": "+faststart", "fflags": "+bitexact", "map_metadata": "-1"}


def _even(side: int) -> int:
    """H.264 in this form takes even sides only."""
    return side + side % 2


if __name__ == "__main__":
    main()
