"""How the tokeniser learns to see and to paint: told where things are, and by looking at what it
painted itself."""

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
    each: Callable[[int, float], None] = lambda _step, _loss: None,
) -> Tokeniser:
    """Eyes and brush together; then the scale of the latents and a linear read-out of the table's
    state."""
    torch.manual_seed(plan.seed)
    device, scenes = pick_device("auto"), scenes_of(practice)
    made = Tokeniser(config or EyesConfig()).to(device)
    with torch.no_grad():
        some = scenes.frames[:: max(1, len(scenes.frames) // 1500)]
        ground = (some.flatten(2, 3).float().median(0).values / 255).to(device)
        made.brush.ground.copy_(ground)
    parameters = [*made.eyes.parameters(), *made.brush.parameters()]
    optimiser = torch.optim.Adam(parameters, plan.rate)
    slower = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, plan.rate, total_steps=plan.steps, pct_start=0.1
    )
    for step in range(plan.steps):
        rows = torch.randint(0, len(scenes.frames), (plan.batch,))
        loss = _loss(made, scenes.rows(rows).to(device), ground)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        slower.step()
        each(step + 1, loss.item())
    made = made.to("cpu")
    _fit(made, scenes.rows(torch.randperm(len(scenes.frames))[:FITTED]))
    return made.eval()


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


def _loss(made: Tokeniser, scenes: Scenes, ground: Tensor) -> Tensor:
    """Where things are, what the picture looks like when they are painted there, and one's own
    pictures seen again."""
    pixels, there = scenes.frames.float() / 255, scenes.there
    points: Tensor = made.eyes(scenes.frames)
    found = torch.unflatten(points[..., PLACES], -1, (len(THINGS), 2))
    told = torch.where(there[..., None], scenes.places, found.detach()).flatten(2)
    painted: Tensor = made.brush(
        torch.cat([told, scenes.finger, points[..., FINGER.stop :]], dim=-1)
    )
    stirred = (pixels - torch.unflatten(ground, 1, pixels.shape[2:4])).abs().amax(
        -1, keepdim=True
    ) > STIR
    look = ((painted - pixels).square() * (1 + HEAVY * stirred)).mean()
    place = ((found - scenes.places).square().sum(-1) * there).mean()
    finger = (points[..., FINGER] - scenes.finger).square().sum(-1).mean()
    share = nn.functional.binary_cross_entropy(
        points[..., SHARES].clamp(1e-4, 1 - 1e-4), there.float()
    )
    return 10 * (look + place + finger + _seen_again(made, _changed(points.detach()))) + 0.1 * share


def _seen_again(made: Tokeniser, points: Tensor) -> Tensor:
    """The error of the eyes on what the brush makes of known points, for what is visible of
    them."""
    with torch.no_grad():
        frames = to_bytes(made.brush(points))
    visible = (made.brush.visible(points) / WELL).clamp(0, 1)
    off: Tensor = (made.eyes(frames) - points).square()
    places, colours = (
        torch.unflatten(off[..., part], -1, (len(THINGS), -1)).sum(-1) for part in (PLACES, COLOURS)
    )
    finger: Tensor = (off[..., FINGER].sum(-1) * visible[..., HAND]).mean()
    return finger + ((places + 0.1 * colours + 0.05 * off[..., SHARES]) * visible).mean()


def _changed(points: Tensor) -> Tensor:
    """Scenes near those seen, some with an object of another: what a dynamics model may come to
    paint."""
    changed = points.clone()
    places = torch.unflatten(changed[..., PLACES], -1, (len(THINGS), 2))
    swapped = torch.rand(len(points)) < SWAPPED
    for thing in range(HAND):
        other = places[torch.randperm(len(points))]
        places[swapped, :, thing] = other[swapped, :, thing]
    changed[..., : FINGER.stop] += MOVED * torch.randn_like(changed[..., : FINGER.stop])
    rest = changed[..., FINGER.stop :]
    changed[..., FINGER.stop :] = (rest + TINTED * torch.randn_like(rest)).clamp(0, 1)
    return changed


@torch.no_grad()
def _fit(made: Tokeniser, scenes: Scenes) -> None:
    """The scale of the latents; the state from real and from painted frames alike."""
    points = in_parts(made.eyes, scenes.frames)
    made.mean.copy_(points.mean(0))
    made.deviation.copy_(points.std(0).clamp(min=FLAT))
    again = in_parts(lambda part: made.eyes(to_bytes(made.brush(part))), points)
    made.eyes.state.copy_(
        fitted(torch.cat([points, again]).flatten(1), torch.cat([scenes.states] * 2), RIDGE)
    )
