"""A trained dynamics model behind the interface of a world model: frames in, frames and actions
out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evaluators.media import sha256_file
from evaluators.models.device import pick_device
from evaluators.models.dynamics.flow_matching import sample
from evaluators.models.dynamics.model import ACTION, Dynamics, LatentClip
from evaluators.models.dynamics.tokeniser import Tokeniser, in_parts
from evaluators.models.dynamics.tokeniser_training import repainted
from evaluators.models.dynamics.training import WEIGHTS, load
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.starts import seed_of
from evaluators.worlds.bussing.views import Frames
from evaluators.worlds.bussing.world_models import Context, WorldModel, simulator


class DynamicsWorld:
    """Rolls a model forward from the last frame of a context; its noise follows from the start and
    the step."""

    def __init__(
        self,
        model: Dynamics,
        tokeniser: Tokeniser,
        name: str,
        revision: str = "",
        device: str = "cpu",
    ) -> None:
        self.name, self.revision, self.device = name, revision, torch.device(pick_device(device))
        self.model, self.tokeniser = model.eval().to(self.device), tokeniser.eval().to(self.device)
        self.mean = torch.tensor(model.config.action_mean, device=self.device)
        self.scale = torch.tensor(model.config.action_scale, device=self.device)

    def world(self) -> WorldModel:
        """The interface; one that never practised its inverse has none, and so no U."""
        scale = self.scale.cpu().numpy().astype(np.float32)
        inverse = self.inverse if self.model.config.inverse else None
        return WorldModel(self.name, self.forward, inverse, scale, self.revision)

    @torch.no_grad()
    def forward(self, context: Context, actions: Actions) -> Frames:
        """Forward dynamics: all views denoised."""
        clip = self._clip(context, actions, None)
        return self._frames(
            self._sample(clip, context, [False] * self.model.config.views + [True]),
            actions.shape[1],
        )

    @torch.no_grad()
    def inpaint(self, context: Context, actions: Actions, view: int, frames: Frames) -> Frames:
        """Cross-view: one view's frames [episodes, steps, height, width, RGB] are known, the others
        are made."""
        whole = np.repeat(frames[:, None], self.model.config.views, axis=1)
        clip = self._clip(context, actions, self._latents(whole))
        is_known = [number == view for number in range(self.model.config.views)]
        return self._frames(self._sample(clip, context, [*is_known, True]), actions.shape[1])

    @torch.no_grad()
    def inverse(self, context: Context, frames: Frames) -> Actions:
        """Inverse dynamics: the video is known, actions are denoised."""
        empty = np.zeros((len(frames), frames.shape[2], ACTION), np.float32)
        clip = self._clip(context, empty, self._latents(frames))
        denoised = self._sample(clip, context, [True] * self.model.config.views + [False])
        recovered = denoised.actions[:, : frames.shape[2]] * self.scale + self.mean
        return recovered.cpu().numpy().astype(np.float32)

    def _clip(self, context: Context, actions: Actions, video: Tensor | None) -> LatentClip:
        config = self.model.config
        before = self.tokeniser.encode(torch.from_numpy(context.frames[:, :, -1]).to(self.device))
        rows = _padded(torch.from_numpy(actions).float().to(self.device), 1, config.horizon)
        latents = before[:, :, None].expand(-1, -1, config.horizon, -1) if video is None else video
        scaled = (rows - self.mean) / self.scale
        pace = torch.full((len(rows),), config.strides[0], device=self.device)
        return LatentClip(before, _padded(latents, 2, config.horizon), scaled, pace)

    def _sample(self, clip: LatentClip, context: Context, clean: list[bool]) -> LatentClip:
        generators = [
            torch.Generator().manual_seed(seed_of(start.id, context.step) % 2**63)
            for start in context.starts
        ]
        video = torch.stack(
            [torch.randn(clip.video.shape[1:], generator=source) for source in generators]
        )
        actions = torch.stack(
            [torch.randn(clip.actions.shape[1:], generator=source) for source in generators]
        )
        noise = LatentClip(clip.before, video, actions, clip.stride).to(self.device)
        return sample(
            self.model, clip, torch.tensor([clean] * len(video), device=self.device), noise
        )

    def _latents(self, frames: Frames) -> Tensor:
        flat = torch.from_numpy(np.ascontiguousarray(frames)).to(self.device).transpose(1, 2)
        return torch.unflatten(
            self.tokeniser.encode(flat.flatten(0, 1)), 0, flat.shape[:2]
        ).transpose(1, 2)

    def _frames(self, clip: LatentClip, steps: int) -> Frames:
        latents = clip.video[:, :, :steps].transpose(1, 2)
        decoded = in_parts(self.tokeniser.decode, latents.flatten(0, 1))
        frames = torch.unflatten(decoded, 0, latents.shape[:2]).transpose(1, 2)
        return np.ascontiguousarray(frames.cpu().numpy())


def open_world(folder: Path, name: str = "", device: str = "cpu") -> DynamicsWorld:
    """The world model in a folder, named by its weights too."""
    return DynamicsWorld(*load(folder), name or folder.name, sha256_file(folder / WEIGHTS), device)


def through_tokeniser(tokeniser: Tokeniser) -> WorldModel:
    """The simulator seen through the tokeniser: what no model that uses it can exceed."""
    perfect = simulator().world()

    def forward(context: Context, actions: Actions) -> Frames:
        frames = torch.from_numpy(perfect.forward(context, actions)).transpose(1, 2)
        painted = torch.unflatten(repainted(tokeniser, frames.flatten(0, 1)), 0, frames.shape[:2])
        return np.ascontiguousarray(painted.transpose(1, 2).numpy())

    return WorldModel("simulator through tokeniser", forward)


def _padded(rows: Tensor, axis: int, length: int) -> Tensor:
    """Repeat the last step up to the model's horizon."""
    short = length - rows.shape[axis]
    if short <= 0:
        return rows.narrow(axis, 0, length)
    return torch.cat(
        [rows, rows.narrow(axis, rows.shape[axis] - 1, 1).repeat_interleave(short, axis)], dim=axis
    )
