"""A lab's long recordings of another game, as the tests make them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DESCRIPTION = {
    "files": "*.npz",
    "rate": 10,
    "images": "images",
    "actions": "actions",
    "states": "states",
    "clip": 14,
    "labels": [
        {"label": "jumping up", "control": 7, "state": 2, "change": 1.0},
        {"label": "evading left", "control": 6},
    ],
    "characters": "^([A-Za-z]+)_",
}


def long_recording(path: Path, frames: int = 610) -> Path:
    """A recording of 610 frames with sixteen buttons: a jump in the second clip, an evasion in the
    fourth, both in the sixth."""
    rng = np.random.default_rng(len(path.name))
    actions, states = np.zeros((frames, 16), np.float32), np.zeros((frames, 3), np.float32)
    actions[17:22, 7] = actions[45:50, 6] = actions[72:76, 6] = actions[76:80, 7] = 1
    states[20:, 2] = 2
    states[76:, 2] = 5
    images = rng.integers(0, 255, (frames, 3, 18, 30), np.uint8)
    np.savez(path, images=images, actions=actions, states=states)
    return path


def recorded(folder: Path) -> Path:
    """Three of them and a file that is none."""
    folder.mkdir()
    for name in ("Gizmo_1.npz", "Cass_1.npz", "Cass_2.npz"):
        long_recording(folder / name)
    (folder / "Cass_3.npz").write_bytes(b"no arrays")
    return folder
