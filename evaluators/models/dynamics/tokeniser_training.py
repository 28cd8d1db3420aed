"""Trains the tokeniser to encode and to paint frames: from known object positions, and by re-
encoding what it painted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from evaluators.models.device import pick_device
from evaluators.models.dynamics.data import Practice
from evaluators.models.dynamics.tokeniser import (
    COLOURS,
    FINGER,
    HAND,
    PLACES,
    SHARES,
    THINGS,
    EyesConfig,
    Tokeniser,
    fitted,
    in_parts,
    to_bytes,
)

STIR, HEAVY = 0.08, 4.0
"""Pixels that differ so much from the empty bench weigh so much more: few of them carry the
meaning."""

MARGIN = 0.05
"""How far outside of a picture a thing's middle may lie for some of the thing to be seen in it."""

WELL = 0.3
"""A thing of which so much is visible can be told; of less, less is asked."""

MOVED, TINTED, SWAPPED = 0.02, 0.05, 0.3
"""How the eyes' own finds are changed before they are painted: places, colours and shares, objects
of other scenes."""

FITTED, RIDGE, FLAT = 6000, 1e-3, 0.02
"""Frames to which the scale and the state are fitted; and the least deviation of a latent that
hardly moves."""


@dataclass(frozen=True, slots=True)
class SightPlan:
    """How much the tokeniser practises."""

    episodes: int = 900
    steps: int = 1000
    batch: int = 48
    rate: float = 4e-3
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Scenes:
    """Frames, where each thing lies in each view [n, views, things, 2], from hand to finger, and
    the table's state."""

    frames: Tensor
    places: Tensor
    finger: Tensor
    states: Tensor

    def rows(self, chosen: Tensor) -> Scenes:
        """Some of them."""
        return Scenes(
            self.frames[chosen], self.places[chosen], self.finger[chosen], self.states[chosen]
        )

    def to(self, device: str) -> Scenes:
        """The same where the eyes are."""
        return Scenes(
            *(getattr(self, name).to(device) for name in ("frames", "places", "finger", "states"))
        )

    @property
    def there(self) -> Tensor:
        """Which things are in which view, [n, views, things]."""
        return ((self.places > -MARGIN) & (self.places < 1 + MARGIN)).all(-1)


