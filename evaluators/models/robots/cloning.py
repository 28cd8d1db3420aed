"""Policies cloned end to end: three pictures and the instruction in, the next 25 actions out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evaluators.models.robots.eyes import (
    BINS,
    HAND,
    OBJECTS,
    POSE,
    Glimpse,
    TableEyes,
    TableEyesConfig,
)
from evaluators.worlds.tabletop.planner import CHUNK
from evaluators.worlds.tabletop.starts import BIN_NAMES, parse

WORDS = OBJECTS + len(BIN_NAMES)
CHUNK_NUMBERS = CHUNK * 7
SEEN = HAND + POSE + 2 + OBJECTS + 1 + BINS
CLOSE = 8.0
"""How much larger the clone sees what is within a few centimetres of its hand."""


class Clone(nn.Module):
    """Eyes, the words, and layers that answer with actions; all learn together. Of the objects it
    attends to the one that was named."""

    def __init__(self, config: TableEyesConfig) -> None:
        super().__init__()
        self.eyes = TableEyes(config)
        wide = 4 * config.hidden
        self.act = nn.Sequential(
            nn.Linear(SEEN + WORDS, wide),
            nn.ReLU(),
            nn.Linear(wide, wide),
            nn.ReLU(),
            nn.Linear(wide, CHUNK_NUMBERS),
            nn.Tanh(),
        )

    def forward(self, pictures: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
        """Actions [batch, 175] from -1 to 1."""
        return self.judge(self.eyes.glimpse(pictures), told)

    def judge(self, glimpse: Glimpse, told: torch.Tensor) -> torch.Tensor:
        """Actions from what the views show."""
        seen = self.eyes.judge(glimpse)
        held, bins = torch.softmax(seen.held, dim=1), torch.softmax(seen.bins, dim=2)
        return self.answer(seen.hands, seen.poses, held, bins, told)

    def answer(
        self,
        hands: torch.Tensor,
        poses: torch.Tensor,
        held: torch.Tensor,
        bins: torch.Tensor,
        told: torch.Tensor,
    ) -> torch.Tensor:
        """Actions from what is seen, or in the first lessons from what is true."""
        named = told[:, :OBJECTS, None]
        pose, lies = (poses * named).sum(1), (bins * named).sum(1)
        close = (pose[:, :2] * CLOSE).clamp(-1, 1)
        return torch.as_tensor(self.act(torch.cat([hands, pose, close, held, lies, told], dim=1)))


def words(instruction: str) -> npt.NDArray[np.float32]:
    """Which object and which bin were named, as ones among zeros."""
    named, to = parse(instruction)
    numbers = np.zeros(WORDS, np.float32)
    numbers[named] = numbers[OBJECTS + to] = 1.0
    return numbers
