"""Pictures as numbers and back: in each view the patterns of 8 by 8 pixels that vary most, found in
the pixels alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from evaluators.models.video_world.config import CELL, VideoWorldConfig

Frames = npt.NDArray[np.uint8]
PIXELS = 3 * CELL * CELL


class VideoCodec(nn.Module):
    """Each 8 by 8 pixels become a cell of some numbers; what is the same in all pictures of a view,
    its mean, is kept apart. An error in latents is as large in pixels, but for one scale a view."""

    mean: Tensor
    basis: Tensor
    spread: Tensor

    def __init__(self, config: VideoWorldConfig) -> None:
        super().__init__()
        self.config = config
        views = len(config.views)
        self.register_buffer("mean", torch.zeros(views, config.height, config.width, 3))
        self.register_buffer("basis", torch.zeros(views, config.latent, PIXELS))
        self.register_buffer("spread", torch.ones(views))

    def encode(self, frames: Tensor) -> Tensor:
        """uint8 [n, views, height, width, RGB] to latents [n, views, squares, numbers]."""
        return self.latents(frames.float() / 255)

    def latents(self, pictures: Tensor) -> Tensor:
        """The same of pictures from 0 to 1."""
        cells = torch.einsum("nvrcp,vlp->nvrcl", self.cells(pictures), self.basis)
        cells = cells / self.spread[:, None, None, None]
        side, (count, views, rows, columns, latent) = self.config.patch // CELL, cells.shape
        grid = cells.view(count, views, rows // side, side, columns // side, side, latent)
        return grid.transpose(3, 4).reshape(count, views, self.config.squares, -1)

    def decode(self, latents: Tensor) -> Tensor:
        """Latents [n, views, squares, numbers] to uint8 [n, views, height, width, RGB]."""
        return (self.pictures(latents) * 255).round().clamp(0, 255).to(torch.uint8)

    def pictures(self, latents: Tensor) -> Tensor:
        """The same from 0 to 1, but for small errors."""
        config, side, (count, views) = self.config, self.config.patch // CELL, latents.shape[:2]
        rows, columns = config.height // config.patch, config.width // config.patch
        grid = latents.reshape(count, views, rows, columns, side, side, config.latent)
        cells = grid.transpose(3, 4).reshape(count, views, rows * side, columns * side, -1)
        pixels = torch.einsum(
            "nvrcl,vlp->nvrcp", cells * self.spread[:, None, None, None], self.basis
        )
        blocks = pixels.view(count, views, rows * side, columns * side, CELL, CELL, 3)
        pictures = blocks.transpose(3, 4).reshape(count, views, config.height, config.width, 3)
        return pictures + self.mean

    def cells(self, pictures: Tensor) -> Tensor:
        """What differs from the mean, [n, views, rows, columns, pixels of a cell]."""
        off = pictures - self.mean
        count, views, height, width, _ = off.shape
        grid = off.view(count, views, height // CELL, CELL, width // CELL, CELL, 3)
        return grid.transpose(3, 4).flatten(4)


@torch.no_grad()
def teach_codec(codec: VideoCodec, frames: Frames, part: int = 64) -> None:
    """Finds the mean and the main patterns of frames [n, views, height, width, RGB]; nothing else
    is told."""
    codec.mean.copy_(torch.from_numpy(frames.mean(0, dtype=np.float64) / 255))
    together = torch.zeros(len(codec.config.views), PIXELS, PIXELS, dtype=torch.float64)
    count = 0
    for first in range(0, len(frames), part):
        pictures = torch.from_numpy(frames[first : first + part]).float() / 255
        flat = codec.cells(pictures).transpose(0, 1).flatten(1, 3).double()
        together += flat.transpose(1, 2) @ flat
        count += flat.shape[1]
    values, vectors = torch.linalg.eigh(together / count)
    latent = codec.config.latent
    codec.basis.copy_(vectors[..., -latent:].flip(-1).transpose(1, 2))
    codec.spread.copy_(values[:, -latent:].mean(1).clamp(min=1e-8).sqrt())


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
