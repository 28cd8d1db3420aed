"""Model folders in the shape in which their authors publish them, restated with small sizes: the
settings that matter.

What is peculiar to published folders stands here: names of somebody's disk, tokens as dictionaries,
settings that no class knows, parts that are left open, numbers in a model_index.json, legacy names
of classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.submissions.bad.models import safetensors

Json = dict[str, Any]
Files = dict[str, Json | bytes]
SCHEDULER = {
    "_class_name": "FlowMatchEulerDiscreteScheduler",
    "_diffusers_version": "0.30.0.dev0",
    "shift": 3.0,
}
NORMAL = {"lstrip": False, "normalized": True, "rstrip": False, "single_word": False}
LEGACY = {
    "bad_words_ids": None,
    "diversity_penalty": 0.0,
    "finetuning_task": None,
    "id2label": {"0": "LABEL_0"},
    "label2id": {"LABEL_0": 0},
    "pruned_heads": {},
    "task_specific_params": None,
    "tf_legacy_loss": False,
    "torchscript": False,
    "use_bfloat16": False,
    "output_past": True,
}
"""What old versions of transformers wrote into every config."""
TRANSLATION = {
    "translation_en_to_de": {
        "early_stopping": True,
        "max_length": 300,
        "prefix": "translate to German: ",
    }
}
CHAT = (
    "{%- for message in messages %}{%- if message.content is string %}{{ '<|im_start|>' + "
    "message.role }}{%- else %}"
    "{%- for part in message.parts %}{%- if part.type == 'image' and add_vision_id is defined "
    "%}Picture "
    "{{ loop.index }}{%- endif %}{{ part.text | trim }}{%- endfor %}{%- endif %}{%- endfor %}"
    "{%- set ns = namespace(has_images=false, last_query_index=messages | length - 1) %}"
    "{%- for tool, value in (metadata or {}) | dictsort %}{{ tool }}={{ value | tojson }}{%- "
    "endfor %}"
    "{%- if ns.has_images %}{{ raise_exception('one turn only') }}{%- endif %}"
)


def tensors(**shapes: tuple[int, ...]) -> bytes:
    """Weights of ones; a double underscore stands for a dot."""
    return safetensors(
        {name.replace("__", "."): np.ones(shape, np.float16) for name, shape in shapes.items()}
    )


def part(kind: str, **settings: Any) -> Json:
    return {"_class_name": kind, "_diffusers_version": "0.33.0.dev0", **settings}


def clip_text(kind: str = "CLIPTextModel") -> Json:
    return {
        "_name_or_path": "openai/clip-vit-large-patch14",
        "architectures": [kind],
        "model_type": "clip_text_model",
        "vocab_size": 40,
        "hidden_size": 8,
        "hidden_act": "quick_gelu",
        "torch_dtype": "float16",
        "transformers_version": "4.22.0.dev0",
    }


def t5(kind: str = "T5EncoderModel") -> Json:
    return {
        **LEGACY,
        "_name_or_path": "/raid/nobody/text_encoder",
        "architectures": [kind],
        "d_model": 8,
        "d_ff": 16,
        "model_type": "t5",
        "vocab_size": 40,
        "scalable_attention": True,
        "task_specific_params": TRANSLATION,
        "dense_act_fn": "gelu_new",
        "is_gated_act": True,
    }


def qwen_text(kind: str, model_type: str) -> Json:
    return {
        "architectures": [kind],
        "model_type": model_type,
        "vocab_size": 40,
        "hidden_size": 8,
        "rope_theta": 1e6,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24], "rope_type": "default"},
        "vision_config": {
            "depth": 2,
            "in_chans": 3,
            "spatial_patch_size": 14,
            "tokens_per_second": 2,
        },
        "attn_output_gate": True,
        "use_cache": True,
        "sliding_window": None,
    }


def old_tokenizer() -> Files:
    """CLIP's tokenizer as the first pipelines had it."""
    token = {"__type": "AddedToken", "content": "<|endoftext|>", **NORMAL}
    config = {
        "tokenizer_class": "CLIPTokenizer",
        "bos_token": token,
        "unk_token": token,
        "pad_token": "<|endoftext|>",
        "name_or_path": "openai/clip-vit-large-patch14",
        "model_max_length": 77,
        "errors": "replace",
        "special_tokens_map_file": "/home/nobody/.cache/special_tokens_map.json",
    }
    return {
        "tokenizer/tokenizer_config.json": config,
        "tokenizer/special_tokens_map.json": {
            "bos_token": {"content": "<|startoftext|>", **NORMAL}
        },
        "tokenizer/vocab.json": {"</w>": 0, "__init__": 1, "https://": 2},
    }


