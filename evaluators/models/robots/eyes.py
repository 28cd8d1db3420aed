"""Eyes for the table: a small network that reads off three pictures where hand and objects are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from evaluators.models.robots.sights import from_wrist, meeting

OBJECTS, VIEWS, ROOM = 4, 3, 2
THINGS = 1 + OBJECTS
"""The hand and the objects: what each view points at."""

HAND, POSE, BINS = 8, 5, 5
"""Hand: position, turn, fingers. A pose: position beside the hand, sine and cosine of the yaw.
Bins: none, or one of four."""

CENTRE, SCALE = (0.1, 0.0, 0.9), 0.2
TURN, FINGERS = 0.3, 0.02
"""Units of the network: metres, radians, and the way of a finger."""


@dataclass(frozen=True, slots=True)
class TableEyesConfig:
    """How well a pair of eyes can see: pixels, and the widths of what looks and what judges."""

    pixels: int = 64
    channels: int = 24
    hidden: int = 96


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What the views show: maps of where each thing is [batch, views, things, side, side], places
    from -1 to 1 [batch, views, things, 2], and what is seen there and all over [batch, views,
    things, features]."""

    maps: torch.Tensor
    places: torch.Tensor
    marks: torch.Tensor


@dataclass(frozen=True, slots=True)
class Sighting:
    """What eyes say in the network's units: hands [batch, 8], poses [batch, 4, 5], which object is
    held or none [batch, 5], in which bin each lies [batch, 4, 5], and all that it was judged by."""

    hands: torch.Tensor
    poses: torch.Tensor
    held: torch.Tensor
    bins: torch.Tensor


class Trunk(nn.Module):
    """One view: fine features that know the coarse ones around them, and a map for each thing."""

    def __init__(self, config: TableEyesConfig) -> None:
        super().__init__()
        thin, middle, wide = config.channels, 3 * config.channels // 2, 2 * config.channels
        self.fine = nn.Sequential(_conv(3, thin, 5, 2), _conv(thin, thin))
        self.middle = nn.Sequential(_conv(thin, middle, 3, 2), _conv(middle, wide))
        self.coarse = nn.Sequential(_conv(wide, wide, 3, 2), _conv(wide, wide))
        self.up_middle = _conv(wide, wide)
        self.narrow = _conv(wide, thin, 1)
        self.up_fine = _conv(thin, thin)
        self.maps = nn.Conv2d(thin, THINGS, 1)

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Maps [batch, things, side, side], fine features, and the mean of the coarse ones."""
        fine = self.fine(pictures.contiguous(memory_format=torch.channels_last))
        middle = self.middle(fine)
        coarse = self.coarse(middle)
        middle = self.up_middle(middle + _twice(coarse))
        fine = self.up_fine(fine + _twice(self.narrow(middle)))
        return self.maps(fine), fine, coarse.mean((2, 3))


class TableEyes(nn.Module):
    """Three views to numbers: the hand, the objects, what is held, what lies in which bin."""

    def __init__(self, config: TableEyesConfig) -> None:
        super().__init__()
        self.config = config
        self.trunks = nn.ModuleList(Trunk(config) for _ in range(VIEWS))
        marks = VIEWS * (3 + 3 * config.channels) + 3
        self.hand = _judge(marks, config.hidden, HAND + 1)
        self.objects = nn.ModuleList(
            _judge(2 * marks + HAND, config.hidden, 2 + POSE + 1 + BINS) for _ in range(OBJECTS)
        )

    def forward(self, pictures: torch.Tensor) -> Sighting:
        """What is seen in pictures [batch, views, 3, side, side]."""
        return self.judge(self.glimpse(pictures))

    def glimpse(self, pictures: torch.Tensor) -> Glimpse:
        """What each view shows, and where."""
        shown = [_pointed(*trunk(pictures[:, view])) for view, trunk in enumerate(self.trunks)]
        maps, places, marks = (torch.stack(parts, dim=1) for parts in zip(*shown, strict=True))
        return Glimpse(maps, places, marks)

    def judge(self, glimpse: Glimpse) -> Sighting:
        """Numbers from what the views show: places are those where lines of sight meet, put right
        by what the network learned."""
        met = (meeting(glimpse.places[:, :ROOM]) - torch.tensor(CENTRE)) / SCALE
        marks = torch.cat([glimpse.marks.transpose(1, 2).flatten(2), met], dim=2)
        hand = self.hand(marks[:, 0])
        hands = torch.cat([hand[:, :3] + met[:, 0], hand[:, 3:HAND]], dim=1)
        told = torch.cat([marks[:, 0], hands], dim=1)
        judged = torch.stack(
            [
                judge(torch.cat([marks[:, 1 + number], told], dim=1))
                for number, judge in enumerate(self.objects)
            ],
            dim=1,
        )
        poses = self._poses(judged, met, hands, glimpse.places[:, ROOM, 1:])
        held = torch.cat([judged[:, :, 2 + POSE], hand[:, HAND:]], dim=1)
        return Sighting(hands, poses, held, judged[:, :, 3 + POSE :])

    def _poses(
        self, judged: torch.Tensor, met: torch.Tensor, hands: torch.Tensor, wrist: torch.Tensor
    ) -> torch.Tensor:
        """Beside the hand: as the room's cameras have it or as the wrist's has it, whichever the
        network trusts."""
        trust, moved = torch.sigmoid(judged[:, :, :2]), judged[:, :, 2 : 2 + POSE]
        apart = met[:, 1:] - hands[:, None, :3]
        below = (apart[..., 2] + moved[..., 2]).detach() * SCALE
        near = from_wrist(wrist, hands[:, 3:6] * TURN, below) / SCALE
        beside = apart[..., :2] + trust * (near - apart[..., :2]) + moved[..., :2]
        return torch.cat([beside, apart[..., 2:] + moved[..., 2:3], moved[..., 3:]], dim=2)


def _pointed(
    maps: torch.Tensor, fine: torch.Tensor, coarse: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The maps, where each points to, and what is seen there."""
    batch, things, side, _ = maps.shape
    maps, fine, coarse = maps.float(), fine.float(), coarse.float()
    share = torch.softmax(maps.flatten(2), dim=2)
    axis = (torch.arange(side) + 0.5) * 2 / side - 1
    square = share.view(batch, things, side, side)
    places = torch.stack([(square.sum(2) * axis).sum(2), (square.sum(3) * axis).sum(2)], dim=2)
    there = share @ fine.flatten(2).transpose(1, 2)
    over = coarse[:, None].expand(-1, things, -1)
    sure = share.amax(2, keepdim=True)
    return maps, places, torch.cat([places, sure, there, over], dim=2)


def _conv(before: int, after: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(),
    )


def _judge(before: int, hidden: int, after: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(before, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, after),
    )


def _twice(maps: torch.Tensor) -> torch.Tensor:
    return nn.functional.interpolate(maps, scale_factor=2.0, mode="nearest")
