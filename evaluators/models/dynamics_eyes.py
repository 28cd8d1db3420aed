"""The tokeniser of the small dynamics model: per view a few points with place, colour, mass and spread, and back.

Its eyes are fitted to simulated frames of which it is told where everything is: say so wherever it is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

THINGS = ("utensil", "trash", "hand", "utensil bin", "trash can")
HAND = THINGS.index("hand")
PLACE, COLOUR, MASS, SPREAD = slice(0, 2), slice(2, 5), 5, slice(6, 9)
POINT = 9
"""Numbers a point: x, y, red, green, blue, mass, and the spread in x, across and in y."""

STATE = 11
"""What is read off linearly: hand (3), finger width, held, utensil (3), trash (3)."""

LEVELS = 32
"""Shades a channel that the eyes tell apart; a colour is looked up, so that seeing costs next to nothing."""

DOUBT = 0.2
"""The share of a thing under which a pixel is none of it: faint traces over a whole picture would outweigh it."""

STIR = 0.08
"""How much a channel of a pixel must differ from the empty bench to be something on it."""

FAINT = 0.3
"""The mass, in pixels, under which a point drifts to the middle of the picture."""


@dataclass(frozen=True, slots=True)
class EyesConfig:
    """Sizes of the tokeniser."""

    views: int = 3
    height: int = 24
    width: int = 24
    hidden: int = 40

    @property
    def latent(self) -> int:
        """Numbers a view."""
        return len(THINGS) * POINT


class Eyes(nn.Module):
    """Pictures to points: a fitted table says how much of each thing a colour is, moments say where it lies."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("table", torch.zeros(config.views, LEVELS**3, len(THINGS)))
        self.register_buffer("ground", torch.zeros(config.views, config.height * config.width, 3))
        self.register_buffer("fixed", torch.zeros(config.views))
        self.register_buffer("state", torch.zeros(config.views * config.latent + 1, STATE))
        self.register_buffer("grid", _grid(config.height, config.width), persistent=False)

    table: Tensor
    ground: Tensor
    fixed: Tensor
    state: Tensor
    grid: Tensor

    def forward(self, frames: Tensor) -> Tensor:
        """uint8 frames [n, views, height, width, 3] to points [n, views, things, 9], places from 0 to 1."""
        pixels = frames.flatten(2, 3)
        spot = colour_index(pixels)
        weights = torch.stack([self.table[view][spot[:, view]] for view in range(frames.shape[1])], dim=1)
        sure = (weights - DOUBT).clamp(0, 1) / (1 - DOUBT) * self.changed(frames)[..., None]
        return _moments(sure, pixels.float() / 255, self.grid)

    def changed(self, frames: Tensor) -> Tensor:
        """Where a fixed camera sees something else than the empty bench; a camera that moves sees it everywhere."""
        off = (frames.flatten(2, 3).float() / 255 - self.ground).abs().amax(-1) > STIR
        return (off | (self.fixed[:, None] == 0)).float()

    def read(self, points: Tensor) -> Tensor:
        """The state of the table [n, 11], linearly."""
        return _with_one(points.flatten(1)) @ self.state


