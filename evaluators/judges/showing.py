"""How a picture or a clip is shown to a judge behind an endpoint: as pictures, frames or video."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from evaluators.contracts import Json
from evaluators.media import (
    H264,
    Pixels,
    Unreadable,
    each_frame,
    frame_indices,
    probe,
    read_image,
    sample_frames,
    write_mp4,
)

JPEG_QUALITY = 92
ENCODING = f"png, clips jpeg {JPEG_QUALITY}"
"""How pictures and frames are sent where nothing is said about their form; both are encoded anew
from pixels, so no metadata goes along."""

LARGEST_PNG = 1 << 20
THUMBNAIL = 64
STILL_SHARE = 0.25
"""Share of the frames that `change-n` spreads evenly, so that a slow clip is seen whole too."""

CHANGE = re.compile(r"change-([1-9]\d*)")
VIDEO = re.compile(r"video(?:-(\d+(?:\.\d+)?))?")
FIT = re.compile(r"fit-([1-9]\d*)")
RULES = "uniform-n, first-n, change-n, video or video-RATE (frames a second)"


@dataclass(frozen=True, slots=True)
class MediaForm:
    """In which form media are sent.

    `pictures` is "png" (as large as they are) or "fit-SIDE": no side longer than SIDE pixels, PNG
    up to a mebibyte, JPEG above. `video_part` is the kind of message part that holds a video.
    """

    pictures: str = "png"
    video_part: Literal["video_url", "file"] = "video_url"

    def __post_init__(self) -> None:
        if self.pictures != "png" and not FIT.fullmatch(self.pictures):
            raise ValueError(f"pictures is {self.pictures!r}. Use 'png' or 'fit-1536'.")
        if self.video_part not in ("video_url", "file"):
            raise ValueError(f"video_part is {self.video_part!r}. Use 'video_url' or 'file'.")

    @property
    def side(self) -> int:
        """The longest side in pixels; 0 is any."""
        fit = FIT.fullmatch(self.pictures)
        return int(fit[1]) if fit else 0

    def describe(self, frames: str) -> str:
        """What a judge's card says of the frames that it is shown."""
        pictures = (
            f"within {self.side} pixels, png up to {LARGEST_PNG} bytes, else jpeg {JPEG_QUALITY}"
        )
        if is_video(frames):
            size = f" within {self.side} pixels" if self.side else ""
            stills = pictures if self.side else "png"
            video = f"{frames} as {self.video_part}{size}, h264 crf {H264['crf']}"
            return f"{video}; pictures {stills}"
        return (
            f"{frames}, {pictures}, clips jpeg {JPEG_QUALITY}"
            if self.side
            else (f"{frames}, {ENCODING}")
        )


PLAIN = MediaForm()


def check_frames(rule: str) -> None:
    """Refuse a rule that shows no frames of a clip."""
    rate = VIDEO.fullmatch(rule)
    if CHANGE.fullmatch(rule) or (rate and float(rate[1] or 1) > 0):
        return
    try:
        frame_indices(rule, 1)
    except ValueError:
        raise ValueError(f"The frame rule {rule!r} is not known. Use {RULES}.") from None


def is_video(rule: str) -> bool:
    """Whether a clip is sent as a video rather than as frames."""
    return VIDEO.fullmatch(rule) is not None


def picture_parts(path: Path, form: MediaForm) -> list[Json]:
    """A picture as a part of a message."""
    pixels = _fitted(read_image(path), form.side)
    url = data_url(pixels, lossless=True)
    if form.side and len(url) * 3 // 4 > LARGEST_PNG:
        url = data_url(pixels, lossless=False)
    return [_image(url)]


def frame_parts(path: Path, rule: str, form: MediaForm) -> list[Json]:
    """The frames of a clip that the rule chooses, as parts of a message."""
    change = CHANGE.fullmatch(rule)
    frames = _changing(path, int(change[1])) if change else sample_frames(path, rule, "video")
    fitted = (_fitted(pixels, form.side) for pixels in frames)
    return [_image(data_url(pixels, lossless=False)) for pixels in fitted]


