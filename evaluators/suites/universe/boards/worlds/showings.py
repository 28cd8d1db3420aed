"""Eight ways of showing a rollout to a judge, whose answers are votes: as it is, and under seven
conditions that change no action and nobody on the screen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Pixels

Floats = NDArray[np.float32]
SMALL = (128, 128)
HUD = 0.16
"""Share of the height that a status bar takes at the lower edge."""
FOG, FOG_COLOUR = 0.45, (150, 156, 164)
DARK = 0.45
DRIFT = 40.0
"""Grey levels by which red gains and blue loses until the last frame."""
ASSET = 0.22
"""Side of the square whose texture is missing, as a share of the height."""
GRAIN = 14.0


def as_it_is(frames: Pixels) -> Pixels:
    """Nothing is changed."""
    return frames


def small(frames: Pixels) -> Pixels:
    """128 x 128 pixels, the size of the paper's small world model."""
    return resized(frames, SMALL)


def hud_occlusion(frames: Pixels) -> Pixels:
    """A status bar with panels hides the lower edge."""
    shown = frames.copy()
    height, width = shown.shape[1:3]
    top = height - max(2, round(HUD * height))
    shown[:, top:] = (70, 66, 60)
    shown[:, top : top + 1] = (140, 132, 120)
    for panel in range(5):
        left = (2 * panel + 1) * width // 11
        shown[:, top + 2 : height - 1, left : left + width // 11] = (38, 34, 30)
    return shown


def appearance_drift(frames: Pixels) -> Pixels:
    """Colours wander from frame to frame: red gains, blue loses."""
    share = np.linspace(0, 1, len(frames), dtype=np.float32)[:, None, None, None]
    return _pixels(frames + share * np.array([DRIFT, 0.0, -DRIFT], np.float32))


def missing_asset(frames: Pixels) -> Pixels:
    """A square in the upper left corner has lost its texture: a chessboard of violet and black."""
    shown = frames.copy()
    side = max(4, round(ASSET * frames.shape[1]))
    rows, columns = np.indices((side, side)) * 4 // side
    board = ((rows + columns) % 2)[..., None] * np.array([200, 0, 200])
    shown[:, :side, :side] = board.astype(np.uint8)
    return shown


def fog(frames: Pixels) -> Pixels:
    """Everything fades towards a grey."""
    return _pixels((1 - FOG) * frames.astype(np.float32) + FOG * np.array(FOG_COLOUR, np.float32))


def dark(frames: Pixels) -> Pixels:
    """Less than half of the light."""
    return _pixels(DARK * frames.astype(np.float32))


def grain(frames: Pixels) -> Pixels:
    """Noise like that of a camera at night, the same each time."""
    rng = np.random.default_rng(8)
    return _pixels(frames + GRAIN * rng.standard_normal(frames.shape, np.float32))


SHOWINGS: dict[str, Callable[[Pixels], Pixels]] = {
    "plain": as_it_is,
    "small": small,
    "hud_occlusion": hud_occlusion,
    "appearance_drift": appearance_drift,
    "missing_asset": missing_asset,
    "fog": fog,
    "dark": dark,
    "grain": grain,
}
"""The settings that a judge votes over, by name."""


def resized(frames: Pixels, size: tuple[int, int]) -> Pixels:
    """The frames in another size (width, height): averaged when shrunk, else interpolated."""
    from PIL import Image

    height, width = frames.shape[1:3]
    if (width, height) == size:
        return frames
    shrinks = size[0] <= width and size[1] <= height
    how = Image.Resampling.BOX if shrinks else Image.Resampling.BICUBIC
    return np.stack([np.asarray(Image.fromarray(frame).resize(size, how)) for frame in frames])


def _pixels(values: Floats) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)
