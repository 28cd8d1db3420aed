"""Policies cloned end to end: three pictures and the instruction in, the next 25 actions out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evaluators.models.robots.eyes import TableEyes, TableEyesConfig
from evaluators.worlds.tabletop.planner import CHUNK
from evaluators.worlds.tabletop.starts import BIN_NAMES, OBJECTS, parse

WORDS = len(OBJECTS) + len(BIN_NAMES)
CHUNK_NUMBERS = CHUNK * 7


class Clone(nn.Module):
    """Eyes whose last layers are told the instruction and answer with actions."""

    def __init__(self, config: TableEyesConfig) -> None:
        super().__init__()
        self.eyes = TableEyes(config, extra=WORDS, outputs=CHUNK_NUMBERS)

    def forward(self, pictures: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
        """Actions [batch, 175] from -1 to 1."""
        return torch.tanh(self.eyes(pictures, told))


def words(instruction: str) -> npt.NDArray[np.float32]:
    """Which object and which bin were named, as ones among zeros."""
    named, to = parse(instruction)
    numbers = np.zeros(WORDS, np.float32)
    numbers[named] = numbers[len(OBJECTS) + to] = 1.0
    return numbers
