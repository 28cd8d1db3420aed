"""A trained folder behind the contract of a world model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evaluators.contracts.world_model import (
    FORWARD,
    INPAINT,
    INVERSE,
    ForwardRequest,
    InpaintRequest,
    InverseRequest,
    WorldCard,
)
from evaluators.media import sha256_file
from evaluators.models.device import pick_device
from evaluators.models.video_world.codec import Frames, decode_film, encode_film
from evaluators.models.video_world.flow import sample
from evaluators.models.video_world.folder import WEIGHTS, TrainedWorld, load_model
from evaluators.models.video_world.lessons import denormalised, normalised
from evaluators.models.video_world.motion import FLOW, film_flow
from evaluators.models.video_world.network import VideoClip

Actions = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@dataclass(frozen=True)
class VideoWorld:
    """A video world model that answers requests one by one, each with the chance of its seed, so
    that an answer hangs on nothing but its request."""

    model: TrainedWorld
    name: str
    revision: str
    device: torch.device

    @property
    def card(self) -> WorldCard:
        """What it says of itself."""
        config = self.model.config
        able = (FORWARD, *(INVERSE,) * bool(self.inverse), *(INPAINT,) * bool(self.inpaint))
        return WorldCard(
            self.name,
            self.revision,
            config.views,
            config.height,
            config.width,
            config.rate,
            context=config.context,
            chunk=config.horizon,
            action_dim=config.action_dim,
            modes=able,
            action_scale=config.action_scale,
            tau=config.tau,
        )

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Frames]:
        """What the cameras would see, a horizon at a time."""
        return [self._imagine(request) for request in requests]

    @property
    def inverse(self) -> Callable[[Sequence[InverseRequest]], list[Actions]] | None:
        """The actions of videos, if that was practised."""
        if "inverse" not in self.model.config.modes:
            return None
        return lambda requests: [self._recover(request) for request in requests]

    @property
    def inpaint(self) -> Callable[[Sequence[InpaintRequest]], list[Frames]] | None:
        """All views from one, if that was practised."""
        config = self.model.config
        if "cross_view" not in config.modes or len(config.views) == 1:
            return None
        return lambda requests: [self._fill(request) for request in requests]

    def _imagine(
        self, request: ForwardRequest, given: Tensor | None = None, view: int = 0
    ) -> Frames:
        config, count = self.model.config, len(request.actions)
        context = encode_film(self.model.codec, request.context[:, -config.context :])
        acts = normalised(request.actions, config).to(self.device)
        past = normalised(request.past_actions, config).to(self.device)
        generator = torch.Generator().manual_seed(request.seed % 2**63)
        sampled: list[Tensor] = []
        for first in range(0, count, config.horizon):
            clip = self._clip(context, past, acts[first : first + config.horizon])
            if given is not None:
                _show(clip.video, given[first : first + config.horizon], view, config.context)
            ahead = len(acts[first : first + config.horizon])
            video = self._sample(clip, given is not None, view, generator).video
            sampled.append(video[0, :, config.context : config.context + ahead])
            context = torch.cat([context, sampled[-1]], dim=1)[:, -config.context :]
            past = acts[: first + config.horizon]
        return decode_film(self.model.codec, torch.cat(sampled, dim=1))

    def _fill(self, request: InpaintRequest) -> Frames:
        film = np.repeat(request.known[None], len(self.model.config.views), axis=0)
        given = encode_film(self.model.codec, film)[request.view]
        plain = ForwardRequest(
            request.episode,
            request.seed,
            request.instruction,
            request.context,
            request.past_actions,
            request.actions,
        )
        frames = self._imagine(plain, given, request.view)
        frames[request.view] = request.known
        return frames

    def _recover(self, request: InverseRequest) -> Actions:
        config = self.model.config
        latents = encode_film(self.model.codec, request.frames)
        count = latents.shape[1] - 1
        generator = torch.Generator().manual_seed(request.seed % 2**63)
        recovered: list[Actions] = []
        for first in range(0, count, config.horizon):
            ahead = latents[:, first + 1 : first + 1 + config.horizon]
            rest = torch.zeros(ahead.shape[1], config.action_dim, device=self.device)
            clip = self._clip(latents[:, first : first + 1], rest[:0], rest)
            shown = ahead.shape[1]
            clip.video[0, :, config.context :] = ahead[:, -1:]
            clip.video[0, :, config.context : config.context + shown] = ahead
            clean = torch.ones(1, len(config.views) + 1, dtype=torch.bool, device=self.device)
            clean[:, -1] = False
            actions = self._run(clip, clean, generator).actions
            recovered.append(
                denormalised(actions[0, config.context : config.context + shown], config)
            )
        return np.concatenate(recovered)

    def _clip(self, context: Tensor, past: Tensor, actions: Tensor) -> VideoClip:
        """A clip of whole groups: too short a context is led by its oldest frame, missing actions
        are as the last one, frames to come begin as the newest."""
        config = self.model.config
        missing, ahead = config.context - context.shape[1], len(actions)
        padded = -(-ahead // config.group) * config.group
        newest = context[:, -1:].expand(-1, padded, -1, -1)
        video = torch.cat([context[:, :1].expand(-1, missing, -1, -1), context, newest], dim=1)
        before = torch.zeros(config.context, config.action_dim, device=self.device)
        count = min(len(past), context.shape[1] - 1)
        if count:
            before[-count:] = past[-count:]
        rows = torch.cat([before, actions, actions[-1:].expand(padded - ahead, -1)])
        pace = torch.full((1,), config.paces[0], device=self.device)
        flow = torch.zeros(1, video.shape[1], len(config.views), FLOW, device=self.device)
        return VideoClip(video[None].clone(), rows[None], pace, flow)

    def _sample(
        self, clip: VideoClip, has_view: bool, view: int, generator: torch.Generator
    ) -> VideoClip:
        views = len(self.model.config.views)
        clean = torch.zeros(1, views + 1, dtype=torch.bool, device=self.device)
        clean[:, -1] = True
        if has_view:
            clean[:, view] = True
        return self._run(clip, clean, generator)

    def _flow(self, clip: VideoClip, clean: Tensor) -> Tensor:
        """The flow between known frames: those of the context or, with a known view, of all."""
        known = clip.video.shape[2] if clean[:, :-1].any() else self.model.config.context
        flow = torch.zeros_like(clip.flow)
        flow[0, :known] = film_flow(self.model.codec, clip.video[0, :, :known], 1)
        return flow

    def _run(self, clip: VideoClip, clean: Tensor, generator: torch.Generator) -> VideoClip:
        seen = replace(clip, flow=self._flow(clip, clean))
        noise = replace(
            clip,
            video=torch.randn(clip.video.shape, generator=generator).to(self.device),
            actions=torch.randn(clip.actions.shape, generator=generator).to(self.device),
        )
        return sample(self.model.network, seen, clean, noise, self.model.config.steps)


def open_world(folder: Path | str, device: str = "cpu") -> VideoWorld:
    """The world in a folder; ValueError or an error of safetensors says what is wrong with it."""
    folder, place = Path(folder), torch.device(pick_device(device))
    model = load_model(folder)
    model.codec.to(place)
    model.network.to(place)
    return VideoWorld(model, folder.resolve().name, sha256_file(folder / WEIGHTS)[:16], place)


def _show(video: Tensor, given: Tensor, view: int, context: int) -> None:
    """Puts the frames of a known view behind the context; the last goes on to the end."""
    video[0, view, context:] = given[-1]
    video[0, view, context : context + len(given)] = given
