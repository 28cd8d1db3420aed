"""Lines of sight: where the cameras stand by a policy's calibration, where a thing is whose pixels
are known, and on which pixels a thing has to be seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import torch

from evaluators.worlds.tabletop.engine import Floats
from evaluators.worlds.tabletop.views import ROOM_CAMERAS, RoomCamera

FIELD_OF_VIEW, WRIST_FIELD_OF_VIEW = 45.0, 75.0
WRIST_AT = (0.0, 0.05, -0.097)
"""The wrist's camera in the hand's own axes; it looks along the third, the second is up in it."""

HAND_AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
"""The hand's axes, as columns, where it is not turned."""

NEAREST, FARTHEST = 0.03, 0.8


@dataclass(frozen=True, slots=True)
class Sight:
    """Where a camera of the room stands and how it is turned, as a policy's calibration has it."""

    origin: Floats
    ahead: Floats
    right: Floats
    up: Floats


@cache
def sights() -> tuple[Sight, ...]:
    """The calibrated cameras of the room; a trial's are a little off."""
    return tuple(_sight(camera) for camera in ROOM_CAMERAS)


def meeting(pixels: torch.Tensor) -> torch.Tensor:
    """Where the lines of sight of the room's two cameras come nearest to each other, [batch,
    things, 3] in metres, from places in the two pictures [batch, 2, things, across and down]."""
    first, second = (torch.from_numpy(sight.origin).float() for sight in sights())
    rays = [_rays(pixels[:, number], sight) for number, sight in enumerate(sights())]
    between = second - first
    across = (rays[0] * rays[1]).sum(-1, keepdim=True)
    there = (rays[0] * between).sum(-1, keepdim=True)
    back = (rays[1] * between).sum(-1, keepdim=True)
    spread = (1 - across**2).clamp(min=0.05)
    near, far = (there - across * back) / spread, (across * there - back) / spread
    return (first + near * rays[0] + second + far * rays[1]) / 2


def from_wrist(pixels: torch.Tensor, turns: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
    """How far beside the hand things are, [batch, things, 2] in metres: from places in the wrist's
    picture [batch, things, 2], the hand's turn [batch, 3] and how far above the hand each thing is
    [batch, things], mostly less than zero."""
    axes = _rotations(turns) @ torch.tensor(HAND_AXES)
    wide = float(np.tan(np.deg2rad(WRIST_FIELD_OF_VIEW / 2)))
    across, down = pixels[..., 0] * wide, pixels[..., 1] * wide
    rays = torch.stack([-across, -down, torch.ones_like(across)], dim=-1) @ axes.transpose(1, 2)
    camera = (axes @ torch.tensor(WRIST_AT))[:, None]
    fall = rays[..., 2].clamp(max=-0.2)
    far = ((below - camera[..., 2]) / fall).clamp(NEAREST, FARTHEST)
    return camera[..., :2] + far[..., None] * rays[..., :2]


def shown_in_room(places: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Where the room's cameras show places [n, things, 3], from -1 to 1 across and down: [n, 2,
    things, 2]."""
    return np.stack([_projected(places, sight) for sight in sights()], axis=1)


def shown_at_wrist(
    beside: npt.NDArray[np.floating], turns: npt.NDArray[np.floating]
) -> npt.NDArray[np.float32]:
    """Where the wrist's camera shows things this far from the hand [n, things, 3], [n, things, 2];
    past the edges, or 9 if they are behind it."""
    from scipy.spatial.transform import Rotation

    axes = Rotation.from_rotvec(turns).as_matrix() @ np.array(HAND_AXES)
    away = np.einsum("ntx,nxa->nta", beside, axes) - np.array(WRIST_AT)
    depth = away[..., 2] * np.tan(np.deg2rad(WRIST_FIELD_OF_VIEW / 2))
    seen = np.stack([-away[..., 0], -away[..., 1]], axis=-1) / np.maximum(depth, 1e-3)[..., None]
    return np.where(away[..., 2:] > NEAREST, np.clip(seen, -9, 9), 9.0).astype(np.float32)


def _sight(camera: RoomCamera) -> Sight:
    azimuth, elevation = np.deg2rad(camera.azimuth), np.deg2rad(camera.elevation)
    flat = np.cos(elevation)
    ahead = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    origin = np.array(camera.lookat) - camera.distance * ahead
    return Sight(origin, ahead, right, np.cross(right, ahead))


def _rays(pixels: torch.Tensor, sight: Sight) -> torch.Tensor:
    wide = float(np.tan(np.deg2rad(FIELD_OF_VIEW / 2)))
    right, up, ahead = (
        torch.from_numpy(axis).float() for axis in (sight.right, sight.up, sight.ahead)
    )
    rays = ahead + wide * (pixels[..., :1] * right - pixels[..., 1:] * up)
    return torch.nn.functional.normalize(rays, dim=-1)


def _rotations(turns: torch.Tensor) -> torch.Tensor:
    """Rotation matrices [batch, 3, 3] of axis-angles [batch, 3]."""
    x, y, z = turns.unbind(1)
    none = torch.zeros_like(x)
    rows = [torch.stack(row, 1) for row in ((none, -z, y), (z, none, -x), (-y, x, none))]
    return torch.as_tensor(torch.linalg.matrix_exp(torch.stack(rows, 1)))


def _projected(places: npt.NDArray[np.floating], sight: Sight) -> npt.NDArray[np.float32]:
    away = places - sight.origin
    depth = (away @ sight.ahead) * np.tan(np.deg2rad(FIELD_OF_VIEW / 2))
    shown = np.stack([away @ sight.right / depth, -(away @ sight.up) / depth], axis=-1)
    return np.asarray(np.clip(shown, -1.0, 1.0), np.float32)
