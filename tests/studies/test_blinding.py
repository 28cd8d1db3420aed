"""What raters see of a video: all of it, in its own time and size where that is what they rate."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from evaluators.agents.film import last_frame, write_film
from evaluators.media import probe, write_mp4
from flows.studies.blinding import blinded, canvas_of
from flows.studies.protocols import rating_of
from infra.store import Store, fetch_blob, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "objects"))


def rated(store: Store, source: Path, protocol: str) -> Path:
    (blind,) = blinded(store, [str(source)], canvas_of(rating_of(protocol)))
    fetch_blob(store, blind.blob, source.with_name("rated.mp4"))
    return source.with_name("rated.mp4")


def test_a_video_of_75_seconds_reaches_raters_whole_at_its_own_rate(
    store: Store, tmp_path: Path
) -> None:
    frames = (np.full((48, 64, 3), n % 200, np.uint8) for n in range(75 * 24))
    source = write_film(frames, tmp_path / "long.mp4", 24)

    facts = probe(rated(store, source, "liva"))

    assert (facts.frames, facts.fps, facts.width, facts.height) == (75 * 24, 24.0, 64, 48)


def test_flicker_of_single_frames_is_still_there_for_raters(store: Store, tmp_path: Path) -> None:
    frames = [np.full((48, 64, 3), 200 * (n % 2), np.uint8) for n in range(24)]
    source = write_film(frames, tmp_path / "flicker.mp4", 24)

    with av.open(rated(store, source, "liva")) as container:
        levels = [int(frame.to_ndarray(format="gray")[24, 32]) for frame in container.decode()]

    assert all((level > 100) == (n % 2 == 1) for n, level in enumerate(levels))


@pytest.mark.parametrize(
    ("size", "seen"),
    [((832, 480), (832, 480)), ((1920, 1080), (1280, 720)), ((480, 832), (416, 720))],
)
def test_a_video_keeps_its_size_up_to_720_lines(
    store: Store, tmp_path: Path, size: tuple[int, int], seen: tuple[int, int]
) -> None:
    frames = [np.full((size[1], size[0], 3), 90, np.uint8)] * 3
    source = write_film(frames, tmp_path / "large.mp4", 16)

    facts = probe(rated(store, source, "liva"))

    assert (facts.width, facts.height) == seen


def test_colours_reach_raters_as_they_were_filmed(store: Store, tmp_path: Path) -> None:
    colour = (200, 40, 60)
    source = write_film([np.full((48, 64, 3), colour, np.uint8)] * 3, tmp_path / "red.mp4", 16)

    seen = rated(store, source, "liva")

    assert np.abs(last_frame(seen).astype(int) - colour).max() <= 2
    with av.open(seen) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (1, 1)


def test_other_protocols_show_one_canvas_and_rate_and_cut_nothing_either(
    store: Store, tmp_path: Path
) -> None:
    frames = np.full((70 * 4, 48, 64, 3), 90, np.uint8)
    source = write_mp4(frames, tmp_path / "plain.mp4", 4)

    facts = probe(rated(store, source, "tailor"))

    assert (facts.width, facts.height, facts.fps, facts.frames) == (640, 480, 12.0, 70 * 12)
