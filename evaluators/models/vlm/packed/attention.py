"""Eager attention a strip of queries at a time: the same numbers, without a matrix of all scores in
memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

STRIP = 128
"""Queries at once. Gemma 2 caps its scores, so no fused kernel takes it, and its full matrix is
mostly page faults."""

NAME = "strips"


@contextmanager
def in_strips(text_config: Any) -> Iterator[None]:
    """Let a decoder that would attend eagerly do so in strips; leave one with a better kernel
    alone."""
    if text_config._attn_implementation != "eager":
        yield
        return
    _register()
    text_config._attn_implementation = NAME
    try:
        yield
    finally:
        text_config._attn_implementation = "eager"


def strips(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor, scaling: float,
    softcap: float | None = None, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """What a transformers attention function gives: [batch, query, head, width], and no weights."""
    batch, heads, length, width = query.shape
    shared = heads // module.num_key_value_groups
    attended = torch.empty(batch, length, heads, width, dtype=query.dtype, device=query.device)
    for start in range(0, length, STRIP):
        strip = query[:, :, start : start + STRIP]
        size = strip.shape[2]
        # Heads that share keys stand below each other, so that no key is copied.
        scores = torch.matmul(strip.reshape(batch, shared, -1, width), key.transpose(2, 3)).mul_(
            scaling
        )
        if softcap is not None:
            scores.div_(softcap).tanh_().mul_(softcap)
        scores.view(batch, shared, -1, size, scores.shape[-1]).add_(
            attention_mask[:, :, None, start : start + size]
        )
        weights = torch.softmax(scores, -1, dtype=torch.float32).to(query.dtype)
        strip_output = torch.matmul(weights, value).view(batch, heads, size, width)
        attended[:, start : start + size] = strip_output.transpose(1, 2)
    return attended, None


def _register() -> None:
    from transformers import AttentionInterface

    register: Any = AttentionInterface.register
    register(NAME, strips)
