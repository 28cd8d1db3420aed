"""Small pictures of outputs: made once, kept in the object store beside what they show."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

from PIL import Image, ImageDraw

from infra.store import Missing, Store, StoreError, fetch_blob
from leaderboard.draw.rollouts import read_frames, strip
from leaderboard.queries.glance.headlines import ShownOutput
from submissions.media.shown_files import make_room, used
from submissions.media.trajectories import TRAJECTORY_TYPE

WIDTH = 320
ROW_WIDTH = 112
FRONT_WIDTH = 224
MOST_MADE = 12
"""Row pictures that one view of a page makes; the next view finds these and makes more."""
MOST_REMEMBERED = 5000
MOST_FRAMES = 512


def thumbnail(store: Store, sha256: str, media_type: str, width: int = WIDTH) -> bytes | None:
    """A WebP of a picture, a video's middle frame or a rollout's last; None if the file is gone or
    cannot be read."""
    if not sha256:
        return None
    key = _key(sha256, width)
    try:
        return store.get(key)
    except Missing:
        small = _make(store, sha256, media_type, width)
    except StoreError:
        return None
    if small:
        store.put(key, small)
    return small


def _key(sha256: str, width: int) -> str:
    return f"thumbnails/{width}-3/{sha256}.webp"


def row_addresses(
    store: Store, outputs: Mapping[str, ShownOutput], width: int = ROW_WIDTH
) -> dict[str, str]:
    """Small pictures for the rows of a table, each as an address that holds the picture itself."""
    to_make = MOST_MADE
    for output in outputs.values():
        if (output.media_sha256, width) not in _row_addresses:
            to_make -= _load_row(store, output, width, to_make > 0)
    return {
        entry: _row_addresses[output.media_sha256, width]
        for entry, output in outputs.items()
        if (output.media_sha256, width) in _row_addresses
    }


_row_addresses: dict[tuple[str, int], str] = {}
"""By the hash of what they show and their width, so that a page asks the store once."""


def _load_row(store: Store, output: ShownOutput, width: int, may_make: bool) -> bool:
    """Remember one picture; whether it had to be made."""
    key, make = _key(output.media_sha256, width), False
    try:
        make = not store.exists(key)
        if make and not may_make:
            return False
        small = thumbnail(store, output.media_sha256, output.media_type, width)
    except StoreError:
        return make
    if small:
        if len(_row_addresses) >= MOST_REMEMBERED:
            _row_addresses.clear()
        encoded = base64.b64encode(small).decode()
        _row_addresses[output.media_sha256, width] = f"data:image/webp;base64,{encoded}"
    return make


def media(store: Store, sha256: str, folder: Path) -> Path | None:
    """The output itself as a file in a folder, fetched once."""
    path = folder / sha256
    if used(path):
        return path
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetch_blob(store, sha256, path)
    except (StoreError, OSError):
        return None
    make_room(folder)
    return path


def _make(store: Store, sha256: str, media_type: str, width: int) -> bytes | None:
    with TemporaryDirectory(prefix="armillary-thumbnail-") as folder:
        path = media(store, sha256, Path(folder))
        if path is None:
            return None
        try:
            return _small(_picture(path, media_type), width)
        except (OSError, ValueError, KeyError, BadZipFile, Image.DecompressionBombError):
            return None


def _picture(path: Path, media_type: str) -> Image.Image:
    if media_type == TRAJECTORY_TYPE:
        return Image.fromarray(strip(read_frames(path), -1))
    if media_type.startswith("video/"):
        return with_play_mark(_middle_frame(path))
    return Image.open(path)


def with_play_mark(image: Image.Image) -> Image.Image:
    """A frame with the mark that says: this is a clip."""
    marked = image.convert("RGB")
    draw = ImageDraw.Draw(marked, "RGBA")
    x, y, size = marked.width / 2, marked.height / 2, min(marked.size) / 11
    draw.ellipse((x - 1.6 * size, y - 1.6 * size, x + 1.6 * size, y + 1.6 * size), (0, 0, 0, 130))
    triangle = [(x - 0.6 * size, y - size), (x - 0.6 * size, y + size), (x + size, y)]
    draw.polygon(triangle, (255, 255, 255, 235))
    return marked


def _small(image: Image.Image, width: int) -> bytes:
    shrunk = image.convert("RGB")
    shrunk.thumbnail((width, width))
    file = io.BytesIO()
    shrunk.save(file, "WEBP", quality=80)
    return file.getvalue()


def _middle_frame(path: Path) -> Image.Image:
    """Read twice, to count and to take: all frames of a large clip are gigabytes."""
    import av

    with av.open(str(path)) as container:
        count = sum(1 for _ in islice(container.decode(video=0), MOST_FRAMES))
    with av.open(str(path)) as container:
        middle = next(islice(container.decode(video=0), count // 2, None), None)
        if middle is None:
            raise ValueError("no frames")
        return Image.fromarray(middle.to_ndarray(format="rgb24"))
