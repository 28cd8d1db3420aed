"""Media that tell nothing of their maker: one format, one canvas, one frame rate, no metadata."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from evaluators.media import Pixels, Unreadable, probe, read_frames, read_image, write_mp4, write_png
from infra.store import Store, fetch_blob, put_blob
from leaderboard.studies.forms import Medium

WIDTH, HEIGHT, FPS = 640, 480, 12.0
LONGEST = 60.0
GREY = 127


def blinded(store: Store, media: Path, letter: str) -> Medium:
    """Re-encode a picture or clip for raters and put it into the store."""
    with tempfile.TemporaryDirectory(prefix="armillary-blind-") as folder:
        facts = probe(media)
        if facts.kind == "image":
            made = write_png(on_canvas(read_image(media)), Path(folder) / "shown.png")
            return Medium(letter, put_blob(store, made), "image/png")
        made = write_mp4(_resampled(media, facts.fps), Path(folder) / "shown.mp4", FPS)
        return Medium(letter, put_blob(store, made), "video/mp4")


def blinded_blob(store: Store, sha256: str, suffix: str, letter: str) -> Medium:
    """The same for a file of the store."""
    with tempfile.TemporaryDirectory(prefix="armillary-blind-") as folder:
        path = Path(folder) / f"media{suffix}"
        fetch_blob(store, sha256, path)
        return blinded(store, path, letter)


def on_canvas(pixels: Pixels) -> Pixels:
    """The picture fitted into the canvas, the rest grey."""
    from PIL import Image, ImageOps

    image = ImageOps.contain(Image.fromarray(pixels), (WIDTH, HEIGHT))
    canvas = Image.new("RGB", (WIDTH, HEIGHT), (GREY, GREY, GREY))
    canvas.paste(image, ((WIDTH - image.width) // 2, (HEIGHT - image.height) // 2))
    return np.asarray(canvas, dtype=np.uint8)


def _resampled(media: Path, fps: float) -> list[Pixels]:
    """The clip at one frame rate for all: each moment shows the frame that was visible then."""
    frames = read_frames(media)
    if not len(frames):
        raise Unreadable(f"{media.name} has no frames.")
    seconds = min(len(frames) / fps, LONGEST)
    moments = range(max(1, round(seconds * FPS)))
    return [on_canvas(frames[min(int(moment / FPS * fps), len(frames) - 1)]) for moment in moments]
