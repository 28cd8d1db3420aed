"""How far pictures shift from one frame to the next, in squares of each view: optical flow by least
squares on brightness, at three coarsenesses."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from evaluators.models.video_world.codec import VideoCodec

COARSENESSES = (1, 2, 4)
SQUARES = 4
"""Squares along each side of a view."""

FLOW = 2 * SQUARES * SQUARES * len(COARSENESSES)
"""Numbers of a view at a moment: across and down in each square."""

DAMPING = 1e-3
MOST = 4.0


@torch.no_grad()
def film_flow(codec: VideoCodec, latents: Tensor, pace: int, part: int = 32) -> Tensor:
    """The flow [frames, views, numbers] of a film's latents [views, frames, squares, numbers] since
    `pace` frames before, in pixels of each coarseness; of the first frames it is zero."""
    views, count = latents.shape[:2]
    flow = torch.zeros(count, views, FLOW, device=latents.device)
    for first in range(pace, count, part):
        span = latents[:, first - pace : first + part].transpose(0, 1)
        pictures = codec.pictures(span).permute(0, 1, 4, 2, 3).flatten(0, 1)
        levels, before = _levels(pictures), pace * views
        shifts = [_shift(level[:-before], level[before:]) for level in levels]
        flow[first : first + part] = torch.cat(shifts, dim=1).view(-1, views, FLOW)
    return flow


def picture_flow(before: Tensor, after: Tensor) -> Tensor:
    """The flow [n, numbers] between pictures [n, 3, height, width] from 0 to 1."""
    pairs = zip(_levels(before), _levels(after), strict=True)
    return torch.cat([_shift(*pair) for pair in pairs], dim=1)


def _levels(pictures: Tensor) -> list[Tensor]:
    """The pictures at each coarseness, a little blurred."""
    coarser = [functional.avg_pool2d(pictures, coarse) for coarse in COARSENESSES if coarse > 1]
    return [_smooth(level) for level in (pictures, *coarser)]


def _shift(before: Tensor, after: Tensor) -> Tensor:
    """In each square the shift that explains the change of brightness best."""
    middle, change = (before + after) / 2, after - before
    across = functional.pad((middle[..., 2:] - middle[..., :-2]) / 2, (1, 1))
    down = functional.pad((middle[..., 2:, :] - middle[..., :-2, :]) / 2, (0, 0, 1, 1))

    def total(product: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(product.sum(1, keepdim=True), SQUARES).flatten(1)

    xx, yy, xy = total(across**2) + DAMPING, total(down**2) + DAMPING, total(across * down)
    xt, yt = total(across * change), total(down * change)
    scale = xx * yy - xy**2
    shift = torch.cat([(xy * yt - yy * xt) / scale, (xy * xt - xx * yt) / scale], dim=1)
    return shift.clamp(-MOST, MOST)


def _smooth(pictures: Tensor) -> Tensor:
    # Sums of slices: a convolution by the same small kernel takes four times as long on a CPU.
    padded = functional.pad(pictures, (1, 1, 1, 1), mode="replicate")
    rows = padded[..., :-2] + 2 * padded[..., 1:-1] + padded[..., 2:]
    return (rows[..., :-2, :] + 2 * rows[..., 1:-1, :] + rows[..., 2:, :]) / 16
