"""Text-to-image pipelines as published, with fewer and narrower layers."""

from __future__ import annotations

from typing import Any

from tests.models.pipelines.parts import (
    WIDTH,
    clip_text,
    flow,
    flux_vae,
    gemma_2,
    lib,
    qwen_3,
    qwen_vl,
    t5,
    vae,
)

BLOCKS = (32, 64, 64, 64)
DIFFUSED = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
DYNAMIC = {"shift": 3.0, "use_dynamic_shifting": True, "base_shift": 0.5, "max_shift": 1.15}


def sd_1_5() -> Any:
    text, words = clip_text()
    unet = lib.UNet2DConditionModel(
        sample_size=64,
        block_out_channels=BLOCKS,
        layers_per_block=1,
        attention_head_dim=8,
        cross_attention_dim=WIDTH,
        down_block_types=("CrossAttnDownBlock2D",) * 3 + ("DownBlock2D",),
        up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * 3,
    )
    return lib.StableDiffusionPipeline(
        vae=vae(4, 0.18215, sample_size=512),
        text_encoder=text,
        tokenizer=words,
        unet=unet,
        scheduler=lib.PNDMScheduler(**DIFFUSED, skip_prk_steps=True, steps_offset=1),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )


def sdxl() -> Any:
    text, words = clip_text()
    second, second_words = clip_text("CLIPTextModelWithProjection", "gelu")
    unet = lib.UNet2DConditionModel(
        sample_size=128,
        block_out_channels=(32, 64, 64),
        layers_per_block=1,
        attention_head_dim=(1, 2, 2),
        cross_attention_dim=2 * WIDTH,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=6 * 8 + WIDTH,
        transformer_layers_per_block=(1, 2, 2),
        use_linear_projection=True,
        down_block_types=("DownBlock2D",) + ("CrossAttnDownBlock2D",) * 2,
        up_block_types=("CrossAttnUpBlock2D",) * 2 + ("UpBlock2D",),
    )
    return lib.StableDiffusionXLPipeline(
        vae=vae(4, 0.13025, sample_size=1024, force_upcast=True),
        text_encoder=text,
        text_encoder_2=second,
        tokenizer=words,
        tokenizer_2=second_words,
        unet=unet,
        scheduler=lib.EulerDiscreteScheduler(
            **DIFFUSED, steps_offset=1, timestep_spacing="leading"
        ),
        add_watermarker=False,
    )


def sd_3_5() -> Any:
    text, words = clip_text("CLIPTextModelWithProjection")
    second, second_words = clip_text("CLIPTextModelWithProjection", "gelu")
    third, third_words = t5(width=2 * WIDTH)
    transformer = lib.SD3Transformer2DModel(
        sample_size=128,
        patch_size=2,
        in_channels=16,
        out_channels=16,
        num_layers=2,
        attention_head_dim=8,
        num_attention_heads=4,
        joint_attention_dim=2 * WIDTH,
        caption_projection_dim=32,
        pooled_projection_dim=2 * WIDTH,
        pos_embed_max_size=192,
        qk_norm="rms_norm",
    )
    return lib.StableDiffusion3Pipeline(
        transformer=transformer,
        scheduler=flow(shift=3.0),
        vae=vae(16, 1.5305, 0.0609, use_quant_conv=False, use_post_quant_conv=False),
        text_encoder=text,
        tokenizer=words,
        text_encoder_2=second,
        tokenizer_2=second_words,
        text_encoder_3=third,
        tokenizer_3=third_words,
    )


def flux_dev(guidance_embeds: bool = True) -> Any:
    text, words = clip_text()
    second, second_words = t5()
    transformer = lib.FluxTransformer2DModel(
        in_channels=64,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        axes_dims_rope=(4, 6, 6),
        joint_attention_dim=WIDTH,
        pooled_projection_dim=WIDTH,
        guidance_embeds=guidance_embeds,
    )
    return lib.FluxPipeline(
        scheduler=flow(**DYNAMIC) if guidance_embeds else flow(shift=1.0),
        vae=flux_vae(),
        text_encoder=text,
        tokenizer=words,
        text_encoder_2=second,
        tokenizer_2=second_words,
        transformer=transformer,
    )


def flux_schnell() -> Any:
    return flux_dev(guidance_embeds=False)


def flux_2_klein() -> Any:
    text, words = qwen_3(layers=28)
    transformer = lib.Flux2Transformer2DModel(
        in_channels=128,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        axes_dims_rope=(4, 4, 4, 4),
        joint_attention_dim=3 * WIDTH,
        guidance_embeds=False,
    )
    autoencoder = lib.AutoencoderKLFlux2(
        block_out_channels=(32, 32, 32, 32), layers_per_block=1, latent_channels=32
    )
    return lib.Flux2KleinPipeline(
        scheduler=flow(**DYNAMIC),
        vae=autoencoder,
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
        is_distilled=True,
    )


