"""The child that re-encodes: `python -m submissions.deriving`. One file in, its pixels alone out: PNG or H.264 mp4."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

from infra.confinement import cut_network, limit
from infra.fence import fence

MEMORY, FILE_BYTES, OPEN_FILES = 3 << 30, 1 << 30, 64
FORMATS = ["PNG", "JPEG", "WEBP"]
ENCODER = {"crf": "16", "preset": "veryfast", "threads": "1"}


def main() -> None:
    """Do the one job on stdin; ending well is the answer."""
    job = json.loads(sys.stdin.readline())
    limit(MEMORY, FILE_BYTES, OPEN_FILES)
    cut_network()
    fence([Path(job["target"]).parent])
    (_clip if job["video"] else _picture)(job["source"], job["target"])


def _picture(source: str, target: str) -> None:
    """The pixels upright as 8-bit RGB, by the same rule as the judges see them."""
    from PIL import Image, ImageOps

    with Image.open(source, formats=FORMATS) as image:
        pixels = ImageOps.exif_transpose(image).convert("RGB")
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(target, format="PNG", compress_level=6)


def _clip(source: str, target: str) -> None:
    """Every frame again, at the same rate; neither tags nor other streams come along."""
    import av

    with av.open(source) as read, av.open(target, "w", format="mp4", options=_plain()) as written:
        found = read.streams.video[0]
        found.codec_context.thread_count = 1
        rate = found.average_rate or Fraction(16)
        stream: Any = written.add_stream("libx264", rate=rate, options=ENCODER)
        stream.pix_fmt, stream.width, stream.height = "yuv420p", _even(found.width), _even(found.height)
        for number, frame in enumerate(read.decode(found)):
            fresh = frame.reformat(stream.width, stream.height, format="yuv420p")
            fresh.pts, fresh.time_base = number, 1 / rate
            written.mux(stream.encode(fresh))
        written.mux(stream.encode(None))


def _plain() -> dict[str, str]:
    return {"movflags": "+faststart", "fflags": "+bitexact", "map_metadata": "-1"}


def _even(side: int) -> int:
    """H.264 in this form takes even sides only."""
    return side + side % 2


if __name__ == "__main__":
    main()
