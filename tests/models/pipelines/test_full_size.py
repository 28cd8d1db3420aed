"""Models at their full published size, without weights: bytes, shapes and precision are the
published ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from evaluators.models.generate.families import FROM_WORDS, family_of
from evaluators.models.generate.memory_plan import MemoryPlan, PartSize, build_empty, plan_of
from tests.models.pipelines.parts import lib

T5_XXL = {
    "model_type": "t5",
    "d_ff": 10240,
    "d_kv": 64,
    "d_model": 4096,
    "num_heads": 64,
    "num_layers": 24,
    "vocab_size": 32128,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
}
WAN = {
    "_class_name": "WanTransformer3DModel",
    "attention_head_dim": 128,
    "cross_attn_norm": True,
    "ffn_dim": 13824,
    "freq_dim": 256,
    "in_channels": 16,
    "num_attention_heads": 40,
    "num_layers": 40,
    "out_channels": 16,
    "text_dim": 4096,
}
CONFIGS: dict[str, dict[str, dict[str, Any]]] = {
    "Wan2.2-T2V-A14B": {
        "model_index.json": {
            "_class_name": "WanPipeline",
            "boundary_ratio": 0.875,
            "scheduler": ["diffusers", "UniPCMultistepScheduler"],
            "text_encoder": ["transformers", "UMT5EncoderModel"],
            "tokenizer": ["transformers", "T5TokenizerFast"],
            "transformer": ["diffusers", "WanTransformer3DModel"],
            "transformer_2": ["diffusers", "WanTransformer3DModel"],
            "vae": ["diffusers", "AutoencoderKLWan"],
        },
        "transformer/config.json": WAN,
        "transformer_2/config.json": WAN,
        "text_encoder/config.json": {**T5_XXL, "model_type": "umt5", "vocab_size": 256384},
        "vae/config.json": {
            "_class_name": "AutoencoderKLWan",
            "base_dim": 96,
            "dim_mult": [1, 2, 4, 4],
            "num_res_blocks": 2,
            "z_dim": 16,
        },
    },
    "FLUX.1-dev": {
        "model_index.json": {
            "_class_name": "FluxPipeline",
            "text_encoder": ["transformers", "CLIPTextModel"],
            "text_encoder_2": ["transformers", "T5EncoderModel"],
            "transformer": ["diffusers", "FluxTransformer2DModel"],
        },
        "transformer/config.json": {
            "_class_name": "FluxTransformer2DModel",
            "attention_head_dim": 128,
            "guidance_embeds": True,
            "in_channels": 64,
            "joint_attention_dim": 4096,
            "num_attention_heads": 24,
            "num_layers": 19,
            "num_single_layers": 38,
            "patch_size": 1,
            "pooled_projection_dim": 768,
        },
        "text_encoder_2/config.json": T5_XXL,
    },
    "Qwen-Image": {
        "model_index.json": {
            "_class_name": "QwenImagePipeline",
            "transformer": ["diffusers", "QwenImageTransformer2DModel"],
        },
        "transformer/config.json": {
            "_class_name": "QwenImageTransformer2DModel",
            "attention_head_dim": 128,
            "axes_dims_rope": [16, 56, 56],
            "in_channels": 64,
            "joint_attention_dim": 3584,
            "num_attention_heads": 24,
            "num_layers": 60,
            "out_channels": 16,
            "patch_size": 2,
        },
    },
    "HunyuanVideo-1.5": {
        "model_index.json": {
            "_class_name": "HunyuanVideo15Pipeline",
            "guider": ["diffusers", "ClassifierFreeGuidance"],
            "transformer": ["diffusers", "HunyuanVideo15Transformer3DModel"],
        },
        "transformer/config.json": {
            "_class_name": "HunyuanVideo15Transformer3DModel",
            "target_size": 960,
            "task_type": "t2v",
        },
    },
}


@dataclass(frozen=True, slots=True)
class FullSize:
    """The bytes of the transformer in bf16, which its published index of weights tells too, and the
    smallest cards with and without offload."""

    transformer_bytes: int
    offloaded: int
    whole: int


FULL = {
    "Wan2.2-T2V-A14B": FullSize(28_576_983_168, 40, 96),
    "FLUX.1-dev": FullSize(23_802_816_640, 32, 48),
    "Qwen-Image": FullSize(40_860_802_176, 80, 80),
    "HunyuanVideo-1.5": FullSize(16_653_216_320, 24, 24),
}


@pytest.fixture
def published(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the configs of a model as published, and no weights."""
    for path, config in CONFIGS[request.param].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(json.dumps(config))
    return tmp_path


