"""The frames of a stored rollout, and small pictures made large enough to be looked at."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

VIEWS = ("agent", "front", "wrist")
WIDTH = 190
Frames = npt.NDArray[np.uint8]


def read_frames(path: Path) -> Frames:
    """The views of a rollout [views, frames, height, width, RGB]; nothing in the file is
    executed."""
    with np.load(path, allow_pickle=False) as file:
        if "views" in file.files:
            return np.asarray(file["views"], np.uint8)
        return np.stack([np.asarray(file[f"view_{name}"], np.uint8) for name in VIEWS])


frames_of = lru_cache(maxsize=8)(read_frames)
"""For files named by their content, which stays: a page asks for the same rollout three times."""


def enlarged(picture: Frames, width: int = WIDTH) -> Frames:
    """Small pictures are shown with whole pixels, not blurred."""
    times = max(1, width // picture.shape[1])
    return picture.repeat(times, axis=0).repeat(times, axis=1)


def strip(frames: Frames, at: int) -> Frames:
    """All views at one moment, side by side."""
    return np.concatenate([enlarged(view[at]) for view in frames], axis=1)
