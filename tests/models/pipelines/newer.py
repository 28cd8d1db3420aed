"""Newer text-to-image pipelines as published, with fewer and narrower layers."""

from __future__ import annotations

from typing import Any

from tests.models.pipelines.images import DIFFUSED, DYNAMIC
from tests.models.pipelines.parts import (
    WIDTH,
    byt5,
    flow,
    flux_vae,
    lib,
    qwen_3,
    qwen_vl,
    t5,
    vae,
)


def hunyuan_image() -> Any:
    """32 pixels a latent, a second encoder for words in the picture, guidance in two parts."""
    text, words = qwen_vl()
    second, second_words = byt5()
    transformer = lib.HunyuanImageTransformer2DModel(
        in_channels=64,
        out_channels=64,
        num_attention_heads=2,
        attention_head_dim=16,
        num_layers=1,
        num_single_layers=1,
        num_refiner_layers=1,
        patch_size=(1, 1),
        text_embed_dim=WIDTH,
        text_embed_2_dim=WIDTH,
        rope_theta=256.0,
        rope_axes_dim=(8, 8),
    )
    autoencoder = lib.AutoencoderKLHunyuanImage(
        in_channels=3,
        out_channels=3,
        latent_channels=64,
        block_out_channels=(32, 32, 32, 64, 64, 128),
        layers_per_block=1,
        spatial_compression_ratio=32,
        sample_size=384,
        scaling_factor=0.75289,
    )
    return lib.HunyuanImagePipeline(
        scheduler=flow(shift=5.0),
        vae=autoencoder,
        text_encoder=text,
        tokenizer=words,
        text_encoder_2=second,
        tokenizer_2=second_words,
        transformer=transformer,
        guider=lib.AdaptiveProjectedMixGuidance(guidance_scale=3.5),
        ocr_guider=lib.AdaptiveProjectedMixGuidance(guidance_scale=3.5),
    )


def cogview_3_plus() -> Any:
    text, words = t5()
    transformer = lib.CogView3PlusTransformer2DModel(
        patch_size=2,
        in_channels=16,
        out_channels=16,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=4,
        text_embed_dim=WIDTH,
        time_embed_dim=32,
        condition_dim=8,
        pos_embed_max_size=128,
        sample_size=128,
    )
    return lib.CogView3PlusPipeline(
        tokenizer=words,
        text_encoder=text,
        vae=vae(16, 1.0),
        transformer=transformer,
        scheduler=lib.CogVideoXDDIMScheduler(**DIFFUSED, prediction_type="v_prediction"),
    )


def ovis_image() -> Any:
    text, words = qwen_3()
    transformer = lib.OvisImageTransformer2DModel(
        in_channels=64,
        out_channels=64,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=WIDTH,
        axes_dims_rope=(4, 6, 6),
    )
    return lib.OvisImagePipeline(
        scheduler=flow(**DYNAMIC),
        vae=flux_vae(),
        text_encoder=text.model,
        tokenizer=words,
        transformer=transformer,
    )


NEWER_IMAGES = {
    "HunyuanImage-2.1": hunyuan_image,
    "CogView3-Plus-3B": cogview_3_plus,
    "Ovis-Image-7B": ovis_image,
}
