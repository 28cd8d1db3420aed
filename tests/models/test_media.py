"""Pictures and clips survive writing and reading; broken files say what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluators.media import (
    Pixels,
    Unreadable,
    frame_indices,
    probe,
    read_frames,
    read_image,
    sample_frames,
    sha256_file,
    write_mp4,
    write_png,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "frame_sampling.json"


def ramp(frames: int, height: int = 32, width: int = 48) -> Pixels:
    """Frames of one grey each, lighter and lighter."""
    return np.stack(
        [np.full((height, width, 3), 10 + 12 * i, dtype=np.uint8) for i in range(frames)]
    )


def test_a_picture_is_the_same_pixels_and_the_same_bytes(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (17, 23, 3), dtype=np.uint8)

    one, other = write_png(pixels, tmp_path / "a.png"), write_png(pixels, tmp_path / "b.png")

    assert np.array_equal(read_image(one), pixels)
    assert sha256_file(one) == sha256_file(other)
    assert probe(one).kind == "image"
    assert b"tEXt" not in one.read_bytes()


def test_a_clip_keeps_its_frames_size_and_rate(tmp_path: Path) -> None:
    file = write_mp4(ramp(12), tmp_path / "a.mp4", 8)

    facts, frames = probe(file), read_frames(file)

    assert (facts.kind, facts.width, facts.height, facts.frames, facts.fps) == (
        "video",
        48,
        32,
        12,
        8.0,
    )
    assert facts.duration == pytest.approx(1.5)
    assert np.abs(frames.astype(int) - ramp(12)).max() <= 3


def test_a_clip_is_the_same_bytes_every_time_and_starts_with_its_index(tmp_path: Path) -> None:
    one, other = (
        write_mp4(ramp(5), tmp_path / "a.mp4", 8),
        write_mp4(ramp(5), tmp_path / "b.mp4", 8),
    )

    content = one.read_bytes()
    assert content == other.read_bytes()
    assert 0 < content.index(b"moov") < content.index(b"mdat")


def test_a_small_clip_with_something_moving_in_it_is_the_same_bytes_in_eighty_encodes(
    tmp_path: Path,
) -> None:
    still = np.full((57, 24, 24, 3), 170, np.uint8)
    for step, picture in enumerate(still):
        picture[step % 18 : step % 18 + 5, 4 + step // 4 : 9 + step // 4] = (40, 70, 225)
        picture[10:14, 18 - step // 5 : 22 - step // 5] = (236, 208, 30)

    made = {write_mp4(still, tmp_path / "a.mp4", 10).read_bytes() for _ in range(80)}

    assert len(made) == 1


def test_odd_sizes_are_padded_because_browsers_play_only_even_ones(tmp_path: Path) -> None:
    facts = probe(write_mp4(ramp(3, 31, 45), tmp_path / "a.mp4", 23.976))

    assert (facts.width, facts.height) == (46, 32)
    assert facts.fps == pytest.approx(23.976, abs=0.001)


@pytest.mark.parametrize("rule", ["uniform-4", "first-3", "uniform-1", "uniform-20", "first-99"])
def test_sampled_frames_are_those_of_the_rule(rule: str, tmp_path: Path) -> None:
    file = write_mp4(ramp(14), tmp_path / "a.mp4", 8)

    frames = sample_frames(file, rule, "video")

    assert np.array_equal(frames, read_frames(file)[list(frame_indices(rule, 14))])


def test_frame_indices_are_the_golden_ones() -> None:
    cases = json.loads(GOLDEN.read_text())["cases"]

    assert cases
    for case in cases:
        given = case["input"]
        rule = f"{given['policy'].removesuffix('_n')}-{given['n']}"
        assert list(frame_indices(rule, given["length"])) == case["expected"]["indices"]


def test_a_picture_is_one_frame_and_never_a_clip(tmp_path: Path) -> None:
    file = write_png(ramp(1)[0], tmp_path / "a.png")

    assert sample_frames(file, "uniform-8", "image").shape == (1, 32, 48, 3)
    assert read_frames(file).shape == (1, 32, 48, 3)
    with pytest.raises(Unreadable, match="picture where a clip was expected"):
        sample_frames(file, "uniform-8", "video")


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Use 'uniform-n' or 'first-n'"):
        frame_indices("middle-3", 14)


def test_broken_files_say_what_they_are_not(tmp_path: Path) -> None:
    whole = write_mp4(ramp(8), tmp_path / "a.mp4", 8).read_bytes()
    picture = write_png(ramp(1)[0], tmp_path / "a.png").read_bytes()
    for name, content in {
        "half.mp4": whole[: len(whole) // 3],
        "text.mp4": b"not a clip",
        "empty.mp4": b"",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(Unreadable, match=name):
            sample_frames(tmp_path / name, "uniform-8", "video")
    (tmp_path / "half.png").write_bytes(picture[: len(picture) // 2])
    with pytest.raises(Unreadable, match=r"half\.png"):
        read_image(tmp_path / "half.png")


def test_a_clip_that_breaks_off_is_not_judged_by_its_rest(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (30, 64, 64, 3), dtype=np.uint8)
    whole = write_mp4(noise, tmp_path / "a.mp4", 8).read_bytes()
    (tmp_path / "cut.mp4").write_bytes(whole[: len(whole) * 3 // 4])

    with pytest.raises(Unreadable, match="breaks off"):
        sample_frames(tmp_path / "cut.mp4", "uniform-4", "video")
