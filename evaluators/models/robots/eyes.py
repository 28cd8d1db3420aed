"""Eyes for the table: a small network that reads off three pictures where hand and objects are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evaluators.worlds.tabletop.engine import Floats
from evaluators.worlds.tabletop.views import ROOM_CAMERAS, Frames, RoomCamera, shrink

OBJECTS, VIEWS = 4, 3
HAND, POSES, HELD = 8, 5 * OBJECTS, OBJECTS + 1
"""Hand: position, turn, fingers. A pose: position, sine and cosine of the yaw. Held: which, or
none."""

KNOWN = 1 + OBJECTS
FIELD_OF_VIEW = 45.0
CENTRE = (0.1, 0.0, 0.9)
SCALE = 0.2


@dataclass(frozen=True, slots=True)
class TableEyesConfig:
    """How well a pair of eyes can see: pixels, points it can follow, width of what it remembers."""

    pixels: int = 64
    channels: int = 20
    points: int = 16
    hidden: int = 192


class Trunk(nn.Module):
    """One view: where its learned points are, how sure of each, and a coarse impression."""

    def __init__(self, config: TableEyesConfig) -> None:
        super().__init__()
        middle = config.channels
        self.first = nn.Conv2d(3, 12, 5, 2, 2)
        self.second = nn.Conv2d(12, middle, 3, 1, 1)
        self.third = nn.Conv2d(middle, config.points, 3, 1, 1)
        self.norms = nn.ModuleList(
            [nn.BatchNorm2d(12), nn.BatchNorm2d(middle), nn.BatchNorm2d(config.points)]
        )
        self.sharpness = nn.Parameter(torch.tensor(4.0))
        self.coarse = nn.AdaptiveAvgPool2d(4)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Features [batch, 3 * points + 16 * points] of pictures [batch, 3, side, side]."""
        maps = torch.relu(self.norms[0](self.first(pictures)))
        maps = torch.relu(self.norms[1](self.second(maps)))
        maps = self.norms[2](self.third(maps))
        batch, points, side, _ = maps.shape
        share = torch.softmax(maps.flatten(2) * self.sharpness, dim=2)
        places = torch.linspace(-1, 1, side, device=maps.device)
        across = (share.view(batch, points, side, side).sum(2) * places).sum(2)
        down = (share.view(batch, points, side, side).sum(3) * places).sum(2)
        peak = maps.flatten(2).amax(2)
        return torch.cat([across, down, torch.tanh(peak), self.coarse(maps).flatten(1)], dim=1)


