"""The eight showings of a rollout are real, and change neither actions nor sides."""

from __future__ import annotations

import numpy as np
import pytest

from evaluators.media import Pixels
from evaluators.suites.universe.boards.worlds.showings import SHOWINGS, resized


@pytest.fixture
def clip() -> Pixels:
    """A light square that walks to the right before a dark wall."""
    frames = np.full((14, 90, 150, 3), (70, 90, 60), np.uint8)
    for number, frame in enumerate(frames):
        frame[30:60, 20 + 7 * number : 40 + 7 * number] = (210, 180, 150)
    return frames


def test_there_are_eight_and_seven_of_them_change_what_is_seen(clip: Pixels) -> None:
    shown = {name: change(clip) for name, change in SHOWINGS.items()}

    assert len(shown) == 8 and np.array_equal(shown["plain"], clip)
    for name, frames in shown.items():
        assert frames.dtype == np.uint8 and len(frames) == len(clip)
        alike = resized(frames, (150, 90))
        assert name == "plain" or np.abs(alike.astype(int) - clip).mean() > 0.1, name
    assert len({frames.tobytes() for frames in shown.values()}) == 8


@pytest.mark.parametrize("name", SHOWINGS)
def test_what_moves_to_the_right_still_moves_to_the_right(name: str, clip: Pixels) -> None:
    frames = resized(SHOWINGS[name](clip), (150, 90)).astype(float)
    weights = frames[:, 30:60].mean((1, 3))
    weights -= np.median(weights, axis=1, keepdims=True)
    middles = (weights.clip(0) * np.arange(150)).sum(1) / weights.clip(0).sum(1)

    assert middles[-1] - middles[0] > 40


def test_the_same_clip_is_shown_the_same_each_time(clip: Pixels) -> None:
    for change in SHOWINGS.values():
        assert np.array_equal(change(clip), change(clip))


def test_the_small_one_is_small_and_the_bar_hides_the_lower_edge(clip: Pixels) -> None:
    small, bar = SHOWINGS["small"](clip), SHOWINGS["hud_occlusion"](clip)

    assert small.shape == (14, 128, 128, 3)
    assert np.array_equal(bar[:, :70], clip[:, :70])
    assert not (bar[:, -14:] == clip[:, -14:]).all(-1).any()