def new_tokenizer(kind: str, **settings: Any) -> Files:
    """A tokenizer with a table of added tokens, a chat template and a whole tokenizer.json."""
    added = {
        "7": {"content": "</think>", **NORMAL, "special": False},
        "8": {"content": "//", **NORMAL},
    }
    words = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": 7, "content": "/"}],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Replace", "content": "▁", "pattern": {"String": "https://"}}],
        },
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": "(?i:'s)|../"},
            "behavior": "Isolated",
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"/etc": 0, "eval(": 1}, "merges": [["/", "etc"]]},
    }
    config = {
        "tokenizer_class": kind,
        "added_tokens_decoder": added,
        "chat_template": CHAT,
        "split_special_tokens": False,
        "additional_special_tokens": ["<|im_start|>", "/no_think"],
        "model_max_length": 10**30,
        **settings,
    }
    return {
        "tokenizer/tokenizer_config.json": config,
        "tokenizer/added_tokens.json": {"<|repo_name|>": 9},
        "tokenizer/special_tokens_map.json": {
            "additional_special_tokens": [{"content": "<image>", **NORMAL}]
        },
        "tokenizer/tokenizer.json": words,
    }


def pipeline(kind: str, **parts: Any) -> Files:
    return {
        "model_index.json": {"_class_name": kind, "_diffusers_version": "0.30.0.dev0", **parts},
        "scheduler/scheduler_config.json": SCHEDULER,
        "README.md": b"# A model\n",
    }


def weights(*folders: str) -> Files:
    """Weights of parts whose sizes the door does not look at."""
    return {
        f"{name}/diffusion_pytorch_model.safetensors": tensors(blocks__0__weight=(2, 2))
        for name in folders
    }


def flux() -> Files:
    parts = {
        "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "T5EncoderModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "tokenizer_2": ["transformers", "T5TokenizerFast"],
        "transformer": ["diffusers", "FluxTransformer2DModel"],
        "vae": ["diffusers", "AutoencoderKL"],
        "image_encoder": [None, None],
        "_name_or_path": "../checkpoints/flux-dev",
    }
    place = {"_name_or_path": "../checkpoints/flux-dev/transformer"}
    return {
        **pipeline("FluxPipeline", **parts),
        **old_tokenizer(),
        **weights("transformer"),
        "text_encoder/config.json": clip_text(),
        "text_encoder_2/config.json": t5(),
        "text_encoder_2/model.safetensors": tensors(encoder__embed_tokens__weight=(40, 8)),
        "transformer/config.json": part("FluxTransformer2DModel", guidance_embeds=True, **place),
        ".gitattributes": b"*.safetensors filter=lfs\n",
        "LICENSE.md": b"Some licence\n",
        "dev_grid.jpg": b"\xff\xd8\xff",
    }


