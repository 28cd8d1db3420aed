"""Image-to-video pipelines as published, with fewer and narrower layers."""

from __future__ import annotations

from typing import Any

from tests.models.pipelines.images import BLOCKS
from tests.models.pipelines.parts import WIDTH, clip_text, clip_vision, hf, lib, vae
from tests.models.pipelines.videos import (
    cogvideox_parts,
    hunyuan_1_5_parts,
    ltx,
    ltx_2,
    ltx_conditions,
    ltx_parts,
    skyreels_forcing,
    wan_2_2_5b,
    wan_parts,
    wan_transformer,
)


def wan_2_1() -> Any:
    """With CLIP's view of the picture beside its latents."""
    encoder, processor = clip_vision()
    transformer = wan_transformer(in_channels=36, image_dim=WIDTH, added_kv_proj_dim=24)
    return lib.WanImageToVideoPipeline(
        **wan_parts(), transformer=transformer, image_encoder=encoder, image_processor=processor
    )


def wan_2_2_a14b() -> Any:
    """Two transformers, and nothing but latents of the picture."""
    return lib.WanImageToVideoPipeline(
        **wan_parts(),
        transformer=wan_transformer(in_channels=36),
        transformer_2=wan_transformer(in_channels=36),
        boundary_ratio=0.9,
    )


def ltx_from_a_picture() -> Any:
    return lib.LTXImageToVideoPipeline(**ltx_parts())


def cogvideox() -> Any:
    """Learned positions hold for one size only, so that size is reduced in the config."""
    parts = cogvideox_parts(
        in_channels=32,
        sample_height=8,
        sample_width=8,
        sample_frames=9,
        use_learned_positional_embeddings=True,
    )
    return lib.CogVideoXImageToVideoPipeline(**parts)


def hunyuan_1_5() -> Any:
    encoder, processor = siglip_vision()
    return lib.HunyuanVideo15ImageToVideoPipeline(
        **hunyuan_1_5_parts("i2v"), image_encoder=encoder, feature_extractor=processor
    )


def siglip_vision() -> tuple[Any, Any]:
    """SigLIP's vision tower with as many patches as HunyuanVideo-1.5 wants, and its processor."""
    vision = hf.SiglipVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=54,
        patch_size=2,
    )
    square = {"height": 54, "width": 54}
    return hf.SiglipVisionModel(vision).eval(), hf.SiglipImageProcessorPil(size=square)


def svd() -> Any:
    return svd_from_a_picture()


def svd_from_a_picture(**changes: Any) -> Any:
    """Stable Video Diffusion XT: a picture, no words, 25 frames."""
    encoder, processor = clip_vision()
    shape = {
        "sample_size": 96,
        "in_channels": 8,
        "out_channels": 4,
        "block_out_channels": BLOCKS,
        "layers_per_block": 1,
        "cross_attention_dim": WIDTH,
        "num_attention_heads": (1, 2, 2, 2),
        "addition_time_embed_dim": 32,
        "projection_class_embeddings_input_dim": 96,
        "num_frames": 25,
        "down_block_types": ("CrossAttnDownBlockSpatioTemporal",) * 3
        + ("DownBlockSpatioTemporal",),
        "up_block_types": ("UpBlockSpatioTemporal",) + ("CrossAttnUpBlockSpatioTemporal",) * 3,
    }
    unet = lib.UNetSpatioTemporalConditionModel(**{**shape, **changes})
    autoencoder = lib.AutoencoderKLTemporalDecoder(
        block_out_channels=(32, 32, 32, 32),
        down_block_types=("DownEncoderBlock2D",) * 4,
        layers_per_block=1,
        latent_channels=4,
        sample_size=768,
    )
    scheduler = lib.EulerDiscreteScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
        sigma_max=700.0,
        sigma_min=0.002,
        steps_offset=1,
        timestep_spacing="leading",
        timestep_type="continuous",
        use_karras_sigmas=True,
    )
    return lib.StableVideoDiffusionPipeline(
        vae=autoencoder,
        image_encoder=encoder,
        unet=unet,
        scheduler=scheduler,
        feature_extractor=processor,
    )


def i2vgen_xl() -> Any:
    text, words = clip_text()
    encoder, processor = clip_vision()
    unet = lib.I2VGenXLUNet(
        sample_size=32,
        block_out_channels=BLOCKS,
        layers_per_block=1,
        in_channels=4,
        out_channels=4,
        cross_attention_dim=WIDTH,
        attention_head_dim=8,
    )
    return lib.I2VGenXLPipeline(
        vae=vae(4, 0.18215),
        text_encoder=text,
        tokenizer=words,
        image_encoder=encoder,
        feature_extractor=processor,
        unet=unet,
        scheduler=lib.DDIMScheduler(
            beta_schedule="squaredcos_cap_v2", clip_sample=False, rescale_betas_zero_snr=True
        ),
    )


FROM_PICTURES = {
    "Wan2.1-I2V": (wan_2_1, 64, 9),
    "Wan2.2-I2V-A14B": (wan_2_2_a14b, 64, 9),
    "Wan2.2-TI2V-5B": (wan_2_2_5b, 64, 9),
    "SkyReels-V2-DF": (skyreels_forcing, 64, 9),
    "LTX-Video-I2V": (ltx_from_a_picture, 64, 17),
    "LTX-Video-0.9.5": (ltx, 64, 17),
    "LTX-Video-0.9.7": (ltx_conditions, 64, 17),
    "LTX-2-19B": (ltx_2, 64, 17),
    "CogVideoX-5b-I2V": (cogvideox, None, 9),
    "HunyuanVideo-1.5-i2v": (hunyuan_1_5, None, 9),
    "SVD-img2vid-xt": (svd, 64, None),
    "I2VGenXL": (i2vgen_xl, 64, None),
}
"""The builder of each, and the size and frames it is run with here: at its own a clip takes minutes
on a CPU. None is its own."""
