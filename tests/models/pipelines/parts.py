"""Text encoders, tokenizers and autoencoders of published pipelines, with fewer and narrower
layers."""

from __future__ import annotations

from typing import Any

import diffusers
import transformers

from evaluators.models import small

lib: Any = diffusers
hf: Any = transformers
WIDTH = 32
"""The width of every reduced text encoder."""


def clip_text(kind: str = "CLIPTextModel", act: str = "quick_gelu") -> tuple[Any, Any]:
    """CLIP's text tower, of OpenAI or with a projection, and its tokenizer."""
    words = small._clip_tokenizer(small.SENTENCES)
    config = hf.CLIPTextConfig(**{**small._clip_text(words), "hidden_act": act})
    return getattr(hf, kind)(config).eval(), words


def t5(kind: str = "T5", width: int = WIDTH) -> tuple[Any, Any]:
    """The encoder of T5 1.1 XXL or UMT5 XXL: gated, relative positions."""
    words = small._t5_tokenizer(small.SENTENCES)
    config = getattr(hf, f"{kind}Config")(
        vocab_size=len(words),
        d_model=width,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        layer_norm_epsilon=1e-6,
        relative_attention_max_distance=128,
        relative_attention_num_buckets=32,
        tie_word_embeddings=False,
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
    )
    return getattr(hf, f"{kind}EncoderModel")(config).eval(), words


def gemma_2() -> tuple[Any, Any]:
    """Gemma 2 without its head."""
    words = small._gemma_tokenizer(small.SENTENCES)
    words.padding_side = "right"
    config = hf.Gemma2Config(**_decoder(words), head_dim=8, query_pre_attn_scalar=8)
    return hf.Gemma2Model(config).eval(), words


def gemma_3() -> tuple[Any, Any]:
    """Gemma 3 with a vision tower of one layer."""
    words = small._gemma_tokenizer(small.SENTENCES)
    text = {**_decoder(words), "head_dim": 8, "query_pre_attn_scalar": 8}
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 28,
        "patch_size": 14,
    }
    config = hf.Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4)
    return hf.Gemma3ForConditionalGeneration(config).eval(), words


def qwen_3(layers: int = 3) -> tuple[Any, Any]:
    """Qwen 3 with its head, and a tokenizer with a chat template."""
    words = chat_words()
    config = hf.Qwen3Config(**{**_decoder(words), "num_hidden_layers": layers}, head_dim=8)
    return hf.Qwen3ForCausalLM(config).eval(), words


def qwen_vl(kind: str = "Qwen2_5_VLForConditionalGeneration") -> tuple[Any, Any]:
    """Qwen2.5-VL with a vision tower of one layer, or its text model alone."""
    words = chat_words()
    text = {
        **_decoder(words),
        "rope_parameters": {
            "rope_type": "default",
            "mrope_section": [1, 1, 2],
            "rope_theta": 1_000_000.0,
        },
    }
    if kind == "Qwen2_5_VLTextModel":
        from transformers.models.qwen2_5_vl.configuration_qwen2_5_vl import Qwen2_5_VLTextConfig

        return getattr(hf, kind)(Qwen2_5_VLTextConfig(**text)).eval(), words
    vision = {
        "depth": 1,
        "hidden_size": 16,
        "num_heads": 2,
        "intermediate_size": 16,
        "out_hidden_size": WIDTH,
        "fullatt_block_indexes": [0],
    }
    return getattr(hf, kind)(
        hf.Qwen2_5_VLConfig(text_config=text, vision_config=vision)
    ).eval(), words


def llama() -> tuple[Any, Any]:
    """Llama 3 without its head."""
    words = chat_words()
    return hf.LlamaModel(hf.LlamaConfig(**_decoder(words))).eval(), words


def byt5() -> tuple[Any, Any]:
    """The encoder of ByT5 for words inside the picture."""
    words = hf.ByT5Tokenizer()
    config = hf.T5Config(
        vocab_size=len(words), d_model=WIDTH, d_kv=8, d_ff=64, num_layers=1, num_heads=4
    )
    return hf.T5EncoderModel(config).eval(), words


def chat_words() -> Any:
    """A byte-level tokenizer that pads on the right, as Qwen's does in pipelines."""
    words = small._chat_tokenizer(small.SENTENCES)
    words.padding_side, words.chat_template = "right", small.CHAT_TEMPLATE
    return words


def clip_vision(size: int = 224) -> tuple[Any, Any]:
    """CLIP's vision tower with a projection, and its image processor."""
    config = hf.CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=size,
        patch_size=56,
        projection_dim=WIDTH,
        hidden_act="gelu",
    )
    processor = hf.CLIPImageProcessorPil(
        size={"shortest_edge": size}, crop_size={"height": size, "width": size}
    )
    return hf.CLIPVisionModelWithProjection(config).eval(), processor


def vae(channels: int, scaling: float, shift: float | None = None, **more: Any) -> Any:
    """AutoencoderKL with four levels, which makes 8 pixels of one latent."""
    return lib.AutoencoderKL(
        block_out_channels=(32, 32, 32, 32),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        latent_channels=channels,
        norm_num_groups=32,
        scaling_factor=scaling,
        shift_factor=shift,
        **more,
    )


def flux_vae() -> Any:
    """The autoencoder of FLUX.1, which Z-Image, Lumina 2 and Chroma share."""
    return vae(16, 0.3611, 0.1159, use_quant_conv=False, use_post_quant_conv=False)


def wan_vae() -> Any:
    """The autoencoder of Wan 2.1, which Wan 2.2 A14B shares."""
    return lib.AutoencoderKLWan(base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=1)


def flow(**settings: Any) -> Any:
    """The scheduler of flow matching."""
    return lib.FlowMatchEulerDiscreteScheduler(**settings)


def _decoder(words: Any) -> dict[str, Any]:
    return {
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": len(words),
        "max_position_embeddings": 4096,
        "pad_token_id": words.pad_token_id,
        "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
    }