class Brush(nn.Module):
    """Points to pictures: a narrow and a wide spot at each point, mixed pixel by pixel over a fixed background."""

    def __init__(self, config: EyesConfig) -> None:
        super().__init__()
        spots = len(THINGS) + 1
        self.config = config
        self.sharpness = nn.Parameter(torch.tensor([4.5, 6.5]).repeat(config.views, spots, 1))
        self.ground = nn.Parameter(torch.zeros(config.views, 3, config.height * config.width))
        self.first = nn.Parameter(torch.randn(config.views, spots * 5 + 3, config.hidden) * 0.2)
        self.shift = nn.Parameter(torch.zeros(config.views, 1, config.hidden))
        self.last = nn.Parameter(torch.zeros(config.views, config.hidden, 3))
        self.register_buffer("grid", _grid(config.height, config.width), persistent=False)

    grid: Tensor

    def forward(self, points: Tensor) -> Tensor:
        """[n, views, things, 9] to [n, views, height, width, 3], from about 0 to 1."""
        places, colours, mass = _spots(points)
        away = (places[..., None] - self.grid).square().sum(3)
        spots = torch.exp(-away[..., None, :] * self.sharpness.exp()[..., None]) * mass.clamp(0, 1)[..., None, None]
        layers = torch.cat([spots, spots[..., 1:, :] * colours[..., None]], dim=3).flatten(2, 3)
        ground = self.ground.expand(len(points), -1, -1, -1)
        pixels = torch.cat([layers, ground], dim=2).transpose(2, 3)
        hidden = torch.relu(torch.einsum("nvpi,vih->nvph", pixels, self.first) + self.shift)
        painted = torch.einsum("nvph,vhc->nvpc", hidden, self.last) + ground.transpose(2, 3)
        return torch.unflatten(painted, 2, (self.config.height, self.config.width))


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
        latents: Tensor = (self.eyes(frames).flatten(2) - self.mean) / self.deviation
        return latents

    def decode(self, latents: Tensor) -> Tensor:
        """Latents back to uint8 frames."""
        return to_bytes(self._paint(latents))

    @torch.no_grad()
    def weights(self, latents: Tensor) -> Tensor:
        """How much of the picture hangs on each number [views, latent]: its change when the number moves by half a
        deviation, 1 on average in each view."""
        painted = self._paint(latents)
        found = torch.zeros_like(self.mean)
        for number in range(self.config.latent):
            moved = latents.clone()
            moved[..., number] += 0.5
            found[:, number] = (self._paint(moved) - painted).square().mean((0, 2, 3, 4)).sqrt()
        return found / found.mean(1, keepdim=True).clamp(min=1e-6)

    def _paint(self, latents: Tensor) -> Tensor:
        painted: Tensor = self.brush(torch.unflatten(latents * self.deviation + self.mean, 2, (len(THINGS), POINT)))
        return painted


def to_bytes(pixels: Tensor) -> Tensor:
    """0…1 to uint8."""
    return (pixels.clamp(0, 1) * 255).round().to(torch.uint8)


def colour_index(pixels: Tensor) -> Tensor:
    """The row of the table that a colour has."""
    shade = (pixels.long() * LEVELS) // 256
    return (shade[..., 0] * LEVELS + shade[..., 1]) * LEVELS + shade[..., 2]


def all_colours() -> Tensor:
    """The colour in the middle of every row of the table, from 0 to 1."""
    shades = (torch.arange(LEVELS) + 0.5) / LEVELS
    return torch.stack(torch.meshgrid(shades, shades, shades, indexing="ij"), dim=-1).reshape(-1, 3)


def _moments(weights: Tensor, colours: Tensor, grid: Tensor) -> Tensor:
    """[n, views, pixels, things] to place, colour, mass and spread."""
    mass = weights.sum(2)
    share = weights / (mass + FAINT)[:, :, None]
    faint = (FAINT / (mass + FAINT))[..., None]
    places = torch.einsum("nvpt,cp->nvtc", share, grid) + faint * 0.5
    colour = torch.einsum("nvpt,nvpc->nvtc", share, colours)
    squares = torch.stack([grid[0] ** 2, grid[0] * grid[1], grid[1] ** 2])
    second = torch.einsum("nvpt,cp->nvtc", share, squares) + faint * 0.25
    x, y = places[..., 0], places[..., 1]
    spread = second - torch.stack([x * x, x * y, y * y], dim=-1)
    return torch.cat([places, colour, mass[..., None] / 8, spread * 20], dim=-1)


def _spots(points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """One spot a thing, two for the hand: its fingers lie as far from its middle as it spreads."""
    hand = points[:, :, HAND]
    spread = hand[..., SPREAD] / 20
    across, up = spread[..., 0].clamp(min=1e-6).sqrt(), spread[..., 2].clamp(min=1e-6).sqrt()
    finger = torch.stack([across, torch.where(spread[..., 1] < 0, -up, up)], dim=-1)
    middle = hand[..., PLACE]
    places = [points[:, :, :HAND, PLACE], (middle - finger)[:, :, None], (middle + finger)[:, :, None]]
    order = [0, 1, HAND, *range(HAND, len(THINGS))]
    doubled = points[:, :, order]
    return torch.cat([*places, points[:, :, HAND + 1 :, PLACE]], dim=2), doubled[..., COLOUR], doubled[..., MASS] * 4


def _with_one(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones(len(features), 1)], dim=1)


def _grid(height: int, width: int) -> Tensor:
    """x and y of each pixel's middle, [2, pixels], y downwards."""
    y, x = torch.meshgrid((torch.arange(height) + 0.5) / height, (torch.arange(width) + 0.5) / width, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()])