def stable_diffusion() -> Files:
    parts = {
        "text_encoder": ["transformers", "CLIPTextModel"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
        "feature_extractor": ["transformers", "CLIPFeatureExtractor"],
        "requires_safety_checker": True,
    }
    checker = {
        "architectures": ["StableDiffusionSafetyChecker"],
        "_name_or_path": "./safety_module",
        "_commit_hash": None,
        "text_config": {**LEGACY, "model_type": "clip_text_model"},
        "text_config_dict": {"hidden_size": 8},
        "logit_scale_init_value": 2.6,
    }
    unet = part("UNet2DConditionModel", block_out_channels=[4, 8], in_channels=4, num_frames=16)
    return {
        **pipeline("StableDiffusionPipeline", **parts),
        **old_tokenizer(),
        "safety_checker/config.json": checker,
        "feature_extractor/preprocessor_config.json": {
            "feature_extractor_type": "CLIPFeatureExtractor",
            "crop_size": 224,
            "image_mean": [0.48, 0.45, 0.4],
        },
        "unet/config.json": unet,
        "unet/model.safetensors": tensors(conv_in__weight=(4, 4, 3, 3)),
        "text_encoder/config.json": clip_text(),
        "text_encoder/pytorch_model.bin.index.json": {"weight_map": {"a": "pytorch_model-1.bin"}},
    }


def qwen_image() -> Files:
    parts = {
        "text_encoder": ["transformers", "Qwen2_5_VLForConditionalGeneration"],
        "tokenizer": ["transformers", "Qwen2Tokenizer"],
        "vae": ["diffusers", "AutoencoderKLQwenImage"],
        "transformer": ["diffusers", "QwenImageTransformer2DModel"],
    }
    vae = part(
        "AutoencoderKLQwenImage",
        temperal_downsample=[False, True],
        latents_mean=[-0.7, 0.1],
        temporal_downsample=1,
    )
    encoder = qwen_text("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl")
    return {
        **pipeline("QwenImagePipeline", **parts),
        **new_tokenizer("Qwen2Tokenizer"),
        **weights("transformer", "vae"),
        "vae/config.json": vae,
        "text_encoder/config.json": encoder,
        "text_encoder/generation_config.json": {
            "do_sample": True,
            "eos_token_id": [1, 2],
            "top_k": 1,
        },
    }


def z_image() -> Files:
    parts = {
        "text_encoder": ["transformers", "Qwen3Model"],
        "tokenizer": ["transformers", "Qwen2TokenizerFast"],
        "transformer": ["diffusers", "ZImageTransformer2DModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    return {
        **pipeline("ZImagePipeline", **parts),
        **new_tokenizer("Qwen2Tokenizer"),
        **weights("transformer"),
        "text_encoder/config.json": qwen_text("Qwen3ForCausalLM", "qwen3"),
        "transformer/config.json": part("ZImageTransformer2DModel", siglip_feat_dim=None),
    }


def lumina() -> Files:
    parts = {
        "text_encoder": ["transformers", "Gemma2Model"],
        "tokenizer": ["transformers", "GemmaTokenizerFast"],
        "transformer": ["diffusers", "Lumina2Transformer2DModel"],
    }
    gemma = {
        "architectures": ["Gemma2ForCausalLM"],
        "model_type": "gemma2",
        "cache_implementation": "hybrid",
        "_attn_implementation_autoset": True,
        "_attn_implementation": "eager",
    }
    return {
        **pipeline("Lumina2Pipeline", **parts),
        **new_tokenizer("GemmaTokenizer", sp_model_kwargs={}),
        **weights("transformer"),
        "text_encoder/config.json": gemma,
    }


def wan(kind: str = "WanPipeline", **settings: Any) -> Files:
    parts = {
        "text_encoder": ["transformers", "UMT5EncoderModel"],
        "tokenizer": ["transformers", "T5TokenizerFast"],
        "transformer": ["diffusers", "WanTransformer3DModel"],
        "vae": ["diffusers", "AutoencoderKLWan"],
    }
    shape = {
        "image_dim": None,
        "added_kv_proj_dim": None,
        "patch_size": [1, 2, 2],
        "rope_max_seq_len": 1024,
    }
    return {
        **pipeline(kind, **parts, **settings),
        **new_tokenizer("T5Tokenizer", extra_ids=300, remove_space=True),
        **weights("transformer", "transformer_2"),
        "text_encoder/config.json": t5("UMT5EncoderModel"),
        "transformer/config.json": part("WanTransformer3DModel", **shape),
        "assets/teaser.mp4": b"x",
    }


def wan_pair() -> Files:
    open_parts = {
        "image_encoder": [None, None],
        "transformer_2": ["diffusers", "WanTransformer3DModel"],
    }
    return wan(
        "WanImageToVideoPipeline",
        boundary_ratio=0.9,
        expand_timesteps=False,
        latents_mean=[0.1, -2],
        **open_parts,
    )


def ltx2() -> Files:
    parts = {
        "connectors": ["ltx2", "LTX2TextConnectors"],
        "vocoder": ["ltx2", "LTX2Vocoder"],
        "text_encoder": ["transformers", "Gemma3ForConditionalGeneration"],
        "transformer": ["diffusers", "LTX2VideoTransformer3DModel"],
    }
    return {
        **pipeline("LTX2Pipeline", **parts),
        **weights("transformer"),
        "connectors/config.json": part(
            "LTX2TextConnectors", rope_type="split", video_gated_attn=False
        ),
        "vocoder/config.json": part(
            "LTX2Vocoder", resnet_dilations=[[1, 3, 5]], output_sampling_rate=24000
        ),
    }


def paligemma() -> Files:
    text = {
        "model_type": "gemma2",
        "vocab_size": 40,
        "hidden_size": 8,
        "cache_implementation": "hybrid",
    }
    config = {
        "architectures": ["PaliGemmaForConditionalGeneration"],
        "model_type": "paligemma",
        "hidden_size": 2048,
        "text_config": text,
        "vision_config": {"model_type": "siglip_vision_model", "num_positions": 256},
        "image_token_index": 257152,
        "projection_dim": 8,
    }
    return {
        "config.json": config,
        "model.safetensors": tensors(language_model__model__embed_tokens__weight=(40, 8)),
        "preprocessor_config.json": {
            "image_processor_type": "SiglipImageProcessor",
            "image_seq_length": 256,
            "processor_class": "PaliGemmaProcessor",
            "size": {"height": 224, "width": 224},
            "_valid_processor_keys": ["images", "do_resize"],
        },
    }


def qwen_vl() -> Files:
    files = new_tokenizer("Qwen2Tokenizer", processor_class="Qwen2_5_VLProcessor")
    flat = {name.removeprefix("tokenizer/"): value for name, value in files.items()}
    return {
        **flat,
        "config.json": qwen_text("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl"),
        "model.safetensors": tensors(model__embed_tokens__weight=(40, 8)),
        "preprocessor_config.json": {
            "image_processor_type": "Qwen2VLImageProcessorFast",
            "min_pixels": 3136,
        },
        "video_preprocessor_config.json": {
            "video_processor_type": "Qwen2VLVideoProcessor",
            "fps": 2,
        },
        "configuration.json": {
            "framework": "pytorch",
            "task": "image-text-to-text",
            "allow_remote": True,
        },
        "chat_template.json": {"chat_template": CHAT},
    }


def smolvlm() -> Files:
    text = {
        **LEGACY,
        "architectures": ["VLlama3ForCausalLM"],
        "_name_or_path": "/fsx/nobody/checkpoint",
        "vocab_size": 40,
        "hidden_size": 8,
        "_flash_attn_2_enabled": True,
        "perceiver_config": {"qk_layer_norms_perceiver": False},
        "is_llama_config": True,
    }
    config = {
        "architectures": ["Idefics3ForConditionalGeneration"],
        "model_type": "idefics3",
        "scale_factor": 4,
        "text_config": text,
        "vision_config": {"max_image_size": {"longest_edge": 512}},
    }
    return {
        "config.json": config,
        "model.safetensors": tensors(model__text_model__embed_tokens__weight=(40, 8)),
        "processor_config.json": {"image_seq_len": 64, "processor_class": "Idefics3Processor"},
        "chat_template.jinja": CHAT.encode(),
    }


TAKEN = {
    "FLUX.1": flux,
    "Stable Diffusion 1.5": stable_diffusion,
    "Qwen-Image": qwen_image,
    "Z-Image": z_image,
    "Lumina 2": lumina,
    "Wan 2.1": wan,
    "Wan 2.2": wan_pair,
    "LTX-2": ltx2,
    "PaliGemma 2": paligemma,
    "Qwen2.5-VL": qwen_vl,
    "SmolVLM": smolvlm,
}
