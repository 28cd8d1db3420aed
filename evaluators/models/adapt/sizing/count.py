"""Counts what one training step of a weightless model keeps for the way back, and how many
operations it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from evaluators.models.adapt.batches import IGNORED, Batch, Mask, Teacher
from evaluators.models.adapt.sharding import layers_of
from evaluators.models.adapt.sizing.weightless import LessonSize, lesson_batch, weightless
from evaluators.models.adapt.strategies import Strategy, counts, ready
from evaluators.models.vlm.packed.head import head_of

GB = 10**9
FULL, LOW = 4, 2
"""Bytes of a number in full precision and in bf16."""
MOMENTS = 2
CARDS = (16, 24, 40, 48, 80)
"""Memories of common cards, in GB."""
SPARE = 0.92
"""Of a card's memory, what a training run may plan with: kernels and fragments take the rest."""


@dataclass(frozen=True, slots=True)
class StepCost:
    """What one step on one process takes: bytes by kind, and operations there and back."""

    strategy: Strategy
    trained: int
    parameters: int
    weights: int
    gradients: int
    moments: int
    activations: int
    checkpointed: int
    """Activations if those of a layer are computed again."""
    operations: int

    @property
    def total(self) -> int:
        """All bytes, with activations kept."""
        return self.fixed + self.activations

    @property
    def least(self) -> int:
        """All bytes, with activations computed again."""
        return self.fixed + self.checkpointed

    @property
    def fixed(self) -> int:
        """What stays between steps, and gradients."""
        return self.weights + self.gradients + self.moments


def step_cost(
    strategy: Strategy,
    size: LessonSize,
    mask: Mask = "own",
    shards: int = 1,
    config: dict[str, Any] | None = None,
    rank: int = 8,
) -> StepCost:
    """Count one step; with shards, weights, gradients and moments are spread over so many
    processes."""
    model = ready(weightless(config), strategy, rank).model
    model.train()
    trained, parameters = counts(model)
    teacher, batch = lesson_batch(model, mask, size)
    kept, operations = _passed(teacher, batch)
    kept_full = trained if shards == 1 else parameters
    weights = (FULL * kept_full + LOW * (parameters - kept_full)) // shards
    # What is trained in full precision is used as a copy in bf16: whole, or a layer at a time.
    copies = LOW * trained if shards == 1 else LOW * _largest(model)
    return StepCost(
        strategy,
        trained,
        parameters,
        weights + copies,
        FULL * trained // shards,
        MOMENTS * FULL * trained // shards,
        kept,
        _checkpointed(model, batch, kept),
        operations,
    )


def card_for(needed: int) -> int | None:
    """The smallest common card that has the memory; None if none has.

    >>> card_for(20 * 10**9), card_for(200 * 10**9)
    (24, None)
    """
    return next((card for card in CARDS if needed <= SPARE * card * GB), None)


def _passed(teacher: Teacher, batch: Batch) -> tuple[int, int]:
    """Bytes kept for the way back, and operations of both ways; none to go back to without
    training."""
    kept: dict[int, int] = {}
    own = {tensor.untyped_storage()._cdata for tensor in teacher.model.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            kept[storage._cdata] = storage.nbytes()
        held.append(tensor)
        return tensor

    held: list[Tensor] = []
    with FlopCounterMode(display=False) as counted, saved_tensors_hooks(keep, lambda t: t):
        logits = _logits(teacher, batch)
        if logits.requires_grad:
            torch.autograd.backward(logits.sum())
    return sum(kept.values()), int(counted.get_total_flops())


def _logits(teacher: Teacher, batch: Batch) -> Tensor:
    """Logits of as many tokens as are learned; which ones they are does not change the count."""
    learned = int((batch.labels != IGNORED).sum())
    hidden = teacher.hidden(batch)
    return head_of(teacher.model).logits(hidden.reshape(-1, hidden.shape[-1])[:learned])


def _checkpointed(model: Any, batch: Batch, kept: int) -> int:
    """The inputs of all layers, and everything of one layer at a time."""
    text, vision = model.config.get_text_config(), model.config.vision_config
    rows, width = batch.packed.tokens.shape
    inputs = text.num_hidden_layers * rows * width * text.hidden_size
    patches = (vision.image_size // vision.patch_size) ** 2
    seen = len(batch.pixels) * patches * vision.hidden_size
    trains_vision = any(
        p.requires_grad for name, p in model.named_parameters() if "vision_tower" in name
    )
    inputs += vision.num_hidden_layers * seen * trains_vision
    layers = text.num_hidden_layers + vision.num_hidden_layers * trains_vision
    return int(min(kept, LOW * inputs + kept // layers))


def _largest(model: Any) -> int:
    """Parameters that are put together at once: those outside of layers, and two layers (the next
    one is fetched ahead)."""
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in layers_of(model)]
    everything = sum(p.numel() for p in model.parameters())
    return int(everything - sum(sizes) + 2 * max(sizes))
