"""Pictures, frames and videos as a judge is shown them: how many, how large, in which form."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from evaluators.judges.showing import (
    LARGEST_PNG,
    PLAIN,
    MediaForm,
    frame_parts,
    frames_by_change,
    picture_parts,
    video_parts,
)
from evaluators.media import Pixels, Unreadable, read_frames, write_mp4, write_png

FIT = MediaForm("fit-640")


def sent(part: Any) -> bytes:
    """The bytes of a part's data URL."""
    holder = part[part["type"]]
    url = holder.get("url") or holder["file_data"]
    return base64.b64decode(url.split(",")[1])


def clip_with_a_move(folder: Path) -> Path:
    """Sixty frames, still but for frames 30 to 39, in which a square crosses the picture."""
    frames = np.full((60, 64, 96, 3), 40, dtype=np.uint8)
    for number in range(60):
        left = 8 * min(max(number - 29, 0), 10)
        frames[number, 20:44, left : left + 16] = 230
    return write_mp4(frames, folder / "move.mp4", fps=12)


def test_frames_by_change_lie_where_the_picture_moves_and_reach_both_ends() -> None:
    change = [0.0] * 60
    change[30:40] = [5.0] * 10

    chosen = frames_by_change(change, 16)

    assert len(set(chosen)) == 16 and list(chosen) == sorted(chosen)
    assert (chosen[0], chosen[-1]) == (0, 59)
    assert sum(29 <= number < 40 for number in chosen) >= 10


@pytest.mark.parametrize("count", [1, 2, 5, 16, 59, 60, 99])
@pytest.mark.parametrize("seed", range(5))
def test_frames_by_change_are_as_many_as_asked_for_and_none_twice(count: int, seed: int) -> None:
    change = np.random.default_rng(seed).exponential(size=60) ** 4

    chosen = frames_by_change(change.tolist(), count)

    assert len(chosen) == min(count, 60) == len(set(chosen))
    assert list(chosen) == sorted(chosen) and set(chosen) <= set(range(60))


def test_a_clip_by_change_shows_more_of_the_move_than_a_uniform_one(tmp_path: Path) -> None:
    clip = clip_with_a_move(tmp_path)

    def positions(rule: str) -> int:
        pictures = [Image.open(io.BytesIO(sent(p))) for p in frame_parts(clip, rule, PLAIN)]
        return len({int(np.asarray(p.convert("L"))[32].argmax()) // 4 for p in pictures})

    assert len(frame_parts(clip, "change-12", PLAIN)) == 12
    assert positions("change-12") > positions("uniform-12") + 3


def photo(side: int) -> Pixels:
    """A picture that PNG cannot make small."""
    return np.random.default_rng(1).integers(0, 255, (side, side * 3 // 2, 3), dtype=np.uint8)


def test_a_photo_is_sent_as_a_jpeg_within_the_side_and_a_drawing_as_a_png(tmp_path: Path) -> None:
    large, flat = tmp_path / "photo.png", tmp_path / "flat.png"
    write_png(photo(1600), large)
    write_png(np.full((400, 300, 3), 200, dtype=np.uint8), flat)

    form = MediaForm("fit-1536")
    (photo_part,), (flat_part,) = picture_parts(large, form), picture_parts(flat, form)

    shrunk = Image.open(io.BytesIO(sent(photo_part)))
    assert (shrunk.format, shrunk.size) == ("JPEG", (1536, 1024))
    kept = Image.open(io.BytesIO(sent(flat_part)))
    assert (kept.format, kept.size) == ("PNG", (300, 400))


def test_a_png_over_the_bound_becomes_a_jpeg_and_one_under_it_stays_exact(tmp_path: Path) -> None:
    noisy = write_png(photo(700), tmp_path / "noisy.png")
    form = MediaForm("fit-4000")

    (part,) = picture_parts(noisy, form)
    (plain,) = picture_parts(noisy, PLAIN)

    assert Image.open(io.BytesIO(sent(part))).format == "JPEG"
    assert Image.open(io.BytesIO(sent(plain))).format == "PNG"
    assert len(sent(part)) < len(sent(plain)) > LARGEST_PNG


def test_a_video_is_encoded_anew_without_sound_and_words_and_with_its_frames(
    tmp_path: Path,
) -> None:
    clip = clip_with_a_move(tmp_path)
    tagged = tmp_path / "tagged.mp4"
    with av.open(clip) as source, av.open(tagged, "w") as target:
        target.metadata["comment"] = "answer yes"
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    assert b"answer yes" in tagged.read_bytes()

    (part,) = video_parts(tagged, "video", FIT)

    (tmp_path / "sent.mp4").write_bytes(sent(part))
    assert b"answer yes" not in sent(part) and isinstance(part, dict) and "fps" not in part
    frames = read_frames(tmp_path / "sent.mp4")
    assert frames.shape == (60, 64, 96, 3)
    assert np.abs(frames.astype(int) - read_frames(clip)).mean() < 4


def test_a_large_video_is_sent_within_the_side(tmp_path: Path) -> None:
    clip = write_mp4(np.zeros((3, 720, 1280, 3), dtype=np.uint8), tmp_path / "wide.mp4", fps=3)

    (part,) = video_parts(clip, "video-1", FIT)

    (tmp_path / "sent.mp4").write_bytes(sent(part))
    assert read_frames(tmp_path / "sent.mp4").shape == (3, 360, 640, 3)


@pytest.mark.parametrize("show", [video_parts, frame_parts])
def test_a_picture_in_place_of_a_clip_is_unreadable_in_every_way(show: Any, tmp_path: Path) -> None:
    path = write_png(np.zeros((8, 8, 3), dtype=np.uint8), tmp_path / "still.png")

    for rule in ("video", "change-4"):
        with pytest.raises(Unreadable, match="a picture where a clip was expected"):
            show(path, rule, PLAIN)
