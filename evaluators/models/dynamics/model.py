"""One transformer over video and action tokens: forward dynamics, cross-view inpainting and inverse
dynamics.

Which tokens are clean decides the mode. Actions enter through the time path of every block and, as
what moves a hand is their sum, also straight. The network predicts clean tokens as a change to the
last known frame; the velocity of the flow follows from that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import torch
from diffusers.models.embeddings import get_timestep_embedding
from torch import Tensor, nn
from torch.nn import functional

from evaluators.models.dynamics.tokeniser import HAND, LATENT, PLACES, THINGS, fitted

ACTION, SUMMED = 7, 4
"""Numbers an action has, and those of them whose sum since the last known frame is given too: x, y,
z, turn."""

NEAR = (0.07, 0.2)
"""Widths of the bumps, in pictures, by which the network is told how near the hand comes to each
object."""

NEARNESS = HAND * (2 + len(NEAR))
"""Numbers a view and step: for each object its place from the hand, and how near that is."""

RIDGE = 1e-4

Mode = Literal["forward", "cross_view", "inverse"]


@dataclass(frozen=True, slots=True)
class DynamicsConfig:
    """Sizes and habits; the same code serves a small model here and a large one on a GPU.

    With `nearness` the network is told how near the hand comes to each object: hand-built
    knowledge, which needs latents laid out as our tokeniser's. One that never practised its
    `inverse` has no U.
    """

    views: int = 3
    latent: int = LATENT
    horizon: int = 24
    group: int = 4
    width: int = 96
    depth: int = 3
    heads: int = 4
    steps: int = 1
    strides: tuple[int, ...] = (1, 2)
    nearness: bool = True
    inverse: bool = True
    action_mean: tuple[float, ...] = (0.0,) * ACTION
    action_scale: tuple[float, ...] = (1.0,) * ACTION
    tau: float | None = None

    @property
    def groups(self) -> int:
        """Tokens a view."""
        return self.horizon // self.group

    def checked(self) -> DynamicsConfig:
        """Itself, or what is wrong with it."""
        for multiple, divisor in (("horizon", "group"), ("width", "heads")):
            whole, part = getattr(self, multiple), getattr(self, divisor)
            if part < 1 or whole < part or whole % part:
                raise ValueError(
                    f"The {multiple} is {whole} and the {divisor} {part}. Make the {multiple} a "
                    "multiple of it."
                )
        if self.steps < 1 or self.depth < 1 or not self.strides or min(self.strides) < 1:
            raise ValueError(
                "A dynamics model needs at least one block, one sampling step and one pace."
            )
        if self.nearness and self.latent != LATENT:
            raise ValueError(
                f"Nearness is read off {LATENT} numbers a view and there are {self.latent}. Set "
                "nearness to false."
            )
        return self

    def as_json(self) -> dict[str, object]:
        """For config.json."""
        return {
            "model_type": "armillary_dynamics",
            "architectures": ["ArmillaryDynamics"],
            **asdict(self),
        }


@dataclass(frozen=True, slots=True)
class LatentClip:
    """A batch: the last known frame [n, views, latent], what follows it [n, views, horizon,
    latent], the actions between [n, horizon, 7] (normalised), and how many tenths of a second a
    step takes [n]."""

    before: Tensor
    video: Tensor
    actions: Tensor
    stride: Tensor

    def to(self, device: torch.device) -> LatentClip:
        """The same where the network is."""
        return LatentClip(
            *(getattr(self, name).to(device) for name in ("before", "video", "actions", "stride"))
        )


class TransformerBlock(nn.Module):
    """Attention and a small network, both scaled, shifted and gated by time and action."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = (nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)
        self.modulate = nn.Linear(width, 6 * width)

    def forward(self, tokens: Tensor, condition: Tensor, rows: Tensor) -> Tensor:
        """`condition` has a row a group; `rows` says which of them each token takes."""
        parts = self.modulate(torch.relu(condition)).index_select(1, rows).chunk(6, dim=-1)
        shift, scale, gate, shift2, scale2, gate2 = parts
        tokens = tokens + (1 + gate) * self._attend(self.first(tokens) * (1 + scale) + shift)
        hidden = torch.relu(self.up(self.second(tokens) * (1 + scale2) + shift2))
        changed: Tensor = tokens + (1 + gate2) * self.down(hidden)
        return changed

    def _attend(self, tokens: Tensor) -> Tensor:
        count, length, width = tokens.shape
        q, k, v = (
            self.qkv(tokens)
            .view(count, length, 3, self.heads, width // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v)
        attended: Tensor = self.out(mixed.transpose(1, 2).reshape(count, length, width))
        return attended


class Dynamics(nn.Module):
    """The network: tokens are the last known frame of each view, groups of frames of each view,
    groups of actions."""

    middle: Tensor
    spread: Tensor

    def __init__(self, config: DynamicsConfig) -> None:
        super().__init__()
        self.config = config
        width, frame, act = (
            config.width,
            config.latent * config.group,
            (ACTION + SUMMED) * config.group,
        )
        self.before_in = nn.Linear(config.latent, width)
        self.video_in, self.video_out = nn.Linear(frame, width), nn.Linear(width, frame)
        self.action_in, self.action_out = (
            nn.Linear(act, width),
            nn.Linear(width, ACTION * config.group),
        )
        self.action_path = nn.Sequential(nn.Linear(act, width), nn.ReLU(), nn.Linear(width, width))
        self.act_direct = nn.Linear(act, width)
        self.before_path = nn.Linear(config.views * config.latent, width)
        self.drift = nn.Linear(act, config.views * frame)
        meeting = act + config.views * (config.latent + config.nearness * NEARNESS * config.group)
        self.meeting = nn.Sequential(
            nn.Linear(meeting, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )
        self.register_buffer("middle", torch.zeros(config.views, config.latent))
        self.register_buffer("spread", torch.ones(config.views, config.latent))
        self.time_path = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, width))
        self.kind = nn.Parameter(torch.randn(2 * config.views + 1, width) * 0.02)
        self.clean = nn.Parameter(torch.zeros(2, width))
        self.moment = nn.Parameter(torch.randn(config.groups + 1, width) * 0.02)
        self.stride = nn.Parameter(torch.zeros(max(config.strides) + 1, width))
        self.blocks = nn.ModuleList(
            TransformerBlock(width, config.heads) for _ in range(config.depth)
        )
        self.last = nn.LayerNorm(width)
        for layer in (self.video_in, self.video_out, self.action_out, self.drift):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.drift.requires_grad_(False)

    def forward(self, clip: LatentClip, time: Tensor, clean: Tensor) -> tuple[Tensor, Tensor]:
        """Clean video and actions from noised ones. `time` [n] runs from noise 0 to data 1; `clean`
        [n, views + 1] says which views, and whether the actions, are given clean."""
        config = self.config
        acts = self._acts(clip.actions)
        drift = self._drift(acts)
        condition = self._condition(clip, acts, drift, time)
        tokens = torch.cat([self._video(clip, clean), self._actions(acts, clean)], dim=1)
        rows = self._rows(tokens.device)
        tokens = tokens + condition.index_select(1, rows)
        for block in self.blocks:
            tokens = block(tokens, condition, rows)
        tokens = self.last(tokens)
        video = self.video_out(tokens[:, config.views : -config.groups])
        video = (
            video.view(len(tokens), config.views, config.horizon, config.latent)
            + drift
            + clip.before[:, :, None]
        )
        return video, self.action_out(tokens[:, -config.groups :]).view(
            len(tokens), config.horizon, ACTION
        )

    def _acts(self, actions: Tensor) -> Tensor:
        """Actions in groups, each with its sum since the last known frame."""
        summed = actions[..., [0, 1, 2, 5]].cumsum(1) / 6
        both = torch.cat([actions, summed], dim=-1)
        return torch.unflatten(both, 1, (self.config.groups, self.config.group)).flatten(2)

    @torch.no_grad()
    def fit_drift(self, clip: LatentClip) -> None:
        """Ridge regression from actions to the change since the last known frame.

        Sums differ by actions, so that without a ridge the solution is all rounding errors.
        """
        config = self.config
        acts = self._acts(clip.actions).flatten(0, 1)
        change = torch.unflatten(
            clip.video - clip.before[:, :, None], 2, (config.groups, config.group)
        )
        target = change.transpose(1, 2).flatten(0, 1).flatten(1)
        solution = fitted(acts, target, RIDGE * len(acts))
        self.drift.weight.copy_(solution[:-1].T)
        self.drift.bias.copy_(solution[-1])

    def _drift(self, acts: Tensor) -> Tensor:
        """The part of the change that is linear in the actions: where they bring the hand. Fitted,
        not trained."""
        config = self.config
        parts: Tensor = self.drift(acts).view(
            len(acts), config.groups, config.views, config.group, config.latent
        )
        return parts.transpose(1, 2).flatten(2, 3)

    def _condition(self, clip: LatentClip, acts: Tensor, drift: Tensor, time: Tensor) -> Tensor:
        """The time path, a row a group and one for the last known frame: time, pace, that frame,
        and the actions."""
        embedded = (
            self.time_path(get_timestep_embedding(time * 1000, 32)) + self.stride[clip.stride]
        )
        embedded = embedded + self.before_path(clip.before.flatten(1))
        before = clip.before.flatten(1)[:, None].expand(-1, self.config.groups, -1)
        near = [self._nearness(clip.before, drift)] if self.config.nearness else []
        meeting = self.meeting(torch.cat([acts, before, *near], dim=-1))
        groups = self.action_path(acts) + self.act_direct(acts) + meeting + embedded[:, None]
        return torch.cat([embedded[:, None], groups], dim=1)

    def _nearness(self, before: Tensor, drift: Tensor) -> Tensor:
        """Where each object lies from the hand, and how near, if only the hand moves: [n, groups,
        ...]."""
        moved = before[:, :, None] + drift
        hand = self._places(moved, self.middle[:, None], self.spread[:, None])[..., HAND, :]
        objects = self._places(before, self.middle, self.spread)[..., :HAND, :]
        away = objects[:, :, None] - hand[..., None, :]
        square = away.square().sum(-1, keepdim=True)
        nearness = torch.cat(
            [away, *(torch.exp(-square / (2 * width**2)) for width in NEAR)], dim=-1
        ).flatten(3)
        return torch.unflatten(
            nearness.transpose(1, 2), 1, (self.config.groups, self.config.group)
        ).flatten(2)

    def _places(self, latents: Tensor, middle: Tensor, spread: Tensor) -> Tensor:
        return torch.unflatten((latents * spread + middle)[..., PLACES], -1, (len(THINGS), 2))

    def _video(self, clip: LatentClip, clean: Tensor) -> Tensor:
        config = self.config
        before = self.before_in(clip.before) + self.kind[: config.views]
        groups = torch.unflatten(clip.video, 2, (config.groups, config.group)).flatten(3)
        kinds = self.kind[config.views : 2 * config.views, None] + self.moment[1:]
        video = (
            self.video_in(groups) + kinds + self.clean[clean[:, : config.views].long()][:, :, None]
        )
        video = video + self.before_in(clip.before)[:, :, None]
        return torch.cat([before, video.flatten(1, 2)], dim=1)

    def _actions(self, acts: Tensor, clean: Tensor) -> Tensor:
        embedded: Tensor = self.action_in(acts) + self.kind[-1] + self.moment[1:]
        return embedded + self.clean[clean[:, -1].long()][:, None]

    def _rows(self, device: torch.device) -> Tensor:
        groups = torch.arange(1, self.config.groups + 1, device=device)
        zeros = torch.zeros(self.config.views, dtype=torch.long, device=device)
        return torch.cat([zeros, groups.repeat(self.config.views), groups])
