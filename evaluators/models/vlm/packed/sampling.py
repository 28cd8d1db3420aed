"""Draws a decoder's words at a temperature instead of taking the likeliest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor


class DrawnFrom(Protocol):
    """A decoder that chooses words by the largest of its logits."""

    def logits(self, hidden: Tensor, /) -> Tensor: ...


@contextmanager
def drawn(decoder: DrawnFrom, temperature: float, seed: int) -> Iterator[None]:
    """Let the decoder's likeliest word be a draw while the block runs; nothing changes at
    temperature 0.

    The largest of logits with Gumbel noise of this scale is distributed as the softmax at this
    temperature is.
    """
    if temperature <= 0:
        yield
        return
    plain = decoder.logits
    source = torch.Generator().manual_seed(seed)

    def noisy(hidden: Tensor) -> Tensor:
        logits = plain(hidden)
        chance = torch.rand(logits.shape, generator=source).clamp_min(1e-20)
        return logits - temperature * torch.log(-torch.log(chance)).to(logits.device)

    vars(decoder)["logits"] = noisy
    try:
        yield
    finally:
        del vars(decoder)["logits"]
