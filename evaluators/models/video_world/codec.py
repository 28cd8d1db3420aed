"""Pictures as numbers and back: a small convolutional autoencoder that learns from pixels alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from evaluators.models.video_world.config import CELL, VideoWorldConfig

Frames = npt.NDArray[np.uint8]


class VideoCodec(nn.Module):
    """Each 8 by 8 pixels become a cell of some numbers; what is the same in all pictures of a view,
    its mean, is kept apart. Latents have zero mean and unit variance over practice."""

    mean: Tensor
    middle: Tensor
    spread: Tensor

    def __init__(self, config: VideoWorldConfig) -> None:
        super().__init__()
        self.config = config
        thin, wide, latent = config.channels, 2 * config.channels, config.latent
        self.down = nn.Sequential(
            nn.Conv2d(3, thin, 4, 2, 1),
            nn.SiLU(),
            nn.Conv2d(thin, wide, 4, 2, 1),
            nn.SiLU(),
            nn.Conv2d(wide, wide, 4, 2, 1),
            nn.SiLU(),
            nn.Conv2d(wide, latent, 1),
        )
        self.up = nn.Sequential(
            nn.Conv2d(latent, wide, 3, 1, 1),
            nn.SiLU(),
            nn.Conv2d(wide, 4 * wide, 3, 1, 1),
            nn.PixelShuffle(2),
            nn.SiLU(),
            nn.Conv2d(wide, 4 * thin, 3, 1, 1),
            nn.PixelShuffle(2),
            nn.SiLU(),
            nn.Conv2d(thin, 12, 3, 1, 1),
            nn.PixelShuffle(2),
        )
        views = len(config.views)
        self.register_buffer("mean", torch.zeros(views, 3, config.height, config.width))
        self.register_buffer("middle", torch.zeros(views, latent, 1, 1))
        self.register_buffer("spread", torch.ones(views, latent, 1, 1))

    def cells(self, pictures: Tensor) -> Tensor:
        """Pictures from 0 to 1 [n, views, 3, height, width] as latents of cells [n, views, latent,
        rows, columns]."""
        flat = (pictures - self.mean).flatten(0, 1)
        cells = torch.unflatten(self.down(flat * 4), 0, pictures.shape[:2])
        return (cells - self.middle) / self.spread

    def pictures(self, cells: Tensor) -> Tensor:
        """The pictures of cells, from 0 to 1 but for small errors."""
        flat = (cells * self.spread + self.middle).flatten(0, 1)
        return torch.unflatten(self.up(flat) / 4, 0, cells.shape[:2]) + self.mean

    def encode(self, frames: Tensor) -> Tensor:
        """uint8 [n, views, height, width, RGB] to latents [n, views, squares, numbers]."""
        cells = self.cells(as_pictures(frames))
        side, (count, views, latent, rows, columns) = self.config.patch // CELL, cells.shape
        grid = cells.view(count, views, latent, rows // side, side, columns // side, side)
        return grid.permute(0, 1, 3, 5, 4, 6, 2).reshape(count, views, self.config.squares, -1)

    def decode(self, latents: Tensor) -> Tensor:
        """Latents [n, views, squares, numbers] to uint8 [n, views, height, width, RGB]."""
        config, side = self.config, self.config.patch // CELL
        rows, columns = config.height // config.patch, config.width // config.patch
        grid = latents.view(*latents.shape[:2], rows, columns, side, side, config.latent)
        cells = grid.permute(0, 1, 6, 2, 4, 3, 5).reshape(
            *latents.shape[:2], config.latent, rows * side, columns * side
        )
        pictures = self.pictures(cells).permute(0, 1, 3, 4, 2)
        return (pictures * 255).round().clamp(0, 255).to(torch.uint8)

    @torch.no_grad()
    def settle(self, pictures: Tensor) -> None:
        """Puts latents on the scale of these pictures; what they stand for stays the same."""
        cells = self.cells(pictures) * self.spread + self.middle
        self.middle.copy_(cells.mean((0, 3, 4))[..., None, None])
        self.spread.copy_(cells.std((0, 3, 4)).clamp(min=1e-4)[..., None, None])


def as_pictures(frames: Tensor) -> Tensor:
    """uint8 [n, views, height, width, RGB] as numbers from 0 to 1 [n, views, 3, height, width]."""
    return frames.permute(0, 1, 4, 2, 3).float() / 255


def teach_codec(
    codec: VideoCodec,
    frames: Frames,
    steps: int,
    batch: int = 12,
    rate: float = 2e-3,
    seed: int = 0,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
) -> None:
    """Learns to paint frames [n, views, height, width, RGB] again; nothing else is told."""
    generator = np.random.default_rng(seed)
    codec.mean.copy_(torch.from_numpy(frames.mean(0) / 255).permute(0, 3, 1, 2))
    optimiser = torch.optim.AdamW(codec.parameters(), rate, weight_decay=1e-4)
    slower = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, max(steps, 2), pct_start=0.05)
    for step in range(steps):
        rows = generator.integers(0, len(frames), batch)
        pictures = as_pictures(torch.from_numpy(frames[rows])).to(codec.mean.device)
        off = codec.pictures(codec.cells(pictures)) - pictures
        loss = off.square().mean() + 0.05 * off.abs().mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(codec.parameters(), 1.0)
        optimiser.step()
        slower.step()
        on_step(step + 1, float(off.detach().square().mean()))
    rows = generator.integers(0, len(frames), min(len(frames), 256))
    codec.settle(as_pictures(torch.from_numpy(frames[rows])).to(codec.mean.device))


@torch.no_grad()
def encode_film(codec: VideoCodec, film: Frames, part: int = 64) -> Tensor:
    """The latents [views, frames, squares, numbers] of a film [views, frames, height, width, RGB],
    some frames at a time."""
    device, frames = codec.mean.device, film.swapaxes(0, 1)
    parts = [frames[first : first + part] for first in range(0, len(frames), part)]
    latents = [
        codec.encode(torch.from_numpy(np.ascontiguousarray(rows)).to(device)) for rows in parts
    ]
    return torch.cat(latents).transpose(0, 1)


@torch.no_grad()
def decode_film(codec: VideoCodec, latents: Tensor, part: int = 64) -> Frames:
    """The film of latents [views, frames, squares, numbers]."""
    rows = torch.split(latents.transpose(0, 1), part)
    return np.concatenate([codec.decode(some).cpu().numpy() for some in rows]).swapaxes(0, 1)
