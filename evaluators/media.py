"""Pictures and clips: hashes, encode and decode, and which frames a judge sees. No torch here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.metrics.sampling import choose_frames

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from PIL.Image import Image

Pixels: TypeAlias = NDArray[np.uint8]
"""Height, width, RGB; a clip has frames in front."""

H264 = {"crf": "16", "preset": "medium", "threads": "1", "x264-params": "mbtree=0"}
"""One thread and no macroblock tree, which is not the same each time: the same frames are the same
bytes."""


class Unreadable(ValueError):
    """The file is not a picture or clip that can be decoded; the message says which and why."""


@dataclass(frozen=True, slots=True)
class MediaProperties:
    """What a file says about itself; a picture is one frame without a rate."""

    kind: Literal["image", "video"]
    width: int
    height: int
    frames: int
    fps: float
    duration: float


def sha256_file(path: Path) -> str:
    """The hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_image(path: Path) -> Pixels:
    """A picture as RGB, turned upright if its camera says so."""
    from PIL import ImageOps

    with _picture(path) as image:
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"), dtype=np.uint8)


def write_png(pixels: Pixels, path: Path) -> Path:
    """Write a picture without metadata: the same pixels are the same bytes."""
    from PIL import Image

    Image.fromarray(np.ascontiguousarray(pixels)).save(path, format="PNG", compress_level=6)
    return path


def write_mp4(
    frames: Pixels | Sequence[Pixels], path: Path, fps: float, crf: int | None = None
) -> Path:
    """Write a clip that a browser plays: H.264, yuv420p, index in front, odd sizes padded by their
    last line; a higher `crf` than the usual 16 makes it smaller and coarser."""
    import av

    rate = Fraction(fps).limit_denominator(1001)
    with av.open(
        path, "w", format="mp4", options={"movflags": "+faststart", "fflags": "+bitexact"}
    ) as container:
        first = _even(frames[0])
        options = H264 if crf is None else {**H264, "crf": str(crf)}
        stream = container.add_stream("libx264", rate=rate, options=options)
        stream.pix_fmt, stream.height, stream.width = "yuv420p", first.shape[0], first.shape[1]
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(_even(pixels), format="rgb24")))
        container.mux(stream.encode(None))
    return path


def drop_sound(path: Path) -> bool:
    """Leave nothing but the picture in a clip, its frames untouched; whether there was more. A file
    that is no clip stays as it is, for whoever looks at it next."""
    import av

    silent = path.with_name(f"{path.stem}-silent.mp4")
    try:
        with av.open(path) as clip:
            if len(clip.streams) == len(clip.streams.video) == 1 or not clip.streams.video:
                return False
            with av.open(silent, "w", format="mp4", options={"movflags": "+faststart"}) as copy:
                stream = copy.add_stream_from_template(clip.streams.video[0])
                for packet in clip.demux(clip.streams.video[0]):
                    if packet.dts is not None:
                        packet.stream = stream
                        copy.mux(packet)
    except (av.FFmpegError, ValueError):
        silent.unlink(missing_ok=True)
        return False
    silent.replace(path)
    return True


def read_frames(path: Path) -> Pixels:
    """All frames of a clip, or the one of a picture: frames, height, width, RGB."""
    if _is_picture(path):
        return read_image(path)[None]
    return _stack(path, [_rgb(frame) for frame in _decode(path)])


def each_frame(path: Path) -> Iterator[Pixels]:
    """The frames of a clip one after the other; a picture is refused."""
    if _is_picture(path):
        raise Unreadable(f"{path.name} is a picture where a clip was expected. Send an mp4.")
    yield from map(_rgb, _decode(path))


def probe(path: Path) -> MediaProperties:
    """Kind, size, frames and rate, from the headers where they say so and by counting where they do
    not."""
    if _is_picture(path):
        height, width, _ = read_image(path).shape
        return MediaProperties("image", width, height, 1, 0.0, 0.0)
    with _clip(path) as container:
        stream = container.streams.video[0]
        fps = float(stream.average_rate or 0)
        width, height, declared_frames = stream.width, stream.height, stream.frames
    frames = declared_frames or sum(1 for _ in _decode(path))
    return MediaProperties("video", width, height, frames, fps, frames / fps if fps else 0.0)


def frame_indices(rule: str, total: int) -> tuple[int, ...]:
    """Which of a clip's frames the rule shows.

    >>> frame_indices("uniform-4", 14), frame_indices("first-4", 3)
    ((0, 4, 9, 13), (0, 1, 2))
    """
    how, _, number = rule.partition("-")
    if how not in {"uniform", "first"} or not number.isdigit() or int(number) < 1:
        raise ValueError(
            f"The frame rule {rule!r} is not known. Use 'uniform-n' or 'first-n', for example "
            "'uniform-8'."
        )
    return choose_frames(total, int(number), "first_n" if how == "first" else "uniform_n")


def sample_frames(path: Path, rule: str, modality: str) -> Pixels:
    """The frames a judge sees: one of a picture, by the rule of a clip."""
    if modality == "image":
        return read_image(path)[None]
    if _is_picture(path):
        raise Unreadable(f"{path.name} is a picture where a clip was expected. Send an mp4.")
    total = _count(path)
    indices = frame_indices(rule, total)
    pixels_by_index = {
        i: _rgb(frame) for i, frame in _until(path, max(indices, default=-1)) if i in indices
    }
    if len(pixels_by_index) < len(set(indices)):
        frames = read_frames(path)
        return frames[list(frame_indices(rule, len(frames)))]
    return _stack(path, [pixels_by_index[i] for i in indices])


def _even(pixels: Pixels) -> Pixels:
    height, width, _ = pixels.shape
    return np.ascontiguousarray(
        np.pad(pixels, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    )


def _rgb(frame: VideoFrame) -> Pixels:
    return np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8)


def _stack(path: Path, frames: Sequence[Pixels]) -> Pixels:
    if not frames:
        raise Unreadable(
            f"{path.name} has no frame that can be decoded. Encode it again as H.264 mp4."
        )
    return np.stack(frames)


def _count(path: Path) -> int:
    """Frames by counting packets, which costs no decoding."""
    with _clip(path) as container:
        return sum(1 for packet in container.demux(video=0) if packet.size)


def _until(path: Path, last: int) -> Iterator[tuple[int, VideoFrame]]:
    for i, frame in enumerate(_decode(path)):
        yield i, frame
        if i >= last:
            return


def _decode(path: Path) -> Iterator[VideoFrame]:
    import av

    with _clip(path) as container:
        try:
            yield from container.decode(video=0)
        except av.FFmpegError as error:
            raise Unreadable(
                f"{path.name} breaks off while decoding ({error}). Encode it again as H.264 mp4."
            ) from error


@contextmanager
def _clip(path: Path) -> Iterator[InputContainer]:
    import av

    try:
        container = av.open(path)
    except av.FFmpegError as error:
        raise Unreadable(
            f"{path.name} is neither a picture nor a clip ({error}). Send a PNG or an H.264 mp4."
        ) from error
    with container:
        if not container.streams.video:
            raise Unreadable(f"{path.name} has no video stream. Send an H.264 mp4.")
        yield container


@contextmanager
def _picture(path: Path) -> Iterator[Image]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            image.load()
            yield image
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise Unreadable(
            f"{path.name} cannot be read as a picture ({error}). Send a PNG."
        ) from error


def _is_picture(path: Path) -> bool:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return not getattr(image, "is_animated", False)
    except UnidentifiedImageError:
        return False
