"""Small pictures of outputs: made once, kept in the object store beside what they show."""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

from PIL import Image

from infra.store import Missing, Store, StoreError, fetch_blob
from leaderboard.draw.rollouts import read_frames, strip
from submissions.media.trajectories import TRAJECTORY_TYPE

WIDTH = 320


def thumbnail(store: Store, sha256: str, media_type: str) -> bytes | None:
    """A WebP of a picture, a video's middle frame or a rollout's last; None if the file is gone or
    cannot be read."""
    key = f"thumbnails/{WIDTH}/{sha256}.webp"
    try:
        return store.get(key)
    except Missing:
        small = _make(store, sha256, media_type)
    except StoreError:
        return None
    if small:
        store.put(key, small)
    return small


def media(store: Store, sha256: str, folder: Path) -> Path | None:
    """The output itself as a file in a folder, fetched once."""
    path = folder / sha256
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetch_blob(store, sha256, path)
    except (StoreError, OSError):
        return None
    return path


def _make(store: Store, sha256: str, media_type: str) -> bytes | None:
    with TemporaryDirectory(prefix="armillary-thumbnail-") as folder:
        path = media(store, sha256, Path(folder))
        if path is None:
            return None
        try:
            return _small(_picture(path, media_type))
        except (OSError, ValueError, KeyError, BadZipFile, Image.DecompressionBombError):
            return None


def _picture(path: Path, media_type: str) -> Image.Image:
    if media_type == TRAJECTORY_TYPE:
        return Image.fromarray(strip(read_frames(path), -1))
    return _middle_frame(path) if media_type.startswith("video/") else Image.open(path)


def _small(image: Image.Image) -> bytes:
    shrunk = image.convert("RGB")
    shrunk.thumbnail((WIDTH, WIDTH))
    file = io.BytesIO()
    shrunk.save(file, "WEBP", quality=80)
    return file.getvalue()


def _middle_frame(path: Path) -> Image.Image:
    import av

    with av.open(str(path)) as container:
        frames = [frame for _, frame in zip(range(512), container.decode(video=0), strict=False)]
        if not frames:
            raise ValueError("no frames")
        return Image.fromarray(frames[len(frames) // 2].to_ndarray(format="rgb24"))
