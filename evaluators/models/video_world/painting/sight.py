"""What a picture of each view shows, in a few numbers, and what one view tells of the others."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluators.models.video_world.config import VideoWorldConfig
from evaluators.models.video_world.painting.painter import ViewLinear

DROPPED = 0.1
LEAST = 1e-6
"""Added to every variance: where nothing changes there are no patterns to be found."""


class ViewSight(nn.Module):
    """A glance is the patterns in which a view changes most; a code follows from the glance and how
    it differs from the newest known one."""

    def __init__(self, config: VideoWorldConfig) -> None:
        super().__init__()
        views = len(config.views)
        self.glance = ViewLinear(views, config.squares * config.numbers, config.glance)
        self.mixed = ViewLinear(views, 2 * config.glance, config.paint)
        self.coded = ViewLinear(views, config.paint, config.code)
        self.heard = nn.Linear(views * (config.code + 1), 3 * config.code)
        self.told = nn.Linear(3 * config.code, views * config.code)

    def forward(self, latents: Tensor, newest: Tensor) -> tuple[Tensor, Tensor]:
        """The codes [n, views, frames, numbers] of latents [n, views, frames, squares, numbers] and
        that of the newest known picture [n, views, squares, numbers]."""
        now = self.glance(newest[:, :, None].flatten(3))
        return self._code(self.glance(latents.flatten(3)), now), self._code(now, now)[:, :, 0]

    def tell(self, codes: Tensor, known: Tensor) -> Tensor:
        """What the codes of known views [n, views] say of every view at the same moment; nothing
        known says nothing."""
        count, views, frames = codes.shape[:3]
        given = known.to(codes.dtype)
        shown = (codes * given[:, :, None, None]).transpose(1, 2).flatten(2)
        which = given[:, None].expand(-1, frames, -1)
        heard = functional.silu(self.heard(torch.cat([shown, which], -1)))
        told = self.told(heard) * given.amax(1)[:, None, None]
        return torch.as_tensor(told.view(count, frames, views, -1).transpose(1, 2))

    @torch.no_grad()
    def begin(self, changes: Tensor) -> None:
        """The glance begins as the principal components of changes [views, n, numbers], all of one
        size."""
        together = changes.transpose(1, 2).double() @ changes.double() / changes.shape[1]
        damped = together + LEAST * torch.eye(together.shape[-1], device=changes.device)
        values, vectors = torch.linalg.eigh(damped)
        count = min(self.glance.weight.shape[1:])
        scale = values[:, None, -count:].sqrt()
        self.glance.weight[:, :count] = (vectors[..., -count:] / scale).transpose(1, 2)

    def _code(self, glances: Tensor, newest: Tensor) -> Tensor:
        both = torch.cat([glances, glances - newest], -1)
        both = functional.dropout(both, DROPPED, self.training)
        coded: Tensor = self.coded(functional.silu(self.mixed(both)))
        return coded
