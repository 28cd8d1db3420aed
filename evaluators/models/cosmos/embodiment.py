"""How a robot's views and actions look to Cosmos: views tiled into one picture, seven numbers an
action as ten."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

Floats = npt.NDArray[np.float32]
Frames = npt.NDArray[np.uint8]

SETTINGS = "world.json"
TIERS = {256: 256, 640: 480, 960: 720}
"""Of each square canvas that Cosmos conditions on, the name of its tier."""


@dataclass(frozen=True, slots=True)
class CosmosSettings:
    """What the weights do not say: cameras and size of a robot's pictures, how it samples, how far
    an action turns the hand, and the deviations of actions in the practice.

    `turn` is the angle in radians of a rotation of 1; `domain` one of Cosmos' single arms; `base`
    the folder that a LoRA goes on.
    """

    views: tuple[str, ...] = ("agent", "front", "wrist")
    height: int = 128
    width: int = 128
    rate: float = 10.0
    chunk: int = 24
    steps: int = 12
    domain: str = "robomind-franka"
    turn: float = 0.5
    action_scale: tuple[float, ...] = ()
    tau: float | None = None
    base: str = ""

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of tiles: as square as the number of views allows."""
        columns = int(np.ceil(np.sqrt(len(self.views))))
        return int(np.ceil(len(self.views) / columns)), columns

    @property
    def tier(self) -> int:
        """The smallest canvas that holds all tiles."""
        side = max(self.grid[0] * self.height, self.grid[1] * self.width)
        return next((tier for canvas, tier in TIERS.items() if side <= canvas), 720)


def read_settings(folder: Path) -> CosmosSettings:
    """Those beside the weights, or the defaults."""
    path = folder / SETTINGS
    if not path.is_file():
        return CosmosSettings()
    entries = json.loads(path.read_text("utf-8"))
    lists = {name: tuple(value) for name, value in entries.items() if isinstance(value, list)}
    return CosmosSettings(**{**entries, **lists})


def write_settings(settings: CosmosSettings, folder: Path) -> None:
    """Beside the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=1) + "\n", "utf-8")


def tiled(frames: Frames, settings: CosmosSettings) -> Frames:
    """Views [views, T, height, width, 3] as one picture a moment [T, ...]; what is left is black.

    >>> tiled(np.ones((3, 2, 4, 4, 3), np.uint8), CosmosSettings(height=4, width=4)).shape
    (2, 8, 8, 3)
    """
    rows, columns = settings.grid
    height, width = settings.height, settings.width
    canvas = np.zeros((frames.shape[1], rows * height, columns * width, 3), np.uint8)
    for number, view in enumerate(frames):
        canvas[:, _rows(number, settings), _columns(number, settings)] = view
    return canvas


def untiled(canvas: Frames, settings: CosmosSettings) -> Frames:
    """The views of a tiled picture."""
    return np.stack(
        [
            canvas[:, _rows(number, settings), _columns(number, settings)]
            for number in range(len(settings.views))
        ]
    )


def tile_of(view: int, settings: CosmosSettings) -> tuple[slice, slice]:
    """Where a view lies, in pixels."""
    return _rows(view, settings), _columns(view, settings)


def to_cosmos(actions: Floats, turn: float) -> Floats:
    """Position (3), axis-angle (3) and gripper (1) as position (3), two columns of the rotation's
    matrix (6) and gripper (1).

    >>> to_cosmos(np.zeros((1, 7), np.float32), 0.5)[0].tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    matrices = Rotation.from_rotvec(np.asarray(actions[:, 3:6], np.float64) * turn).as_matrix()
    columns = matrices[:, :, :2].transpose(0, 2, 1).reshape(len(actions), 6)
    return np.concatenate([actions[:, :3], columns, actions[:, 6:7]], axis=1).astype(np.float32)


def from_cosmos(numbers: Floats, turn: float) -> Floats:
    """Ten numbers as seven; the two columns are made a rotation first."""
    columns = np.asarray(numbers[:, 3:9], np.float64).reshape(-1, 2, 3)
    first = columns[:, 0] / np.maximum(np.linalg.norm(columns[:, 0], axis=1, keepdims=True), 1e-8)
    rest = columns[:, 1] - (first * columns[:, 1]).sum(1, keepdims=True) * first
    second = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-8)
    matrices = np.stack([first, second, np.cross(first, second)], axis=2)
    degenerate = np.abs(np.linalg.det(matrices) - 1) > 1e-3
    matrices[degenerate] = np.eye(3)
    turns = Rotation.from_matrix(matrices).as_rotvec() / turn
    return np.concatenate([numbers[:, :3], turns, numbers[:, 9:10]], axis=1).astype(np.float32)


def _rows(number: int, settings: CosmosSettings) -> slice:
    first = number // settings.grid[1] * settings.height
    return slice(first, first + settings.height)


def _columns(number: int, settings: CosmosSettings) -> slice:
    first = number % settings.grid[1] * settings.width
    return slice(first, first + settings.width)
