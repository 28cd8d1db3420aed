"""Text-to-video pipelines as published, with fewer and narrower layers."""

from __future__ import annotations

import inspect
from typing import Any

from tests.models.pipelines.images import BLOCKS, DIFFUSED, DYNAMIC
from tests.models.pipelines.parts import (
    WIDTH,
    byt5,
    clip_text,
    flow,
    gemma_3,
    lib,
    llama,
    qwen_vl,
    t5,
    vae,
    wan_vae,
)


def wan_2_1(**changes: Any) -> Any:
    return lib.WanPipeline(**wan_parts(), transformer=wan_transformer(), **changes)


def wan_2_2_a14b() -> Any:
    """Two transformers, for high and for low noise."""
    return wan_2_1(transformer_2=wan_transformer(), boundary_ratio=0.875)


def wan_2_2_5b() -> Any:
    """An autoencoder of 16 pixels a latent, and a timestep for every token."""
    autoencoder = lib.AutoencoderKLWan(
        base_dim=8,
        decoder_base_dim=8,
        z_dim=48,
        dim_mult=[1, 2, 4, 4],
        num_res_blocks=1,
        is_residual=True,
        in_channels=12,
        out_channels=12,
        patch_size=2,
        scale_factor_temporal=4,
        scale_factor_spatial=16,
        latents_mean=[0.0] * 48,
        latents_std=[1.0] * 48,
    )
    return lib.WanPipeline(
        **{**wan_parts(flow_shift=5.0), "vae": autoencoder},
        transformer=wan_transformer(in_channels=48, out_channels=48),
        expand_timesteps=True,
    )


def wan_parts(flow_shift: float = 3.0) -> dict[str, Any]:
    """What all Wan pipelines share."""
    text, words = t5("UMT5")
    scheduler = lib.UniPCMultistepScheduler(
        prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=flow_shift
    )
    return {"tokenizer": words, "text_encoder": text, "vae": wan_vae(), "scheduler": scheduler}


def wan_transformer(**changes: Any) -> Any:
    """Wan's transformer with two heads and layers."""
    shape = {
        "patch_size": (1, 2, 2),
        "num_attention_heads": 2,
        "attention_head_dim": 12,
        "in_channels": 16,
        "out_channels": 16,
        "text_dim": WIDTH,
        "freq_dim": 32,
        "ffn_dim": 48,
        "num_layers": 2,
        "cross_attn_norm": True,
        "qk_norm": "rms_norm_across_heads",
    }
    return lib.WanTransformer3DModel(**{**shape, **changes})


def skyreels() -> Any:
    return lib.SkyReelsV2Pipeline(**skyreels_parts())


def skyreels_forcing() -> Any:
    """Each frame has a noise level of its own, so it films from words and from a picture."""
    return lib.SkyReelsV2DiffusionForcingPipeline(**skyreels_parts())


def skyreels_parts() -> dict[str, Any]:
    """SkyReels V2 is Wan with a transformer of its own."""
    shape = {
        name: value for name, value in wan_transformer().config.items() if not name.startswith("_")
    }
    known = inspect.signature(lib.SkyReelsV2Transformer3DModel.__init__).parameters
    transformer = lib.SkyReelsV2Transformer3DModel(
        **{name: value for name, value in shape.items() if name in known}, inject_sample_info=False
    )
    return {**wan_parts(flow_shift=8.0), "transformer": transformer}


def ltx() -> Any:
    return lib.LTXPipeline(**ltx_parts())


def ltx_conditions() -> Any:
    return lib.LTXConditionPipeline(**ltx_parts())


def ltx_parts() -> dict[str, Any]:
    """LTX-Video 0.9.5: 32 pixels and 8 frames a latent, a decoder that is told the timestep."""
    text, words = t5()
    transformer = lib.LTXVideoTransformer3DModel(
        in_channels=128,
        out_channels=128,
        num_attention_heads=2,
        attention_head_dim=16,
        cross_attention_dim=32,
        num_layers=1,
        caption_channels=WIDTH,
        qk_norm="rms_norm_across_heads",
        norm_elementwise_affine=False,
    )
    autoencoder = lib.AutoencoderKLLTXVideo(
        latent_channels=128,
        block_out_channels=(8, 16, 16, 16, 16),
        down_block_types=("LTXVideo095DownBlock3D",) * 4,
        decoder_block_out_channels=(16, 32, 64),
        layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1),
        spatio_temporal_scaling=(True, True, True, True),
        decoder_spatio_temporal_scaling=(True, True, True),
        decoder_inject_noise=(False, False, False, False),
        downsample_type=("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
        upsample_residual=(True, True, True),
        upsample_factor=(2, 2, 2),
        timestep_conditioning=True,
        patch_size=4,
        patch_size_t=1,
        encoder_causal=True,
        decoder_causal=False,
        spatial_compression_ratio=32,
        temporal_compression_ratio=8,
    )
    return {
        "scheduler": flow(shift=1.0),
        "vae": autoencoder,
        "text_encoder": text,
        "tokenizer": words,
        "transformer": transformer,
    }


