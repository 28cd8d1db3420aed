"""Flow matching on the noised tokens: the loss, one mode an instance, and sampling by Euler's
steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from evaluators.models.video_world.config import Mode
from evaluators.models.video_world.network import VideoClip, VideoNetwork

Predict = Callable[[VideoClip, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
FROM_NOISE = 0.4
"""The share of instances at pure noise, where sampling begins: with some of the truth the rest is
easy."""


@dataclass(frozen=True, slots=True)
class InstanceLosses:
    """The loss of each instance of a batch and whether its actions were to be found."""

    each: Tensor
    inverse: Tensor

    @property
    def mean(self) -> Tensor:
        """Every instance counts alike, whatever its mode."""
        return self.each.mean()


@dataclass(frozen=True, slots=True)
class LossRecipe:
    """Which modes are drawn how often, after how many known frames, at which times (`shifted`), and
    in how many frames of a clip, drawn anew each time, what is painted is looked at; 0: in all."""

    shares: Mapping[Mode, float]
    context: int
    shift: float = 1.0
    painted: int = 0


def instance_losses(
    network: Predict,
    clip: VideoClip,
    recipe: LossRecipe,
    generator: torch.Generator,
    device: torch.device,
) -> InstanceLosses:
    """The squared error of the predicted clean tokens, over those that were noised. Chance is drawn
    on the CPU, so that it is the same wherever the network runs."""
    context = recipe.context
    count, views = clip.video.shape[:2]
    clean = draw_modes(count, views, recipe.shares, generator)
    begins = torch.rand(count, generator=generator) < FROM_NOISE
    time = torch.where(begins, 0.0, shifted(torch.rand(count, generator=generator), recipe.shift))
    ahead = clip.video.shape[2] - context
    asked = torch.randperm(ahead, generator=generator)[: recipe.painted or ahead].sort().values
    noised = _mix(clip, noise_like(clip, generator), time, clean, context)
    clip, clean = clip.to(device), clean.to(device)
    asked = asked.to(device)
    video, actions = network(noised.to(device), time.to(device), clean, asked)
    hidden = (~clean).float()
    true = clip.video[:, :, context:][:, :, asked]
    off_video = (video - true).square().mean((2, 3, 4)) * hidden[:, :-1]
    off_actions = (actions - clip.actions)[:, context:].square().mean((1, 2)) * hidden[:, -1]
    each = (off_video.sum(1) + off_actions) / hidden.sum(1)
    return InstanceLosses(each, ~clean[:, -1])


def shifted(time: Tensor, shift: float) -> Tensor:
    """Times from noise 0 to data 1, drawn towards noise: frames are so alike that a little of each
    tells most of a film. A shift of 1 leaves them.

    >>> shifted(torch.tensor([0.0, 0.5, 1.0]), 4.0).tolist()
    [0.0, 0.20000000298023224, 1.0]
    """
    return time / (time + shift * (1 - time))


def draw_modes(
    count: int, views: int, shares: Mapping[Mode, float], generator: torch.Generator
) -> Tensor:
    """What is clean in each instance [count, views + 1]: the actions (forward), actions and one
    view, or all views (inverse)."""
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


def noise_like(clip: VideoClip, generator: torch.Generator) -> VideoClip:
    """Noise in the shape of a clip."""
    video = torch.randn(clip.video.shape, generator=generator)
    return replace(clip, video=video, actions=torch.randn(clip.actions.shape, generator=generator))


@torch.no_grad()
def sample(
    network: VideoNetwork, clip: VideoClip, clean: Tensor, noise: VideoClip, steps: int
) -> VideoClip:
    """Makes what is not clean, from the noise given, in so many steps from noise to data. Where all
    views are known nothing is painted."""
    seen = bool(clean[:, :-1].all())
    asked = torch.arange(0, device=clean.device) if seen else None
    context, zero = network.config.context, torch.zeros(len(clip.video), device=clip.video.device)
    current = _mix(clip, noise, zero, clean, context)
    times = shifted(torch.linspace(0, 1, steps + 1), network.config.shift).tolist()
    for now, after in pairwise(times):
        ahead, actions = network(current, zero + now, clean, asked)
        video = clip.video if seen else torch.cat([clip.video[:, :, :context], ahead], dim=2)
        share = (after - now) / (1 - now)
        moved = replace(
            clip,
            video=torch.lerp(current.video, video, share),
            actions=torch.lerp(current.actions, actions, share),
        )
        current = _kept(clip, moved, clean, context)
    return current


def _mix(clip: VideoClip, noise: VideoClip, time: Tensor, clean: Tensor, context: int) -> VideoClip:
    """Data at their time, what is clean as it is."""
    video = torch.lerp(noise.video, clip.video, time[:, None, None, None, None])
    actions = torch.lerp(noise.actions, clip.actions, time[:, None, None])
    return _kept(clip, replace(clip, video=video, actions=actions), clean, context)


def _kept(clip: VideoClip, changed: VideoClip, clean: Tensor, context: int) -> VideoClip:
    in_context = torch.arange(clip.video.shape[2], device=clean.device) < context
    views = clean[:, :-1, None] | in_context
    acts = clean[:, -1:] | in_context
    return replace(
        clip,
        video=torch.where(views[..., None, None], clip.video, changed.video),
        actions=torch.where(acts[..., None], clip.actions, changed.actions),
    )
