"""Writes an exam's media so that sizes tell nothing: pictures uncompressed, clips of one length."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluators.media import Pixels, write_mp4

FPS = 8.0
CLIP_BYTES = 192 << 10
BOX_HEADER = 8


def write_picture(pixels: Pixels, path: Path) -> Path:
    """Write a PNG that is as large as its pixels."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.ascontiguousarray(pixels)).save(path, format="PNG", compress_level=0)
    return path


def write_clip(frames: Pixels, path: Path) -> Path:
    """Write an mp4 of `CLIP_BYTES`; behind the clip stands a box of zeros, which players skip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spare = CLIP_BYTES - write_mp4(frames, path, FPS).stat().st_size
    if spare < BOX_HEADER:
        raise ValueError(
            f"{path.name} is {-spare} bytes too large. Draw a plainer clip, or raise CLIP_BYTES."
        )
    with path.open("ab") as file:
        file.write(spare.to_bytes(4, "big") + b"free" + bytes(spare - BOX_HEADER))
    return path