def ltx_2() -> Any:
    """LTX-2: sound beside the clip, and connectors between the text encoder and both."""
    from diffusers.pipelines.ltx2 import LTX2TextConnectors, LTX2Vocoder

    text, words = gemma_3()
    transformer = lib.LTX2VideoTransformer3DModel(
        in_channels=128,
        out_channels=128,
        num_attention_heads=2,
        attention_head_dim=8,
        cross_attention_dim=16,
        audio_in_channels=128,
        audio_out_channels=128,
        audio_num_attention_heads=2,
        audio_attention_head_dim=4,
        audio_cross_attention_dim=8,
        num_layers=1,
        caption_channels=WIDTH,
        rope_type="split",
    )
    connectors = LTX2TextConnectors(
        caption_channels=WIDTH,
        text_proj_in_factor=4,
        video_connector_num_attention_heads=4,
        video_connector_attention_head_dim=8,
        video_connector_num_layers=1,
        audio_connector_num_attention_heads=4,
        audio_connector_attention_head_dim=8,
        audio_connector_num_layers=1,
        rope_type="split",
    )
    autoencoder = lib.AutoencoderKLLTX2Video(
        latent_channels=128,
        block_out_channels=(16, 16, 16, 16),
        decoder_block_out_channels=(16, 32, 64),
        layers_per_block=(1, 1, 1, 1, 1),
        decoder_layers_per_block=(1, 1, 1, 1),
        spatial_compression_ratio=32,
        temporal_compression_ratio=8,
    )
    sound = lib.AutoencoderKLLTX2Audio(base_channels=128, ch_mult=(1, 1, 1), num_res_blocks=1)
    return lib.LTX2Pipeline(
        scheduler=flow(**DYNAMIC),
        vae=autoencoder,
        audio_vae=sound,
        text_encoder=text,
        tokenizer=words,
        connectors=connectors,
        transformer=transformer,
        vocoder=LTX2Vocoder(hidden_channels=32),
    )


def cogvideox() -> Any:
    return lib.CogVideoXPipeline(**cogvideox_parts(sample_height=60, sample_width=90))


def cogvideox_parts(**transformer: Any) -> dict[str, Any]:
    """CogVideoX-5b with rotary positions."""
    text, words = t5()
    shape = {
        "num_attention_heads": 2,
        "attention_head_dim": 16,
        "in_channels": 16,
        "out_channels": 16,
        "num_layers": 1,
        "time_embed_dim": 8,
        "text_embed_dim": WIDTH,
        "sample_frames": 49,
        "spatial_interpolation_scale": 1.875,
        "use_rotary_positional_embeddings": True,
    }
    autoencoder = lib.AutoencoderKLCogVideoX(
        block_out_channels=(32, 32, 32, 32),
        layers_per_block=1,
        latent_channels=16,
        norm_num_groups=32,
        scaling_factor=0.7,
        down_block_types=("CogVideoXDownBlock3D",) * 4,
        up_block_types=("CogVideoXUpBlock3D",) * 4,
    )
    scheduler = lib.CogVideoXDDIMScheduler(
        **DIFFUSED,
        clip_sample=False,
        prediction_type="v_prediction",
        rescale_betas_zero_snr=True,
        snr_shift_scale=1.0,
        timestep_spacing="trailing",
    )
    return {
        "tokenizer": words,
        "text_encoder": text,
        "vae": autoencoder,
        "transformer": lib.CogVideoXTransformer3DModel(**{**shape, **transformer}),
        "scheduler": scheduler,
    }


