"""Small random models of the families the judge knows, and the plain way to ask them: one
generate() a question."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from torch import Tensor

from evaluators.media import Pixels
from evaluators.models import small
from evaluators.models.small import VlmSize
from evaluators.models.vlm.chat import ChatFamily
from evaluators.models.vlm.judge import load_model
from evaluators.models.vlm.paligemma import PaliGemmaFamily
from tests.models.published_vlms import FAMILIES, make_published

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

hf: Any = transformers


@cache
def family(name: str, folder: Path, seed: int = 0) -> Family:
    """A family by name, from a folder where there is one."""
    if name in FAMILIES:
        return ChatFamily(*load_model(make_published(name, folder / f"{name}-{seed}", seed)))
    size = VlmSize(window=WINDOW) if name.endswith("window") else VlmSize()
    make = MAKERS.get(name) or (
        small.make_paligemma if name.startswith("paligemma") else small.make_chat_vlm
    )
    model, processor = load_model(make(folder / f"{name}-{seed}", seed, size))
    if name.startswith("paligemma"):
        return PaliGemmaFamily(model, processor)
    return ChatFamily(model, processor)


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
    given = read(one, frames, prompt)
    with torch.inference_mode():
        made = one.model.generate(
            **given,
            max_new_tokens=limit,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
    return tuple(made.sequences[0, given["input_ids"].shape[1] :].tolist()), made.logits[0][0]


def read(one: Family, frames: Pixels, prompt: str) -> dict[str, Tensor]:
    """What the plain model reads of a question: a chat model's by its own template and tokenizer in
    one go."""
    if isinstance(one, PaliGemmaFamily):
        text = "<image>" * len(frames) + prompt
        given = dict(one.processor(images=[list(frames)], text=[text], return_tensors="pt"))
        given.pop("labels", None)
        return given
    content = [{"type": "image", "image": Image.fromarray(pixels)} for pixels in frames]
    asked = [{"role": "user", "content": [*content, {"type": "text", "text": prompt}]}]
    tiles = (
        {"crop_to_patches": False}
        if one.model.config.model_type == "internvl" and len(frames) > 1
        else {}
    )
    told = one.processor.apply_chat_template(
        asked,
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
        processor_kwargs=tiles,
    )
    return dict(told)


def clip(seed: int, frames: int = 4, height: int = 32, width: int = 32) -> Pixels:
    """Noise, as frames."""
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)
