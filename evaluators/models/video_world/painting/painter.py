"""Paints a view from a few numbers: the newest known picture pushed about, over what is usually
there, and what neither shows added."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluators.models.video_world.codec import VideoCodec
from evaluators.models.video_world.config import VideoWorldConfig

FINER = 2
"""How many places of the masks lie beside one of the displacements."""

REACH = 0.25
"""Of half a picture: how far a displacement of one is."""

TRUST = 2.0
"""The newest picture is taken over at first, and where it is pushed to."""


class ViewLinear(nn.Module):
    """A linear layer of each view's own: [n, views, ..., inputs] to [n, views, ..., outputs]."""

    def __init__(self, views: int, inputs: int, outputs: int, silent: bool = False) -> None:
        super().__init__()
        drawn = torch.randn(views, outputs, inputs) * inputs**-0.5
        self.weight = nn.Parameter(torch.zeros_like(drawn) if silent else drawn)
        self.bias = nn.Parameter(torch.zeros(views, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Rows of each view by its own weights."""
        count, views = rows.shape[:2]
        flat = rows.transpose(0, 1).reshape(views, -1, rows.shape[-1])
        made = torch.baddbmm(self.bias[:, None], flat, self.weight.transpose(1, 2))
        return made.view(views, count, *rows.shape[2:-1], -1).transpose(0, 1)


class WarpPainter(nn.Module):
    """From the code of a view at a moment and that of its newest known picture: a coarse field of
    displacements, two masks (whether the pushed or the resting picture, whether either or the
    view's mean), and a change in latents."""

    def __init__(self, config: VideoWorldConfig, codec: VideoCodec) -> None:
        super().__init__()
        self.config, views = config, len(config.views)
        self.shared_codec = [codec]  # in a list, so that its numbers are not stored a second time
        self.mixed = ViewLinear(views, 2 * config.code, config.paint)
        self.pushed = ViewLinear(views, config.paint, 2 * config.warp**2, silent=True)
        self.masks = ViewLinear(views, config.paint, 2 * (FINER * config.warp) ** 2, silent=True)
        self.added = ViewLinear(views, config.paint, config.squares * config.numbers, silent=True)

    def forward(self, codes: Tensor, newest_code: Tensor, newest: Tensor) -> Tensor:
        """Latents [n, views, frames, squares, numbers] from codes [n, views, frames, numbers], the
        code [n, views, numbers] and the latents of the newest known pictures."""
        count, frames = len(codes), codes.shape[2]
        before = newest_code[:, :, None].expand(-1, -1, frames, -1)
        hidden = functional.silu(self.mixed(torch.cat([codes, before], -1)))
        heads = (head(hidden).transpose(1, 2).flatten(0, 1) for head in (self.pushed, self.masks))
        pushed, masks = (head.float() for head in heads)
        codec = self.shared_codec[0]
        with torch.no_grad(), torch.autocast(newest.device.type, enabled=False):
            resting = codec.pictures(newest.float()).permute(0, 1, 4, 2, 3)
        resting = resting[:, None].expand(-1, frames, *resting.shape[1:]).flatten(0, 1)
        blended = self._blend(resting, self._push(resting, pushed), masks)
        latents = codec.latents(blended.movedim(2, -1)).float()
        latents = latents.view(count, frames, *newest.shape[1:]).transpose(1, 2)
        return torch.as_tensor(latents + self.added(hidden).float().view(latents.shape))

    def _push(self, pictures: Tensor, pushed: Tensor) -> Tensor:
        """Pictures [n, views, RGB, height, width], each place shown from where it is said to come
        from."""
        count, views, _, height, width = pictures.shape
        field = self._finer(pushed.reshape(count * views, 2, self.config.warp, self.config.warp))
        down, across = (_middles(side, pictures.device) for side in (height, width))
        places = torch.stack([across.expand(height, -1), down[:, None].expand(-1, width)], -1)
        moved = functional.grid_sample(
            pictures.flatten(0, 1),
            REACH * field.permute(0, 2, 3, 1).float() + places,
            padding_mode="border",
            align_corners=False,
        )
        return moved.view(pictures.shape)

    def _blend(self, resting: Tensor, moved: Tensor, masks: Tensor) -> Tensor:
        side = FINER * self.config.warp
        shares = torch.sigmoid(self._finer(masks.reshape(-1, 2, side, side)) + TRUST)
        seen, moves = shares.view(*resting.shape[:2], 2, 1, *resting.shape[3:]).unbind(2)
        usual = self.shared_codec[0].mean.permute(0, 3, 1, 2)
        return usual + seen * (resting + moves * (moved - resting) - usual)

    def _finer(self, coarse: Tensor) -> Tensor:
        """Squares [n, numbers, side, side] as pixels, linearly between their middles."""
        # As products of matrices: on a CPU three times as fast as interpolating picture by picture.
        config, side = self.config, coarse.shape[-1]
        one = torch.eye(side, device=coarse.device)[None]
        down, across = (
            functional.interpolate(one, size, mode="linear", align_corners=False)[0]
            for size in (config.height, config.width)
        )
        return down.T @ coarse @ across


def _middles(count: int, device: torch.device) -> Tensor:
    """The middles of so many pixels from -1 to 1."""
    return (torch.arange(count, device=device) + 0.5) * 2 / count - 1