def hunyuan_video() -> Any:
    text, words = llama()
    second, second_words = clip_text()
    transformer = lib.HunyuanVideoTransformer3DModel(
        in_channels=16,
        out_channels=16,
        num_attention_heads=2,
        attention_head_dim=16,
        num_layers=1,
        num_single_layers=1,
        num_refiner_layers=1,
        guidance_embeds=True,
        text_embed_dim=WIDTH,
        pooled_projection_dim=WIDTH,
        rope_axes_dim=(4, 6, 6),
    )
    autoencoder = lib.AutoencoderKLHunyuanVideo(
        latent_channels=16,
        block_out_channels=(8, 8, 8, 8),
        layers_per_block=1,
        norm_num_groups=4,
        scaling_factor=0.476986,
    )
    return lib.HunyuanVideoPipeline(
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
        vae=autoencoder,
        scheduler=flow(shift=7.0),
        text_encoder_2=second,
        tokenizer_2=second_words,
    )


def hunyuan_video_1_5() -> Any:
    return lib.HunyuanVideo15Pipeline(**hunyuan_1_5_parts("t2v"))


def hunyuan_1_5_parts(task: str, **changes: Any) -> dict[str, Any]:
    """HunyuanVideo-1.5: guidance is a part of the folder, sizes come from a table for
    `target_size`."""
    text, words = qwen_vl("Qwen2_5_VLTextModel")
    second, second_words = byt5()
    shape = {
        "in_channels": 65,
        "out_channels": 32,
        "num_attention_heads": 2,
        "attention_head_dim": 16,
        "num_layers": 1,
        "num_refiner_layers": 1,
        "text_embed_dim": WIDTH,
        "text_embed_2_dim": WIDTH,
        "image_embed_dim": WIDTH,
        "rope_axes_dim": (4, 6, 6),
        "target_size": 64,
        "task_type": task,
    }
    autoencoder = lib.AutoencoderKLHunyuanVideo15(
        latent_channels=32, block_out_channels=(32, 32, 32, 64, 64), layers_per_block=1
    )
    return {
        "text_encoder": text,
        "tokenizer": words,
        "text_encoder_2": second,
        "tokenizer_2": second_words,
        "transformer": lib.HunyuanVideo15Transformer3DModel(**{**shape, **changes}),
        "vae": autoencoder,
        "scheduler": flow(shift=7.0),
        "guider": lib.ClassifierFreeGuidance(guidance_scale=6.0),
    }


def mochi() -> Any:
    text, words = t5()
    words.model_max_length = 256
    transformer = lib.MochiTransformer3DModel(
        num_attention_heads=2,
        attention_head_dim=8,
        num_layers=2,
        pooled_projection_dim=16,
        in_channels=12,
        text_embed_dim=WIDTH,
        time_embed_dim=4,
    )
    autoencoder = lib.AutoencoderKLMochi(
        latent_channels=12,
        out_channels=3,
        encoder_block_out_channels=(32, 32, 32, 32),
        decoder_block_out_channels=(32, 32, 32, 32),
        layers_per_block=(1, 1, 1, 1, 1),
    )
    return lib.MochiPipeline(
        scheduler=flow(invert_sigmas=True),
        vae=autoencoder,
        text_encoder=text,
        tokenizer=words,
        transformer=transformer,
    )


def animatediff() -> Any:
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
    motion = lib.MotionAdapter(
        block_out_channels=BLOCKS,
        motion_layers_per_block=1,
        motion_num_attention_heads=8,
        motion_max_seq_length=32,
    )
    return lib.AnimateDiffPipeline(
        vae=vae(4, 0.18215),
        text_encoder=text,
        tokenizer=words,
        unet=unet,
        motion_adapter=motion,
        scheduler=lib.DDIMScheduler(**DIFFUSED, clip_sample=False, steps_offset=1),
    )


VIDEOS = {
    "Wan2.1-T2V": (wan_2_1, 64, 9),
    "Wan2.2-T2V-A14B": (wan_2_2_a14b, 64, 9),
    "Wan2.2-TI2V-5B": (wan_2_2_5b, 64, 9),
    "SkyReels-V2-T2V": (skyreels, 64, 9),
    "SkyReels-V2-DF": (skyreels_forcing, 64, 9),
    "LTX-Video-0.9.5": (ltx, 64, 17),
    "LTX-Video-0.9.7": (ltx_conditions, 64, 17),
    "LTX-2-19B": (ltx_2, 64, 17),
    "CogVideoX-5b": (cogvideox, 64, 9),
    "HunyuanVideo": (hunyuan_video, 64, 9),
    "HunyuanVideo-1.5-t2v": (hunyuan_video_1_5, None, 9),
    "Mochi-1": (mochi, 64, 13),
    "AnimateDiff": (animatediff, 64, None),
}
"""The builder of each, and the size and frames it is run with here: at its own a clip takes minutes
on a CPU. None is its own."""
