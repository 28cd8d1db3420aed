"""Pictures of the table as few bytes: views side by side, a picture exactly or a clip as H.264."""

from __future__ import annotations

import io

import numpy as np

from evaluators.worlds.tabletop.views import VIEWS, Frames

H264 = {"preset": "veryslow", "threads": "1", "x264-params": "mbtree=0"}


def pack_pictures(pictures: Frames) -> bytes:
    """One moment [views, height, width, RGB] without loss."""
    from PIL import Image

    file = io.BytesIO()
    strip = np.concatenate(list(pictures), axis=1)
    Image.fromarray(strip).save(file, "WEBP", lossless=True, quality=100, method=6)
    return file.getvalue()


def unpack_pictures(data: bytes) -> Frames:
    """The moment again."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        strip = np.asarray(image.convert("RGB"), np.uint8)
    return np.stack(np.split(strip, len(VIEWS), axis=1))


def pack_clip(frames: Frames, quality: int) -> bytes:
    """Frames [views, moments, height, width, RGB], colours in full resolution; a larger number is
    fewer bytes."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        strips = np.concatenate(list(frames), axis=2)
        stream = container.add_stream("libx264", rate=10, options={**H264, "crf": str(quality)})
        stream.pix_fmt, stream.height, stream.width = "yuv444p", strips.shape[1], strips.shape[2]
        for strip in strips:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(strip), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return file.getvalue()


def unpack_clip(clip: bytes) -> Frames:
    """Frames out of such a clip, the same every time."""
    import av

    with av.open(io.BytesIO(clip), "r") as container:
        strips = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.stack(np.split(np.stack(strips), len(VIEWS), axis=2))