def train_tokeniser(
    practice: Practice,
    plan: SightPlan,
    config: EyesConfig | None = None,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
) -> Tokeniser:
    """Eyes and brush together; then the scale of the latents and a linear read-out of the table's
    state."""
    torch.manual_seed(plan.seed)
    device, scenes = pick_device("auto"), scenes_of(practice)
    tokeniser = Tokeniser(config or EyesConfig()).to(device)
    with torch.no_grad():
        frame_sample = scenes.frames[:: max(1, len(scenes.frames) // 1500)]
        ground = (frame_sample.flatten(2, 3).float().median(0).values / 255).to(device)
        tokeniser.brush.ground.copy_(ground)
    parameters = [*tokeniser.eyes.parameters(), *tokeniser.brush.parameters()]
    optimiser = torch.optim.Adam(parameters, plan.rate)
    slower = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, plan.rate, total_steps=plan.steps, pct_start=0.1
    )
    for step in range(plan.steps):
        rows = torch.randint(0, len(scenes.frames), (plan.batch,))
        loss = _loss(tokeniser, scenes.rows(rows).to(device), ground)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        slower.step()
        on_step(step + 1, loss.item())
    tokeniser = tokeniser.to("cpu")
    _fit(tokeniser, scenes.rows(torch.randperm(len(scenes.frames))[:FITTED]))
    return tokeniser.eval()


def scenes_of(practice: Practice) -> Scenes:
    """Every frame of the practice, with what the eyes are told of it."""
    total = practice.frames.shape[0] * practice.frames.shape[1]
    flat = (
        torch.from_numpy(a.reshape(total, *a.shape[2:])) for a in (practice.frames, practice.places)
    )
    frames, spots = flat
    left, right = spots[:, :, HAND], spots[:, :, HAND + 1]
    places = torch.cat(
        [spots[:, :, :HAND], ((left + right) / 2)[:, :, None], spots[:, :, HAND + 2 :]], dim=2
    )
    return Scenes(
        frames, places, (right - left) / 2, torch.from_numpy(practice.states.reshape(total, -1))
    )


@torch.no_grad()
def repainted(tokeniser: Tokeniser, frames: Tensor) -> Tensor:
    """Frames as the tokeniser paints what it sees in them."""
    return in_parts(lambda part: tokeniser.decode(tokeniser.encode(part)), frames)


def _loss(tokeniser: Tokeniser, scenes: Scenes, ground: Tensor) -> Tensor:
    """The error of object positions, of the repainted picture, and of re-encoding painted
    scenes."""
    pixels, present = scenes.frames.float() / 255, scenes.there
    points: Tensor = tokeniser.eyes(scenes.frames)
    predicted_places = torch.unflatten(points[..., PLACES], -1, (len(THINGS), 2))
    painted_places = torch.where(
        present[..., None], scenes.places, predicted_places.detach()
    ).flatten(2)
    painted: Tensor = tokeniser.brush(
        torch.cat([painted_places, scenes.finger, points[..., FINGER.stop :]], dim=-1)
    )
    stirred = (pixels - torch.unflatten(ground, 1, pixels.shape[2:4])).abs().amax(
        -1, keepdim=True
    ) > STIR
    look = ((painted - pixels).square() * (1 + HEAVY * stirred)).mean()
    place = ((predicted_places - scenes.places).square().sum(-1) * present).mean()
    finger = (points[..., FINGER] - scenes.finger).square().sum(-1).mean()
    share = nn.functional.binary_cross_entropy(
        points[..., SHARES].clamp(1e-4, 1 - 1e-4), present.float()
    )
    return (
        10 * (look + place + finger + _reencoding_loss(tokeniser, _changed(points.detach())))
        + 0.1 * share
    )


def _reencoding_loss(tokeniser: Tokeniser, points: Tensor) -> Tensor:
    """The error of the encoder on pictures painted from known points, weighted by what is visible
    of them."""
    with torch.no_grad():
        frames = to_bytes(tokeniser.brush(points))
    visible = (tokeniser.brush.visible(points) / WELL).clamp(0, 1)
    off: Tensor = (tokeniser.eyes(frames) - points).square()
    places, colours = (
        torch.unflatten(off[..., part], -1, (len(THINGS), -1)).sum(-1) for part in (PLACES, COLOURS)
    )
    finger: Tensor = (off[..., FINGER].sum(-1) * visible[..., HAND]).mean()
    return finger + ((places + 0.1 * colours + 0.05 * off[..., SHARES]) * visible).mean()


def _changed(points: Tensor) -> Tensor:
    """Scenes near those seen, some with objects exchanged: what a dynamics model may predict."""
    changed = points.clone()
    places = torch.unflatten(changed[..., PLACES], -1, (len(THINGS), 2))
    swapped = torch.rand(len(points)) < SWAPPED
    for number in range(HAND):
        shuffled = places[torch.randperm(len(points))]
        places[swapped, :, number] = shuffled[swapped, :, number]
    changed[..., : FINGER.stop] += MOVED * torch.randn_like(changed[..., : FINGER.stop])
    appearance = changed[..., FINGER.stop :]
    changed[..., FINGER.stop :] = (appearance + TINTED * torch.randn_like(appearance)).clamp(0, 1)
    return changed


@torch.no_grad()
def _fit(tokeniser: Tokeniser, scenes: Scenes) -> None:
    """The scale of the latents; the state from real and from painted frames alike."""
    points = in_parts(tokeniser.eyes, scenes.frames)
    tokeniser.mean.copy_(points.mean(0))
    tokeniser.deviation.copy_(points.std(0).clamp(min=FLAT))
    again = in_parts(lambda part: tokeniser.eyes(to_bytes(tokeniser.brush(part))), points)
    tokeniser.eyes.state.copy_(
        fitted(torch.cat([points, again]).flatten(1), torch.cat([scenes.states] * 2), RIDGE)
    )