class TableEyes(nn.Module):
    """Three views to numbers: the hand, the objects, what is held."""

    def __init__(self, config: TableEyesConfig, extra: int = 0, outputs: int = 0) -> None:
        super().__init__()
        self.config = config
        self.trunks = nn.ModuleList(Trunk(config) for _ in range(VIEWS))
        width = VIEWS * config.points * 19 + 3 * KNOWN + extra
        self.places = not outputs
        outputs = outputs or HAND + POSES + HELD
        self.head = nn.Sequential(
            nn.Linear(width, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, outputs),
        )

    def forward(self, pictures: torch.Tensor, extra: torch.Tensor | None = None) -> torch.Tensor:
        """Numbers [batch, outputs] of pictures [batch, views, 3, side, side]."""
        return self.judge(self.features(pictures), extra)

    def features(self, pictures: torch.Tensor) -> list[torch.Tensor]:
        """What each view shows: its points across and down come first."""
        return [trunk(pictures[:, view]) for view, trunk in enumerate(self.trunks)]

    def judge(
        self, features: list[torch.Tensor], extra: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Numbers from what the views show; places are those where two lines of sight meet, put
        right by what the network learned."""
        met = meeting(features, self.config.points)
        flat = met.flatten(1)
        answer = torch.as_tensor(self.head(torch.cat([*features, flat, *_given(extra)], dim=1)))
        if not self.places:
            return answer
        hand = torch.cat([answer[:, :3] + met[:, 0], answer[:, 3:HAND]], dim=1)
        poses = answer[:, HAND : HAND + POSES].view(-1, OBJECTS, 5)
        poses = torch.cat([poses[..., :3] + met[:, 1:], poses[..., 3:]], dim=2).flatten(1)
        return torch.cat([hand, poses, answer[:, HAND + POSES :]], dim=1)


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


def _sight(camera: RoomCamera) -> Sight:
    azimuth, elevation = np.deg2rad(camera.azimuth), np.deg2rad(camera.elevation)
    flat = np.cos(elevation)
    ahead = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    origin = np.array(camera.lookat) - camera.distance * ahead
    return Sight(origin, ahead, right, np.cross(right, ahead))


def meeting(features: list[torch.Tensor], points: int) -> torch.Tensor:
    """Where the lines of sight of the room's two cameras come nearest to each other, [batch, 5, 3]
    in the network's units: the hand and the objects."""
    rays = [_rays(features[number], points, sight) for number, sight in enumerate(sights())]
    first, second = (torch.from_numpy(sight.origin).float() for sight in sights())
    between = second - first
    across = (rays[0] * rays[1]).sum(-1, keepdim=True)
    there = (rays[0] * between).sum(-1, keepdim=True)
    back = (rays[1] * between).sum(-1, keepdim=True)
    spread = (1 - across**2).clamp(min=0.05)
    near, far = (there - across * back) / spread, (across * there - back) / spread
    middle = (first + near * rays[0] + second + far * rays[1]) / 2
    return (middle - torch.tensor(CENTRE)) / SCALE


def _rays(shown: torch.Tensor, points: int, sight: Sight) -> torch.Tensor:
    wide = float(np.tan(np.deg2rad(FIELD_OF_VIEW / 2)))
    right, up, ahead = (
        torch.from_numpy(axis).float() for axis in (sight.right, sight.up, sight.ahead)
    )
    across, down = shown[:, :KNOWN, None], shown[:, points : points + KNOWN, None]
    rays = ahead + wide * (across * right - down * up)
    return torch.nn.functional.normalize(rays, dim=-1)


def _given(extra: torch.Tensor | None) -> list[torch.Tensor]:
    return [] if extra is None else [extra]


@dataclass(frozen=True, slots=True)
class Reading:
    """What eyes saw in some pictures: hands [n, 8], objects [n, 4, 3], yaws [n, 4], and how likely
    each object is held, none last [n, 5]."""

    hands: npt.NDArray[np.float32]
    objects: npt.NDArray[np.float32]
    yaws: npt.NDArray[np.float32]
    held: npt.NDArray[np.float32]

    def first(self, count: int) -> Reading:
        """What was seen in so many of the first pictures."""
        rows = (self.hands, self.objects, self.yaws, self.held)
        return Reading(*(part[:count] for part in rows))


def as_input(frames: Frames, pixels: int) -> torch.Tensor:
    """Frames [n, views, height, width, RGB] of any size as the network takes them."""
    small = torch.from_numpy(np.ascontiguousarray(_fitted(frames, pixels)))
    return small.permute(0, 1, 4, 2, 3).float() / 127.5 - 1.0


def look(eyes: TableEyes, frames: Frames) -> Reading:
    """What the eyes read off frames [n, views, height, width, RGB]."""
    with torch.inference_mode():
        numbers = torch.cat(
            [
                eyes(as_input(frames[first : first + 64], eyes.config.pixels))
                for first in range(0, len(frames), 64)
            ]
        )
        held = torch.softmax(numbers[:, -HELD:], dim=1).numpy()
    hands = numbers[:, :HAND].numpy() * _hand_scale() + _hand_centre()
    poses = numbers[:, HAND : HAND + POSES].numpy().reshape(-1, OBJECTS, 5)
    return Reading(
        hands=hands.astype(np.float32),
        objects=(poses[..., :3] * SCALE + np.array(CENTRE)).astype(np.float32),
        yaws=np.arctan2(poses[..., 3], poses[..., 4]).astype(np.float32),
        held=held,
    )


def targets(
    hands: npt.NDArray[np.float32], objects: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """What eyes are to say: hands [n, 8] and objects with yaw [n, 4, 4] in the network's units."""
    yaws = objects[..., 3:]
    poses = np.concatenate(
        [(objects[..., :3] - np.array(CENTRE)) / SCALE, np.sin(yaws), np.cos(yaws)], axis=-1
    )
    normal = (hands - _hand_centre()) / _hand_scale()
    return np.concatenate([normal, poses.reshape(len(poses), -1)], axis=1).astype(np.float32)


def _hand_scale() -> npt.NDArray[np.float64]:
    return np.array([SCALE] * 3 + [0.3] * 3 + [0.02] * 2)


def _hand_centre() -> npt.NDArray[np.float64]:
    return np.array([*CENTRE, 0.0, 0.0, 0.0, 0.02, -0.02])


def _fitted(frames: Frames, pixels: int) -> Frames:
    """Squares of that many pixels: whole blocks are averaged, other sizes resized."""
    height, width = frames.shape[-3:-1]
    if height == width and height % pixels == 0:
        return shrink(frames, pixels)
    from PIL import Image

    flat = frames.reshape(-1, height, width, 3)
    resized = [
        np.asarray(Image.fromarray(frame).resize((pixels, pixels), Image.Resampling.BICUBIC))
        for frame in flat
    ]
    return np.stack(resized).reshape(*frames.shape[:-3], pixels, pixels, 3)
