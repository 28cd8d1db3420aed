"""Small random models of the families the judge knows, and the plain way to ask them: one
generate() a question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models import small
from evaluators.models.small import VlmSize
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.judge import load_model
from evaluators.models.vlm.paligemma import PaliGemmaFamily

Family = ChatFamily | PaliGemmaFamily
WINDOW = 24
"""Far shorter than the visual prefix of two frames."""

LOW_CAPS = {
    "final_logit_softcapping": 0.25,
    "attn_logit_softcapping": 8.0,
    "query_pre_attn_scalar": 20,
}
"""Below the logits and attention scores of a small model: whoever forgets a cap is far off; answers
still differ."""

GEMMA_2_ONLY = frozenset(
    {
        "final_logit_softcapping",
        "attn_logit_softcapping",
        "query_pre_attn_scalar",
        "sliding_window",
        "layer_types",
        "hidden_activation",
        "model_type",
    }
)

QWEN_TOKENS = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")

hf: Any = transformers


class QwenProcessor:
    """What Qwen-VL's processor does with pictures; the real one does not load without
    torchvision."""

    def __init__(self) -> None:
        self.tokenizer = small._chat_tokenizer(small.SENTENCES)
        self.tokenizer.add_special_tokens({"additional_special_tokens": list(QWEN_TOKENS)})
        edges = {"shortest_edge": 16 * 16, "longest_edge": 64 * 64}
        self.images = hf.Qwen2VLImageProcessorPil(
            patch_size=8, merge_size=2, temporal_patch_size=2, size=edges
        )

    def apply_chat_template(self, messages: Any, add_generation_prompt: bool = False) -> str:
        template = small.CHAT_TEMPLATE.replace(
            "<image>", "<|vision_start|><|image_pad|><|vision_end|>"
        )
        return str(
            self.tokenizer.apply_chat_template(
                messages,
                chat_template=template,
                add_generation_prompt=add_generation_prompt,
                tokenize=False,
            )
        )

    def __call__(self, images: Any, text: Sequence[str], return_tensors: str) -> dict[str, Tensor]:
        seen = self.images(images[0], return_tensors=return_tensors)
        parts = text[0].split("<|image_pad|>")
        counts = [int(grid.prod()) // 4 for grid in seen["image_grid_thw"]]
        whole = parts[0] + "".join(
            "<|image_pad|>" * count + part for count, part in zip(counts, parts[1:], strict=True)
        )
        ids = self.tokenizer([whole], add_special_tokens=False, return_tensors=return_tensors)[
            "input_ids"
        ]
        kinds = (ids == self.tokenizer.convert_tokens_to_ids("<|image_pad|>")).int()
        return {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "mm_token_type_ids": kinds,
            **seen,
        }


@cache
def family(name: str, folder: Path, seed: int = 0) -> Family:
    """A family by name, from a folder where there is one."""
    if name == "qwen2_5_vl":
        return _qwen(seed)
    size = VlmSize(window=WINDOW) if name.endswith("window") else VlmSize()
    make = MAKERS.get(name) or (
        small.make_paligemma if name.startswith("paligemma") else small.make_chat_vlm
    )
    model, processor = load_model(make(folder / f"{name}-{seed}", seed, size))
    if name.startswith("paligemma"):
        return PaliGemmaFamily(model, processor)
    return ChatFamily(_as_smolvlm(model) if name == "smolvlm" else model, processor)


def make_capped(folder: Path, seed: int = 0, size: VlmSize = small.SMALL) -> Path:
    """Save a PaliGemma 2 whose config asks for low caps."""
    path = small.make_paligemma(folder, seed, size) / "config.json"
    config = json.loads(path.read_text())
    config["text_config"] |= LOW_CAPS
    path.write_text(json.dumps(config))
    return folder


def make_gemma_1(folder: Path, seed: int = 0, size: VlmSize = small.SMALL) -> Path:
    """Save a PaliGemma of the first version, on Gemma 1: no caps, no sliding window."""
    path = small.make_paligemma(folder, seed, size) / "config.json"
    config = json.loads(path.read_text())
    text = {key: value for key, value in config["text_config"].items() if key not in GEMMA_2_ONLY}
    torch.manual_seed(seed)
    model = hf.PaliGemmaForConditionalGeneration(
        hf.PaliGemmaConfig(**{**config, "text_config": {**text, "model_type": "gemma"}})
    )
    model.get_input_embeddings().weight.data *= size.embedding
    model.eval().save_pretrained(folder)
    return folder


MAKERS = {"paligemma-capped": make_capped, "paligemma1": make_gemma_1}


def alone(one: Family, frames: Pixels, prompt: str, limit: int) -> tuple[tuple[int, ...], Tensor]:
    """The tokens and the first token's logits of a question asked with the images and nothing
    else."""
    text = (
        one.text(len(frames), prompt)
        if isinstance(one, ChatFamily)
        else "<image>" * len(frames) + prompt
    )
    given = dict(one.processor(images=[list(frames)], text=[text], return_tensors="pt"))
    given.pop("labels", None)
    with torch.inference_mode():
        made = one.model.generate(
            **given,
            max_new_tokens=limit,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    return tuple(made.sequences[0, given["input_ids"].shape[1] :].tolist()), made.logits[0][0]


def clip(seed: int, frames: int = 4, height: int = 32, width: int = 32) -> Pixels:
    """Noise, as frames."""
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


def _as_smolvlm(model: Any) -> Any:
    """The same weights in SmolVLM's classes."""
    fields = {key: value for key, value in model.config.to_dict().items() if key != "model_type"}
    fields["vision_config"] = {
        k: v for k, v in fields["vision_config"].items() if k != "model_type"
    }
    other = hf.SmolVLMForConditionalGeneration(hf.SmolVLMConfig(**fields)).eval()
    other.load_state_dict(model.state_dict())
    other.generation_config = model.generation_config
    return other


def _qwen(seed: int) -> ChatFamily:
    processor = QwenProcessor()
    words = processor.tokenizer
    text = {
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": len(words),
        "initializer_range": 0.3,
        "rope_parameters": {
            "rope_type": "default",
            "mrope_section": [2, 2, 2],
            "rope_theta": 10000.0,
        },
    }
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "num_heads": 2,
        "intermediate_size": 64,
        "out_hidden_size": 48,
        "patch_size": 8,
        "window_size": 32,
        "fullatt_block_indexes": [1],
    }
    ids = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>"}
    torch.manual_seed(seed)
    config = hf.Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        **{key: words.convert_tokens_to_ids(word) for key, word in ids.items()},
    )
    model = hf.Qwen2_5_VLForConditionalGeneration(config).eval()
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = (
        words.eos_token_id,
        words.pad_token_id,
    )
    return ChatFamily(model, processor)
