"""From pictures to what eyes read off them, and what they ought to have read."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import torch

from evaluators.models.robots.eyes import (
    CENTRE,
    FINGERS,
    SCALE,
    TURN,
    TableEyes,
)
from evaluators.worlds.tabletop.views import Frames, shrink

Floats = npt.NDArray[np.float32]

FOLDS = np.array((4, 4, 2, 4))
"""How often each object looks alike to the fingers in a whole turn."""

HAND_CENTRE = np.array([*CENTRE, 0.0, 0.0, 0.0, FINGERS, -FINGERS])
HAND_SCALE = np.array([SCALE] * 3 + [TURN] * 3 + [FINGERS] * 2)
BATCH = 64


@dataclass(frozen=True, slots=True)
class Reading:
    """What eyes saw in some pictures: hands [n, 8], objects [n, 4, 3], yaws [n, 4], and how likely
    each object is held, none last [n, 5]."""

    hands: Floats
    objects: Floats
    yaws: Floats
    held: Floats

    @property
    def beside(self) -> Floats:
        """How far each object is from the hand [n, 4, 3]."""
        return self.objects - self.hands[:, None, :3]

    def first(self, count: int) -> Reading:
        """What was seen in so many of the first pictures."""
        return Reading(*(getattr(self, field.name)[:count] for field in fields(self)))


def look(eyes: TableEyes, frames: Frames) -> Reading:
    """What the eyes read off frames [n, views, height, width, RGB]."""
    batches = [
        _read(eyes, as_input(frames[first : first + BATCH], eyes.config.pixels))
        for first in range(0, len(frames), BATCH)
    ]
    names = [field.name for field in fields(Reading)]
    return Reading(*(np.concatenate([getattr(b, name) for b in batches]) for name in names))


def as_input(frames: Frames, pixels: int) -> torch.Tensor:
    """Frames [n, views, height, width, RGB] of any size as the network takes them."""
    small = torch.from_numpy(np.ascontiguousarray(_fitted(frames, pixels)))
    return small.permute(0, 1, 4, 2, 3).float() / 127.5 - 1.0


def hand_targets(hands: Floats) -> Floats:
    """Hands [n, 8] in the network's units."""
    return np.asarray((hands - HAND_CENTRE) / HAND_SCALE, np.float32)


def pose_targets(hands: Floats, objects: Floats) -> Floats:
    """Objects with yaw [n, 4, 4] as poses beside the hand [n, 4, 5], in the network's units."""
    turned = objects[..., 3] * FOLDS
    beside = (objects[..., :3] - hands[:, None, :3]) / SCALE
    return np.concatenate(
        [beside, np.sin(turned)[..., None], np.cos(turned)[..., None]], axis=-1
    ).astype(np.float32)


def _read(eyes: TableEyes, pictures: torch.Tensor) -> Reading:
    with torch.inference_mode():
        said = eyes(pictures)
        held = torch.softmax(said.held, dim=1).numpy()
    hands = (said.hands.numpy() * HAND_SCALE + HAND_CENTRE).astype(np.float32)
    poses = said.poses.numpy()
    objects = hands[:, None, :3] + poses[..., :3] * SCALE
    yaws = np.arctan2(poses[..., 3], poses[..., 4]) / FOLDS
    return Reading(hands, objects.astype(np.float32), yaws.astype(np.float32), held)


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
