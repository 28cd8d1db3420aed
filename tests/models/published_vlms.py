"""Small random vision-language models of many families, saved as their authors publish them:
config.json, preprocessor_config.json, a tokenizer and a chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from evaluators.models import small

hf: Any = transformers
Settings = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedVlm:
    """How a family publishes: its class, its processor, the words of its pictures, and its config
    with sizes reduced."""

    model: str
    processor: str
    image_processor: Settings
    picture: str
    tokens: Mapping[str, str]
    """Settings of the config that are the number of a token, and the token."""
    config: Settings
    special: Mapping[str, str] = field(default_factory=dict)
    """Named tokens of the tokenizer."""
    processing: Settings = field(default_factory=dict)
    begins: str = ""


TEXT: Settings = {
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "initializer_range": 0.3,
    "max_position_embeddings": 4096,
}
SIGLIP: Settings = {
    "model_type": "siglip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
    "initializer_range": 0.3,
}
CLIP: Settings = {**SIGLIP, "model_type": "clip_vision_model", "projection_dim": 32}
MROPE = {"rope_type": "default", "mrope_section": [2, 2, 2], "rope_theta": 10000.0}
QWEN_PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
QWEN_TOKENS = {
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
}
QWEN_IMAGES: Settings = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "patch_size": 8,
    "merge_size": 2,
    "temporal_patch_size": 2,
    "min_pixels": 256,
    "max_pixels": 1024,
}
SQUARE = {"height": 32, "width": 32}
LLAVA_WORDS: Settings = {
    "patch_size": 8,
    "vision_feature_select_strategy": "default",
    "num_additional_image_tokens": 1,
}
LLAVA_CONFIG: Settings = {
    "text_config": {"model_type": "llama", **TEXT},
    "vision_config": CLIP,
    "vision_feature_layer": -1,
    "vision_feature_select_strategy": "default",
}

CLOSED = ("_gate", "mm_input_projection_weight")
"""Weights that are zero before any training, so that nothing would be seen."""
FAMILIES: dict[str, PublishedVlm] = {
    "qwen2_vl": PublishedVlm(
        "Qwen2VLForConditionalGeneration",
        "Qwen2VLProcessor",
        QWEN_IMAGES,
        QWEN_PICTURE,
        QWEN_TOKENS,
        {
            "text_config": {**TEXT, "rope_scaling": MROPE},
            "vision_config": {
                "depth": 2,
                "embed_dim": 32,
                "hidden_size": 48,
                "num_heads": 2,
                "mlp_ratio": 2,
                "patch_size": 8,
                "spatial_merge_size": 2,
                "temporal_patch_size": 2,
            },
        },
    ),
    "qwen2_5_vl": PublishedVlm(
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen2_5_VLProcessor",
        QWEN_IMAGES,
        QWEN_PICTURE,
        QWEN_TOKENS,
        {
            "text_config": {**TEXT, "rope_scaling": MROPE},
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "num_heads": 2,
                "intermediate_size": 64,
                "out_hidden_size": 48,
                "patch_size": 8,
                "window_size": 32,
                "fullatt_block_indexes": [1],
            },
        },
    ),
    "qwen3_vl": PublishedVlm(
        "Qwen3VLForConditionalGeneration",
        "Qwen3VLProcessor",
        QWEN_IMAGES,
        QWEN_PICTURE,
        QWEN_TOKENS,
        {
            "text_config": {**TEXT, "rope_scaling": MROPE},
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "num_heads": 2,
                "intermediate_size": 64,
                "out_hidden_size": 48,
                "patch_size": 8,
                "num_position_embeddings": 64,
                "deepstack_visual_indexes": [0],
            },
        },
    ),
    "qwen3_5": PublishedVlm(
        "Qwen3_5ForConditionalGeneration",
        "Qwen3VLProcessor",
        QWEN_IMAGES,
        QWEN_PICTURE,
        QWEN_TOKENS,
        {
            "text_config": {
                **TEXT,
                "rope_parameters": {**MROPE, "partial_rotary_factor": 1.0},
                "layer_types": ["linear_attention", "full_attention", "linear_attention"],
                "linear_key_head_dim": 8,
                "linear_value_head_dim": 8,
                "linear_num_key_heads": 2,
                "linear_num_value_heads": 2,
            },
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "num_heads": 2,
                "intermediate_size": 64,
                "out_hidden_size": 48,
                "patch_size": 8,
                "num_position_embeddings": 64,
            },
        },
    ),
    "video_llama_3": PublishedVlm(
        "VideoLlama3ForConditionalGeneration",
        "VideoLlama3Processor",
        {
            "image_processor_type": "VideoLlama3ImageProcessor",
            "patch_size": 8,
            "merge_size": 1,
            "min_pixels": 256,
            "max_pixels": 1024,
        },
        "<|image_pad|>",
        {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>"},
        {
            "text_config": {"model_type": "qwen2", **TEXT},
            "vision_config": {
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "patch_size": 8,
                "initializer_range": 0.3,
            },
        },
    ),
    "smolvlm": PublishedVlm(
        "SmolVLMForConditionalGeneration",
        "SmolVLMProcessor",
        {
            "image_processor_type": "SmolVLMImageProcessor",
            "size": {"longest_edge": 32},
            "max_image_size": {"longest_edge": 32},
            "do_image_splitting": False,
        },
        "<image>",
        {"image_token_id": "<image>"},
        {
            "text_config": {"model_type": "llama", **TEXT},
            "vision_config": {**SIGLIP, "model_type": "smolvlm_vision"},
            "scale_factor": 2,
        },
        processing={"image_seq_len": 4},
    ),
    "idefics2": PublishedVlm(
        "Idefics2ForConditionalGeneration",
        "Idefics2Processor",
        {
            "image_processor_type": "Idefics2ImageProcessor",
            "size": {"shortest_edge": 32, "longest_edge": 32},
            "do_image_splitting": False,
        },
        "<image>",
        {"image_token_id": "<image>"},
        {
            "text_config": {"model_type": "mistral", **TEXT},
            "vision_config": {k: v for k, v in SIGLIP.items() if k != "model_type"},
            "perceiver_config": {
                "resampler_n_latents": 4,
                "resampler_depth": 1,
                "resampler_n_heads": 2,
                "resampler_head_dim": 8,
                "num_key_value_heads": 1,
            },
        },
        processing={"image_seq_len": 4},
    ),
    "llava": PublishedVlm(
        "LlavaForConditionalGeneration",
        "LlavaProcessor",
        {"image_processor_type": "CLIPImageProcessor", "size": SQUARE, "crop_size": SQUARE},
        "<image>\n",
        {"image_token_index": "<image>"},
        LLAVA_CONFIG,
        processing=LLAVA_WORDS,
    ),
    "llava_next": PublishedVlm(
        "LlavaNextForConditionalGeneration",
        "LlavaNextProcessor",
        {
            "image_processor_type": "LlavaNextImageProcessor",
            "size": {"shortest_edge": 32},
            "crop_size": SQUARE,
            "image_grid_pinpoints": [[32, 64], [64, 32]],
        },
        "<image>\n",
        {"image_token_index": "<image>"},
        {**LLAVA_CONFIG, "image_grid_pinpoints": [[32, 64], [64, 32]]},
        processing=LLAVA_WORDS,
    ),
    "llava_onevision": PublishedVlm(
        "LlavaOnevisionForConditionalGeneration",
        "LlavaOnevisionProcessor",
        {
            "image_processor_type": "LlavaOnevisionImageProcessor",
            "size": SQUARE,
            "image_grid_pinpoints": [[32, 32], [32, 64]],
        },
        "<image>\n",
        {"image_token_index": "<image>", "video_token_index": "<video>"},
        {
            "text_config": {"model_type": "qwen2", **TEXT},
            "vision_config": SIGLIP,
            "vision_feature_layer": -1,
            "vision_feature_select_strategy": "full",
            "image_grid_pinpoints": [[32, 32], [32, 64]],
            "vision_aspect_ratio": "anyres_max_9",
        },
        processing={"num_image_tokens": 16, "vision_feature_select_strategy": "full"},
    ),
    "internvl": PublishedVlm(
        "InternVLForConditionalGeneration",
        "InternVLProcessor",
        {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": SQUARE,
            "crop_to_patches": False,
        },
        "<IMG_CONTEXT>\n",
        {"image_token_id": "<IMG_CONTEXT>"},
        {
            "text_config": {"model_type": "qwen2", **TEXT},
            "vision_config": {
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "image_size": [32, 32],
                "patch_size": [8, 8],
                "initializer_range": 0.3,
            },
            "image_seq_length": 4,
        },
        special={
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
        processing={"image_seq_length": 4},
    ),
    "gemma3": PublishedVlm(
        "Gemma3ForConditionalGeneration",
        "Gemma3Processor",
        {"image_processor_type": "Gemma3ImageProcessor", "size": SQUARE},
        "<start_of_image>",
        {
            "image_token_index": "<image_soft_token>",
            "boi_token_index": "<start_of_image>",
            "eoi_token_index": "<end_of_image>",
        },
        {
            "text_config": {**TEXT, "sliding_window": 24, "query_pre_attn_scalar": 12},
            "vision_config": SIGLIP,
            "mm_tokens_per_image": 4,
        },
        special={
            "boi_token": "<start_of_image>",
            "eoi_token": "<end_of_image>",
            "image_token": "<image_soft_token>",
        },
        processing={"image_seq_length": 4},
        begins="<|im_start|>",
    ),
    "mllama": PublishedVlm(
        "MllamaForConditionalGeneration",
        "MllamaProcessor",
        {
            "image_processor_type": "MllamaImageProcessor",
            "size": SQUARE,
            "max_image_tiles": 2,
        },
        "<|image|>",
        {"image_token_index": "<|image|>"},
        {
            "text_config": {
                **TEXT,
                "cross_attention_layers": [1],
                "rope_scaling": {"rope_type": "default", "rope_theta": 10000.0},
                "pad_token_id": 0,
            },
            "vision_config": {
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_hidden_layers": 2,
                "num_global_layers": 1,
                "attention_heads": 2,
                "image_size": 32,
                "patch_size": 8,
                "max_num_tiles": 2,
                "vision_output_dim": 64,
                "intermediate_layers_indices": [1],
                "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
            },
        },
        special={"image_token": "<|image|>"},
    ),
    "mistral3": PublishedVlm(
        "Mistral3ForConditionalGeneration",
        "PixtralProcessor",
        {
            "image_processor_type": "PixtralImageProcessor",
            "size": {"longest_edge": 32},
            "patch_size": {"height": 8, "width": 8},
        },
        "[IMG]",
        {"image_token_index": "[IMG]"},
        {
            "text_config": {"model_type": "mistral", **TEXT},
            "vision_config": {
                "model_type": "pixtral",
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "head_dim": 16,
                "image_size": 32,
                "patch_size": 8,
            },
            "spatial_merge_size": 2,
            "vision_feature_layer": -1,
        },
        processing={
            "patch_size": 8,
            "spatial_merge_size": 2,
            "image_token": "[IMG]",
            "image_break_token": "[IMG_BREAK]",
            "image_end_token": "[IMG_END]",
        },
        special={"image_break": "[IMG_BREAK]", "image_end": "[IMG_END]"},
    ),
    "glm4v": PublishedVlm(
        "Glm4vForConditionalGeneration",
        "Glm4vProcessor",
        {
            "image_processor_type": "Glm4vImageProcessor",
            "patch_size": 8,
            "merge_size": 2,
            "temporal_patch_size": 2,
            "size": {"shortest_edge": 256, "longest_edge": 4096},
        },
        "<|begin_of_image|><|image|><|end_of_image|>",
        {
            "image_token_id": "<|image|>",
            "video_token_id": "<|video|>",
            "image_start_token_id": "<|begin_of_image|>",
            "image_end_token_id": "<|end_of_image|>",
            "video_start_token_id": "<|begin_of_video|>",
            "video_end_token_id": "<|end_of_video|>",
        },
        {
            "text_config": {
                **TEXT,
                "rope_scaling": {**MROPE, "mrope_section": [1, 1, 1], "partial_rotary_factor": 0.5},
                "partial_rotary_factor": 0.5,
            },
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "num_heads": 2,
                "intermediate_size": 64,
                "out_hidden_size": 48,
                "patch_size": 8,
                "image_size": 32,
                "spatial_merge_size": 2,
                "temporal_patch_size": 2,
            },
        },
    ),
}


def make_published(name: str, folder: Path, seed: int = 0) -> Path:
    """Save a random model of the family as such folders lie on hubs."""
    family = FAMILIES[name]
    words = _words(family)
    number = words.convert_tokens_to_ids
    text = {**family.config["text_config"], "vocab_size": len(words)}
    tokens = {key: number(token) for key, token in family.tokens.items()}
    kind = getattr(hf, family.model)
    torch.manual_seed(seed)
    model = kind(kind.config_class(**{**family.config, **tokens, "text_config": text})).eval()
    model.get_input_embeddings().weight.data *= small.SMALL.embedding
    for name, weights in model.named_parameters():
        if name.endswith(CLOSED):
            weights.data.normal_(0.0, 0.3)
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = words.pad_token_id
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    _write(
        folder / "tokenizer_config.json",
        {**settings, "extra_special_tokens": dict(family.special)},
    )
    template = family.begins + small.CHAT_TEMPLATE.removeprefix("<|im_start|>")
    (folder / "chat_template.jinja").write_text(template.replace("<image>", family.picture))
    _write(folder / "preprocessor_config.json", family.image_processor)
    _write(
        folder / "processor_config.json", {"processor_class": family.processor, **family.processing}
    )
    return folder


def _words(family: PublishedVlm) -> Any:
    words = small._chat_tokenizer(small.SENTENCES)
    tokens = sorted({*family.tokens.values(), *family.special.values()})
    words.add_special_tokens({"additional_special_tokens": tokens})
    return words


def _write(file: Path, settings: Settings) -> None:
    file.write_text(json.dumps(settings, indent=2))