def qwen_image() -> Any:
    text, words = qwen_vl()
    transformer = lib.QwenImageTransformer2DModel(
        in_channels=64,
        out_channels=16,
        patch_size=2,
        num_layers=2,
        attention_head_dim=16,
        num_attention_heads=2,
        axes_dims_rope=(4, 6, 6),
        joint_attention_dim=WIDTH,
    )
    autoencoder = lib.AutoencoderKLQwenImage(
        base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=1
    )
    scheduler = flow(
        use_dynamic_shifting=True, max_image_seq_len=8192, max_shift=0.9, shift_terminal=0.02
    )
    return lib.QwenImagePipeline(
        scheduler=scheduler,
        vae=autoencoder,
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
    )


def z_image(shift: float = 6.0) -> Any:
    text, words = qwen_3()
    transformer = lib.ZImageTransformer2DModel(
        dim=32,
        n_layers=1,
        n_refiner_layers=1,
        n_heads=2,
        n_kv_heads=2,
        cap_feat_dim=WIDTH,
        axes_dims=[4, 6, 6],
        axes_lens=[1536, 512, 512],
        in_channels=16,
    )
    return lib.ZImagePipeline(
        scheduler=flow(shift=shift),
        vae=flux_vae(),
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
    )


def z_image_turbo() -> Any:
    return z_image(shift=3.0)


def pixart_sigma() -> Any:
    text, words = t5()
    transformer = lib.PixArtTransformer2DModel(
        sample_size=128,
        num_layers=2,
        patch_size=2,
        attention_head_dim=8,
        num_attention_heads=4,
        in_channels=4,
        out_channels=8,
        caption_channels=WIDTH,
        cross_attention_dim=32,
        norm_type="ada_norm_single",
        use_additional_conditions=False,
    )
    return lib.PixArtSigmaPipeline(
        tokenizer=words,
        text_encoder=text,
        vae=vae(4, 0.13025),
        transformer=transformer,
        scheduler=lib.DPMSolverMultistepScheduler(beta_start=0.0001, beta_end=0.02),
    )


def sana() -> Any:
    text, words = gemma_2()
    transformer = lib.SanaTransformer2DModel(
        in_channels=32,
        out_channels=32,
        num_attention_heads=2,
        attention_head_dim=16,
        num_cross_attention_heads=2,
        cross_attention_head_dim=16,
        cross_attention_dim=32,
        caption_channels=WIDTH,
        num_layers=1,
        sample_size=32,
    )
    kinds = ("ResBlock",) * 3 + ("EfficientViTBlock",) * 3
    scales = ((), (), (), (5,), (5,), (5,))
    autoencoder = lib.AutoencoderDC(
        latent_channels=32,
        attention_head_dim=8,
        encoder_block_types=kinds,
        decoder_block_types=kinds,
        encoder_block_out_channels=(8, 8, 16, 16, 32, 32),
        decoder_block_out_channels=(8, 8, 16, 16, 32, 32),
        encoder_layers_per_block=(1,) * 6,
        decoder_layers_per_block=(1,) * 6,
        encoder_qkv_multiscales=scales,
        decoder_qkv_multiscales=scales,
        scaling_factor=0.41407,
    )
    return lib.SanaPipeline(
        tokenizer=words,
        text_encoder=text,
        vae=autoencoder,
        transformer=transformer,
        scheduler=lib.DPMSolverMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0
        ),
    )


def lumina_2() -> Any:
    text, words = gemma_2()
    transformer = lib.Lumina2Transformer2DModel(
        sample_size=128,
        in_channels=16,
        hidden_size=24,
        num_layers=1,
        num_refiner_layers=1,
        num_attention_heads=2,
        num_kv_heads=1,
        axes_dim_rope=(4, 4, 4),
        axes_lens=(300, 512, 512),
        cap_feat_dim=WIDTH,
    )
    return lib.Lumina2Pipeline(
        transformer=transformer,
        scheduler=flow(shift=6.0),
        vae=flux_vae(),
        text_encoder=text,
        tokenizer=words,
    )


def chroma() -> Any:
    text, words = t5()
    transformer = lib.ChromaTransformer2DModel(
        in_channels=64,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        axes_dims_rope=(4, 6, 6),
        joint_attention_dim=WIDTH,
        approximator_num_channels=8,
        approximator_hidden_dim=32,
        approximator_layers=1,
    )
    return lib.ChromaPipeline(
        scheduler=flow(shift=1.0),
        vae=flux_vae(),
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
    )


IMAGES = {
    "SD1.5": sd_1_5,
    "SDXL-base-1.0": sdxl,
    "SD3.5-large": sd_3_5,
    "FLUX.1-dev": flux_dev,
    "FLUX.1-schnell": flux_schnell,
    "FLUX.2-klein-4B": flux_2_klein,
    "Qwen-Image": qwen_image,
    "Z-Image": z_image,
    "Z-Image-Turbo": z_image_turbo,
    "PixArt-Sigma": pixart_sigma,
    "Sana-1600M": sana,
    "Lumina2": lumina_2,
    "Chroma": chroma,
}
