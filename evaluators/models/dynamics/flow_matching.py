"""Flow matching on the noised tokens: the loss of each mode, and sampling with diffusers' Euler
scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from diffusers.schedulers.scheduling_flow_match_euler_discrete import (
    FlowMatchEulerDiscreteScheduler,
)
from torch import Tensor

from evaluators.models.dynamics.model import Dynamics, LatentClip, Mode

SHARES: Mapping[Mode, float] = {"forward": 0.8, "cross_view": 0.1, "inverse": 0.1}
Network = Callable[[LatentClip, Tensor, Tensor], tuple[Tensor, Tensor]]
FROM_NOISE = 0.7
"""The share of training samples at pure noise, where sampling begins: with a little of the truth
the rest is easy."""


@dataclass(frozen=True, slots=True)
class Noised:
    """A clip with some tokens noised: which are clean [n, views + 1], and the time of the
    others."""

    clip: LatentClip
    time: Tensor
    clean: Tensor


def loss(
    network: Network,
    clip: LatentClip,
    shares: Mapping[Mode, float],
    generator: torch.Generator,
    weight: Tensor,
) -> Tensor:
    """The squared error of the predicted clean tokens, over those that were noised, each instance
    in one mode.

    `weight` [views, latent] says how much each number of a view counts, and lies where the network
    does; chance is drawn where the clip lies, so that it is the same wherever the network runs.
    """
    noised, device = _noise(clip, shares, generator), weight.device
    clean, target = noised.clean.to(device), clip.to(device)
    video, actions = network(noised.clip.to(device), noised.time.to(device), clean)
    hidden = (~clean).float()
    off_video = ((video - target.video).square() * weight[:, None]).mean((2, 3)) * hidden[:, :-1]
    off_actions = (actions - target.actions).square().mean((1, 2)) * hidden[:, -1]
    return (off_video.sum() + off_actions.sum()) / hidden.sum().clamp(min=1)


def sample(model: Dynamics, clip: LatentClip, clean: Tensor, noise: LatentClip) -> LatentClip:
    """Make what is not clean, from the noise given; the scheduler walks from noise to data in the
    config's steps."""
    scheduler = FlowMatchEulerDiscreteScheduler(num_train_timesteps=1000)
    scheduler.set_timesteps(
        sigmas=[1 - step / model.config.steps for step in range(model.config.steps)]
    )
    keep_video, keep_actions = clean[:, :-1, None, None], clean[:, -1:, None]
    video, actions = (
        torch.where(keep_video, clip.video, noise.video),
        torch.where(keep_actions, clip.actions, noise.actions),
    )
    for number, step in enumerate(scheduler.timesteps):
        sigma = scheduler.sigmas[number]
        time = torch.full((len(video),), 1 - float(sigma), device=video.device)
        predicted = model(replace(clip, video=video, actions=actions), time, clean)
        joined, predicted_tokens = _joined(video, actions), _joined(*predicted)
        after = scheduler.step((joined - predicted_tokens) / sigma, step, joined).prev_sample
        scheduler._step_index = number + 1
        moved_video, moved_actions = _parted(after, video, actions)
        video = torch.where(keep_video, clip.video, moved_video)
        actions = torch.where(keep_actions, clip.actions, moved_actions)
    return replace(clip, video=video, actions=actions)


def _noise(clip: LatentClip, shares: Mapping[Mode, float], generator: torch.Generator) -> Noised:
    count, views = clip.video.shape[:2]
    clean = _clean(count, views, shares, generator)
    time = torch.rand(count, generator=generator) * (
        torch.rand(count, generator=generator) >= FROM_NOISE
    )
    video = _mixed(clip.video, time[:, None, None, None], generator)
    actions = _mixed(clip.actions, time[:, None, None], generator)
    noised_clip = replace(
        clip,
        video=torch.where(clean[:, :-1, None, None], clip.video, video),
        actions=torch.where(clean[:, -1:, None], clip.actions, actions),
    )
    return Noised(noised_clip, time, clean)


def _mixed(data: Tensor, time: Tensor, generator: torch.Generator) -> Tensor:
    return time * data + (1 - time) * torch.randn(data.shape, generator=generator)


def _clean(
    count: int, views: int, shares: Mapping[Mode, float], generator: torch.Generator
) -> Tensor:
    """One mode an instance: actions clean (forward), actions and one view clean, or all views clean
    (inverse)."""
    names = list(shares)
    odds = torch.tensor([shares[name] for name in names])
    drawn = torch.multinomial(odds, count, replacement=True, generator=generator)
    clean = torch.zeros(count, views + 1, dtype=torch.bool)
    clean[:, -1] = True
    for number, name in enumerate(names):
        rows = torch.nonzero(drawn == number)[:, 0]
        if name == "inverse":
            clean[rows, :-1], clean[rows, -1] = True, False
        elif name == "cross_view":
            clean[rows, torch.randint(0, views, (len(rows),), generator=generator)] = True
    return clean


def _joined(video: Tensor, actions: Tensor) -> Tensor:
    return torch.cat([video.flatten(1), actions.flatten(1)], dim=1)


def _parted(joined: Tensor, video: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    cut = video[0].numel()
    return joined[:, :cut].view_as(video), joined[:, cut:].view_as(actions)
