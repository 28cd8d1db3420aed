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
        pictures = codec.pictures(span).permute(0, 1, 4, 2, 3)
        shifts = picture_flow(pictures[:-pace].flatten(0, 1), pictures[pace:].flatten(0, 1))
        flow[first : first + part] = shifts.view(-1, views, FLOW)
    return flow


def picture_flow(before: Tensor, after: Tensor) -> Tensor:
    """The flow [n, numbers] between pictures [n, 3, height, width] from 0 to 1."""
    parts = []
    for coarse in COARSENESSES:
        pair = [_smooth(functional.avg_pool2d(pictures, coarse)) for pictures in (before, after)]
        parts.append(_shift(*pair).clamp(-MOST, MOST))
    return torch.cat(parts, dim=1)


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
    return torch.cat([(xy * yt - yy * xt) / scale, (xy * xt - xx * yt) / scale], dim=1)


def _smooth(pictures: Tensor) -> Tensor:
    kernel = torch.tensor((0.25, 0.5, 0.25), device=pictures.device)
    weights = (kernel[:, None] * kernel).expand(3, 1, 3, 3)
    padded = functional.pad(pictures, (1, 1, 1, 1), mode="replicate")
    return functional.conv2d(padded, weights, groups=3)