@pytest.mark.parametrize(("published", "name"), [(n, n) for n in FULL], indirect=["published"])
def test_the_memory_plan_of_a_published_folder_needs_its_configs_only(
    published: Path, name: str
) -> None:
    plan = plan_of(published, family_of(published, FROM_WORDS))

    transformer = next(part for part in plan.parts if part.name == "transformer")
    assert transformer.parameters * 2 == FULL[name].transformer_bytes
    assert (plan.offloaded, plan.whole) == (FULL[name].offloaded, FULL[name].whole)


def test_a_plan_says_what_fits_and_what_it_could_not_see() -> None:
    parts = (PartSize("transformer", 10**10), PartSize("vae", 10**8, 4))

    plan = str(MemoryPlan(parts, ("text_encoder",)))

    assert plan == (
        "fits a 32 GB card; weights 20.4 GB in bf16 (transformer 20.0, vae 0.4); "
        "not in the folder: text_encoder"
    )
    assert "with model offload, a 80 GB card without" in str(MemoryPlan(parts[:1] * 2))
    assert "fits no card" in str(MemoryPlan((PartSize("transformer", 10**12),)))


def empty(*shape: int) -> torch.Tensor:
    return torch.empty(shape, dtype=torch.bfloat16, device="meta")


def call_wan(model: Any) -> tuple[torch.Tensor, tuple[int, ...]]:
    """81 frames of 480 by 832: 21 latents of 60 by 104."""
    latents = empty(1, 16, 21, 60, 104)
    return model(latents, empty(1), empty(1, 512, 4096)).sample, latents.shape


def call_flux(model: Any) -> tuple[torch.Tensor, tuple[int, ...]]:
    """1024 by 1024: 4096 packed latents."""
    latents = empty(1, 4096, 64)
    drawn = model(
        hidden_states=latents,
        encoder_hidden_states=empty(1, 512, 4096),
        pooled_projections=empty(1, 768),
        timestep=empty(1),
        img_ids=empty(4096, 3),
        txt_ids=empty(512, 3),
        guidance=empty(1),
    )
    return drawn.sample, latents.shape


def call_qwen(model: Any) -> tuple[torch.Tensor, tuple[int, ...]]:
    """1024 by 1024: 4096 packed latents."""
    latents = empty(1, 4096, 64)
    drawn = model(
        hidden_states=latents,
        encoder_hidden_states=empty(1, 100, 3584),
        encoder_hidden_states_mask=torch.ones(1, 100, dtype=torch.bool, device="meta"),
        timestep=empty(1),
        img_shapes=[[(1, 64, 64)]],
    )
    return drawn.sample, latents.shape


@pytest.mark.parametrize(
    ("published", "call"),
    [("Wan2.2-T2V-A14B", call_wan), ("FLUX.1-dev", call_flux), ("Qwen-Image", call_qwen)],
    indirect=["published"],
)
def test_a_transformer_of_full_size_takes_the_family_s_own_latents_in_half_precision(
    published: Path, call: Any
) -> None:
    name = json.loads((published / "transformer/config.json").read_text())["_class_name"]
    model = build_empty(published / "transformer", getattr(lib, name)).to(torch.bfloat16)

    drawn, shape = call(model)

    assert tuple(drawn.shape) == tuple(shape) and drawn.dtype == torch.bfloat16


@pytest.mark.parametrize("published", ["HunyuanVideo-1.5"], indirect=True)
def test_hunyuan_video_1_5_of_full_size_has_the_shapes_of_its_latents_and_encoders(
    published: Path,
) -> None:
    """Its forward pass asks whether the picture is zero, which no empty tensor can tell."""
    model = build_empty(published / "transformer", lib.HunyuanVideo15Transformer3DModel)

    shapes = {name: tuple(weights.shape) for name, weights in model.named_parameters()}

    assert len(model.transformer_blocks) == 54
    assert shapes["x_embedder.proj.weight"] == (2048, 65, 1, 1, 1)
    assert shapes["proj_out.weight"] == (32, 2048)
    assert shapes["context_embedder.proj_in.weight"] == (2048, 3584)
