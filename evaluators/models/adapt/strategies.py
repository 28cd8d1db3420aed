"""What each way of adapting a vision-language model trains: parts of it, all of it, adapters beside
it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from torch.nn import Parameter

Part = Literal["vision", "projector", "language"]
Strategy = Literal[
    "zero_shot",
    "full",
    "projector_language",
    "vision_language",
    "vision_projector",
    "vision",
    "projector",
    "language",
    "upper",
    "lora",
]

PARTS: dict[Strategy, frozenset[Part]] = {
    "zero_shot": frozenset(),
    "full": frozenset({"vision", "projector", "language"}),
    "projector_language": frozenset({"projector", "language"}),
    "vision_language": frozenset({"vision", "language"}),
    "vision_projector": frozenset({"vision", "projector"}),
    "vision": frozenset({"vision"}),
    "projector": frozenset({"projector"}),
    "language": frozenset({"language"}),
    "upper": frozenset({"language"}),
    "lora": frozenset(),
}
"""The parts whose own weights a strategy trains; LoRA trains matrices beside those of vision and
language."""

FIRST_LAYER = ".layers.0."
"""What `upper` leaves as it is: the decoder's first layer, where frames are compared."""
LAYERS = (
    r"(?!.*(projector|connector|merger|patch_embed))"
    r".*(vision_tower|vision_model|visual|language_model|text_model).*\."
    r"(q_proj|k_proj|v_proj|o_proj|out_proj|qkv|proj|fc1|fc2|linear_fc1|linear_fc2|gate_proj"
    r"|up_proj|down_proj)"
)
"""Attention and MLP of both halves, as PaliGemma, SmolVLM and Qwen-VL name them."""
PROJECTORS = ("multi_modal_projector.", "connector.", "merger", "perceiver_resampler.")
TOWERS = ("vision_tower.", "vision_model.", "visual.")


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model whose trainable parameters are exactly those of a strategy; `adapters` is peft's view
    of it."""

    model: Any
    adapters: Any = None


def ready(
    model: Any, strategy: Strategy, rank: int = 8, alpha: int = 8, seed: int = 0
) -> PreparedModel:
    """Freeze everything but what the strategy names."""
    if strategy not in PARTS:
        raise ValueError(f"There is no strategy {strategy!r}. There are: {', '.join(PARTS)}.")
    if strategy == "lora":
        return _with_lora(model, rank, alpha, seed)
    for name, parameter in model.named_parameters():
        first = strategy == "upper" and FIRST_LAYER in name
        parameter.requires_grad_(part_of(name) in PARTS[strategy] and not first)
    return PreparedModel(model)


def part_of(name: str) -> Part:
    """The part of a vision-language model that a parameter belongs to, by its name.

    >>> part_of("model.multi_modal_projector.linear.weight"), part_of("lm_head.weight")
    ('projector', 'language')
    >>> part_of("model.visual.merger.mlp.0.weight"), part_of("model.visual.blocks.0.attn.qkv.bias")
    ('projector', 'vision')
    """
    if any(projector in name for projector in PROJECTORS):
        return "projector"
    return "vision" if any(tower in name for tower in TOWERS) else "language"


def trained(model: Any) -> Iterator[tuple[str, Parameter]]:
    """The parameters that training changes, each once, by name."""
    return (
        (name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad
    )


def counts(model: Any) -> tuple[int, int]:
    """How many numbers are trained, and how many there are."""
    everything = list(model.parameters())
    return sum(p.numel() for p in everything if p.requires_grad), sum(p.numel() for p in everything)


def _with_lora(model: Any, rank: int, alpha: int, seed: int) -> PreparedModel:
    import torch
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=rank, lora_alpha=alpha, target_modules=LAYERS, lora_dropout=0.0, bias="none"
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adapters = get_peft_model(model, config)
    return PreparedModel(adapters.get_base_model(), adapters)
