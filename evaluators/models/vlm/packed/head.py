"""From hidden states to logits, as the whole model computes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

CAPPED = frozenset({"paligemma"})
"""Model types that bound their logits if their text config says so; the chat models known here
never do."""


@dataclass(frozen=True, slots=True)
class Head:
    """A model's output layer, and the cap that holds its logits between -cap and cap, if there is
    one."""

    layer: Any
    cap: float | None = None

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits in full precision; the cap works in the model's own, as in the model itself."""
        logits: Tensor = self.layer(hidden)
        if self.cap is not None:
            logits = torch.tanh(logits / self.cap) * self.cap
        return logits.float()


def head_of(model: Any) -> Head:
    """The head of a vision-language model: Gemma 2 caps final logits (30 by default), Gemma 1 does
    not."""
    config = model.config
    bounded = config.model_type in CAPPED
    cap = getattr(config.get_text_config(), "final_logit_softcapping", None) if bounded else None
    return Head(model.get_output_embeddings(), cap)