def video_parts(path: Path, rule: str, form: MediaForm) -> list[Json]:
    """A clip as one part of a message, encoded anew: without sound, titles and comments."""
    frames = [_fitted(pixels, form.side) for pixels in each_frame(path)]
    if not frames:
        raise Unreadable(f"{path.name} has no frame that can be decoded. Encode it again as mp4.")
    with TemporaryDirectory(prefix="clip-") as folder:
        clip = write_mp4(frames, Path(folder) / "clip.mp4", probe(path).fps or len(frames))
        url = "data:video/mp4;base64," + base64.b64encode(clip.read_bytes()).decode()
    part: dict[str, Json] = {"type": form.video_part, form.video_part: {"url": url}}
    if form.video_part == "file":
        part["file"] = {"filename": "clip.mp4", "file_data": url}
    video = VIDEO.fullmatch(rule)
    if video and video[1]:
        part["fps"] = float(video[1])
    return [part]


def data_url(pixels: Pixels, *, lossless: bool) -> str:
    """Pixels as a data URL: PNG, or JPEG where loss is allowed."""
    from PIL import Image

    buffer = io.BytesIO()
    image = Image.fromarray(pixels)
    if lossless:
        image.save(buffer, format="PNG", compress_level=1)
    else:
        image.save(buffer, format="JPEG", quality=JPEG_QUALITY, subsampling=0)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    return f"data:image/{'png' if lossless else 'jpeg'};base64,{encoded}"


def frames_by_change(change: Sequence[float], count: int) -> tuple[int, ...]:
    """Which frames to show: dense where much changes, first and last among them.

    `change` says for each frame how much it differs from the one before; the first is not read.

    >>> frames_by_change([0, 0, 0, 0, 0, 9, 9, 9, 0, 0, 0, 0], 5)
    (0, 5, 6, 7, 11)
    >>> frames_by_change([0, 0, 0, 0, 0, 0, 0], 4), frames_by_change([0, 1], 4)
    ((0, 2, 4, 6), (0, 1))
    """
    total = len(change)
    if total <= count:
        return tuple(range(total))
    moved = np.array([0.0, *change[1:]])
    steps = np.array([0.0, *[1.0] * (total - 1)]) / (total - 1)
    share = STILL_SHARE if moved.sum() > 0 else 1.0
    passed = np.cumsum(share * steps + (1 - share) * moved / (moved.sum() or 1.0))
    chosen: list[int] = []
    for place, target in enumerate(np.linspace(0, passed[-1], count)):
        nearest = int(np.abs(passed - target).argmin())
        lowest = chosen[-1] + 1 if chosen else 0
        chosen.append(min(max(nearest, lowest), total - count + place))
    return tuple(chosen)


def _changing(path: Path, count: int) -> Pixels:
    chosen = set(frames_by_change(list(_changes(path)), count))
    frames = [pixels for number, pixels in enumerate(each_frame(path)) if number in chosen]
    if not frames:
        raise Unreadable(f"{path.name} has no frame that can be decoded. Encode it again as mp4.")
    return np.stack(frames)


def _changes(path: Path) -> Iterator[float]:
    """How much each frame differs from the one before, on thumbnails; 0 for the first."""
    from PIL import Image

    before = None
    for pixels in each_frame(path):
        small = Image.fromarray(pixels).convert("L").resize((THUMBNAIL, THUMBNAIL))
        grey = np.asarray(small, dtype=np.float64)
        yield 0.0 if before is None else float(np.abs(grey - before).mean())
        before = grey


def _fitted(pixels: Pixels, side: int) -> Pixels:
    """Pixels made smaller so that no side is longer; 0 leaves them."""
    if not side or max(pixels.shape[:2]) <= side:
        return pixels
    from PIL import Image

    image = Image.fromarray(pixels)
    image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=None)
    return np.asarray(image, dtype=np.uint8)


def _image(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}
