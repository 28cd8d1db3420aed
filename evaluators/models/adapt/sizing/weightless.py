"""A model without weights, built from its config on the meta device, and lessons for it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from evaluators.models.adapt.batches import Batch, Mask, Taught, Teacher

PALIGEMMA_2_3B: dict[str, Any] = {
    "model_type": "paligemma",
    "image_token_index": 257152,
    "projection_dim": 2304,
    "pad_token_id": 0,
    "text_config": {
        "model_type": "gemma2",
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "query_pre_attn_scalar": 256,
        "sliding_window": 4096,
        "vocab_size": 257216,
    },
    "vision_config": {
        "model_type": "siglip_vision_model",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "image_size": 224,
        "patch_size": 14,
        "projection_dim": 2304,
        "vision_use_head": False,
    },
}
"""The published sizes of PaliGemma 2 with 3 billion parameters at 224 pixels."""


@dataclass(frozen=True, slots=True)
class LessonSize:
    """How large a batch of lessons is: clips, frames, questions a clip, and tokens of both."""

    clips: int = 1
    frames: int = 8
    questions: int = 1
    asked: int = 16
    answered: int = 4


def weightless(config: dict[str, Any] | None = None) -> Any:
    """A PaliGemma of these sizes in bf16 that takes no memory."""
    from transformers import AutoConfig, AutoModelForImageTextToText

    sizes = dict(config or PALIGEMMA_2_3B)
    full = AutoConfig.for_model(sizes.pop("model_type"), **sizes)
    build: Any = AutoModelForImageTextToText.from_config
    with torch.device("meta"):
        return build(full, dtype=torch.bfloat16)


def lesson_batch(model: Any, mask: Mask, size: LessonSize) -> tuple[Teacher, Batch]:
    """A teacher of the weightless model, and a batch of that size for it."""
    vision = model.config.vision_config
    tokens = (vision.image_size // vision.patch_size) ** 2
    processor = SimpleNamespace(tokenizer=SimpleNamespace(eos_token_id=1), image_seq_length=tokens)
    teacher = Teacher(model, processor, mask)
    pixels = torch.empty(
        size.frames, 3, vision.image_size, vision.image_size, device="meta", dtype=torch.bfloat16
    )
    pair = (tuple(range(5, 5 + size.asked)), tuple(range(5, 5 + size.answered)))
    taught = Taught(pixels, (pair,) * size.questions)
    return teacher, teacher.batch([taught] * size.clips)
