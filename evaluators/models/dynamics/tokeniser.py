"""The tokeniser of the small dynamics model: per view a place, a colour and a share for each thing,
and back.

Its eyes are trained on simulated frames of which they are told where everything is: say so wherever
it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

THINGS = ("utensil", "trash", "hand", "utensil bin", "trash can")
HAND = THINGS.index("hand")
PLACES, FINGER, COLOURS, SHARES = slice(0, 10), slice(10, 12), slice(12, 27), slice(27, 32)
LATENT = SHARES.stop
"""Numbers a view: where each thing lies, from the hand's middle to a finger, colours, and how much
is there of each."""

STATE = 11
"""What is read off linearly: hand (3), finger width, held, utensil (3), trash (3)."""

SHARP = 4.0
"""How much steeper a heat map is than what the network says."""

NUDGE = 0.1
"""How far a place may be put right beyond the middle of its heat map, in pictures."""

SPOTS, OUT = len(THINGS) + 1, 6
"""Heat maps, for a hand is two fingers; and what is said of each beside it: a nudge (2), colour
(3), share."""

PAINTED = ("utensil bin", "trash can", "utensil", "trash", "hand", "hand")
"""What lies over what, from below; a hand is two fingers."""

BOXES = 2
"""How many of the painted are boxes; the others are round."""

KINDS = (2, 2, 0, 0, 1, 1)
"""Painted things of one kind have one size: objects, fingers, bins."""


@dataclass(frozen=True, slots=True)
class EyesConfig:
    """Sizes of the tokeniser: pictures, and how many features a fine and a coarse look have."""

    views: int = 3
    height: int = 24
    width: int = 24
    fine: int = 16
    coarse: int = 32

    @property
    def latent(self) -> int:
        """Numbers a view."""
        return LATENT


class ViewEncoder(nn.Module):
    """The encoder of one view: a heat map for each object from fine and coarse features, and the
    features at its peak."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        fine, coarse = config.fine, config.coarse
        self.near = nn.Conv2d(3, fine, 3, padding=1)
        self.wide = nn.Sequential(
            nn.Conv2d(fine, coarse, 4, 2, 1),
            nn.ReLU(),
            nn.Conv2d(coarse, coarse, 3, padding=1),
            nn.ReLU(),
        )
        self.near_heat, self.wide_heat = nn.Conv2d(fine, SPOTS, 1), nn.Conv2d(coarse, SPOTS, 1)
        self.first = nn.Conv1d(SPOTS * (fine + coarse + 5), SPOTS * coarse, 1, groups=SPOTS)
        self.second = nn.Conv1d(SPOTS * coarse, SPOTS * OUT, 1, groups=SPOTS)
        self.register_buffer("grid", _grid(config.height, config.width), persistent=False)

    grid: Tensor

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """[n, 3, height, width] to the middle of each heat map [n, spots, 2] and what is said of it
        [n, spots, 6]."""
        near = torch.relu(self.near(pixels))
        wide = self.wide(near)
        rough = self.wide_heat(wide)
        heat = functional.interpolate(rough, pixels.shape[-2:], mode="bilinear") + self.near_heat(
            near
        )
        shares, rough = (
            torch.softmax(SHARP * heat_map.flatten(2), -1) for heat_map in (heat, rough)
        )
        features = torch.cat(
            [near.flatten(2), pixels.flatten(2), self.grid.expand(len(pixels), -1, -1)], dim=1
        )
        features_at_spots = shares @ features.transpose(1, 2)
        spot_features = torch.cat(
            [features_at_spots, rough @ wide.flatten(2).transpose(1, 2)], dim=-1
        )
        outputs = self.second(torch.relu(self.first(spot_features.flatten(1)[..., None])))[..., 0]
        return features_at_spots[..., -2:], torch.unflatten(outputs, 1, (SPOTS, OUT))


class Eyes(nn.Module):
    """Pictures to points, each view with eyes of its own, and from all views to the state of the
    table."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        self.config = config
        self.looks = nn.ModuleList(ViewEncoder(config) for _ in range(config.views))
        self.register_buffer("state", torch.zeros(config.views * LATENT + 1, STATE))

    state: Tensor

    def forward(self, frames: Tensor) -> Tensor:
        """uint8 frames [n, views, height, width, 3] to points [n, views, 32], places from 0 to
        1."""
        pixels = frames.permute(0, 1, 4, 2, 3).float() / 255 - 0.5
        return torch.stack(
            [_points(*look(pixels[:, view])) for view, look in enumerate(self.looks)], dim=1
        )

    def read(self, points: Tensor) -> Tensor:
        """The state of the table [n, 11], linearly."""
        return with_one(points.flatten(1)) @ self.state


class Brush(nn.Module):
    """Points to pictures: bins, objects and fingers over a fixed background, their sizes and edges
    learned."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        self.config, kinds = config, max(KINDS) + 1
        self.radius = nn.Parameter(torch.full((config.views, kinds, 2), 0.1))
        self.sharpness = nn.Parameter(torch.full((config.views, kinds), 5.0))
        self.ground = nn.Parameter(torch.zeros(config.views, config.height * config.width, 3))
        self.register_buffer("grid", _grid(config.height, config.width), persistent=False)

    grid: Tensor

    def forward(self, points: Tensor) -> Tensor:
        """[n, views, 32] to [n, views, height, width, 3], from about 0 to 1."""
        pixels = self.ground.expand(len(points), -1, -1, -1)
        colours = torch.unflatten(points[..., COLOURS], -1, (len(THINGS), 3))
        for number, cover in enumerate(self.covers(points).unbind(2)):
            colour = colours[:, :, THINGS.index(PAINTED[number]), None]
            pixels = pixels + cover[..., None] * (colour - pixels)
        return torch.unflatten(pixels, 2, (self.config.height, self.config.width))

    def covers(self, points: Tensor) -> Tensor:
        """How much of each pixel each painted thing covers, [n, views, painted, pixels]."""
        places = torch.unflatten(points[..., PLACES], -1, (len(THINGS), 2))
        order, kinds = [THINGS.index(name) for name in PAINTED], list(KINDS)
        side = points.new_tensor([[0.0]] * (len(PAINTED) - 2) + [[-1.0], [1.0]])
        finger = points[..., None, FINGER] * side
        away = ((places[:, :, order] + finger)[..., None] - self.grid) / self.radius[
            :, kinds, :, None
        ]
        box = away[:, :, :BOXES].abs().amax(3)
        disc = (away[:, :, BOXES:].square().sum(3) + 1e-6).sqrt()
        inside = self.sharpness[:, kinds, None] * (1 - torch.cat([box, disc], dim=2))
        return torch.sigmoid(inside) * points[..., SHARES].clamp(0, 1)[..., order, None]

    @torch.no_grad()
    def visible(self, points: Tensor) -> Tensor:
        """How much of each thing's area is in the picture and not under others, [n, views, things],
        0 to 1."""
        covers = self.covers(points)
        left = torch.cumprod(1 - covers.flip(2), dim=2).flip(2).roll(-1, dims=2)
        left[:, :, -1] = 1
        pixels = self.grid.shape[1]
        whole = 3 * self.radius[:, list(KINDS)].abs().prod(-1) * pixels
        visible_share = ((covers * left).sum(-1) / whole).clamp(0, 1)
        return torch.stack([visible_share[:, :, PAINTED.index(name)] for name in THINGS], dim=-1)


class Tokeniser(nn.Module):
    """Eyes and brush, and the scale on which their points are numbers of mean 0 and deviation 1."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        self.config = config
        self.eyes, self.brush = Eyes(config), Brush(config)
        self.register_buffer("mean", torch.zeros(config.views, config.latent))
        self.register_buffer("deviation", torch.ones(config.views, config.latent))

    mean: Tensor
    deviation: Tensor

    def encode(self, frames: Tensor) -> Tensor:
        """uint8 frames [n, views, height, width, 3] to latents [n, views, latent]."""
        latents: Tensor = (self.eyes(frames) - self.mean) / self.deviation
        return latents

    def decode(self, latents: Tensor) -> Tensor:
        """Latents back to uint8 frames."""
        return to_bytes(self._paint(latents))

    @torch.no_grad()
    def weights(self, latents: Tensor) -> Tensor:
        """How much of the picture hangs on each number [views, latent]: its change when the number
        moves by half a deviation, 1 on average in each view."""
        painted = self._paint(latents)
        changes = torch.zeros_like(self.mean)
        for number in range(self.config.latent):
            moved = latents.clone()
            moved[..., number] += 0.5
            changes[:, number] = (self._paint(moved) - painted).square().mean((0, 2, 3, 4)).sqrt()
        return changes / changes.mean(1, keepdim=True).clamp(min=1e-6)

    def _paint(self, latents: Tensor) -> Tensor:
        painted: Tensor = self.brush(latents * self.deviation + self.mean)
        return painted


def to_bytes(pixels: Tensor) -> Tensor:
    """0…1 to uint8."""
    return (pixels.clamp(0, 1) * 255).round().to(torch.uint8)


def in_parts(make: Callable[[Tensor], Tensor], rows: Tensor, size: int = 256) -> Tensor:
    """The same as `make(rows)` in less memory."""
    return torch.cat([make(part) for part in torch.split(rows, size)])


def with_one(features: Tensor) -> Tensor:
    """Append a column of ones, the intercept of a linear fit."""
    return torch.cat([features, features.new_ones(len(features), 1)], dim=1)


def fitted(features: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """The weights of a ridge regression, [features + 1, targets], with the intercept last."""
    inputs = with_one(features).double()
    square = inputs.T @ inputs + ridge * torch.eye(inputs.shape[1])
    solved: Tensor = torch.linalg.solve(square, inputs.T @ targets.double())
    return solved.float()


def _points(middle: Tensor, outputs: Tensor) -> Tensor:
    """Both fingers become a hand: its middle, and from there to the second finger."""
    places, appearance = middle + NUDGE * outputs[..., :2], torch.sigmoid(outputs[..., 2:])
    fingers = slice(HAND, HAND + 2)
    finger = (places[:, HAND + 1] - places[:, HAND]) / 2
    whole = torch.cat([places, appearance], dim=-1)
    objects = torch.cat(
        [whole[:, :HAND], whole[:, fingers].mean(1, keepdim=True), whole[:, HAND + 2 :]], dim=1
    )
    return torch.cat(
        [objects[..., :2].flatten(1), finger, objects[..., 2:5].flatten(1), objects[..., 5]], dim=1
    )


def _grid(height: int, width: int) -> Tensor:
    """x and y of each pixel's middle, [2, pixels], y downwards."""
    y, x = torch.meshgrid(
        (torch.arange(height) + 0.5) / height, (torch.arange(width) + 0.5) / width, indexing="ij"
    )
    return torch.stack([x.flatten(), y.flatten()])
