"""Random image-to-video pipelines that film at their family's own size, frames and rate: published
layouts with as few layers, heads and channels as they run with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.models.pipelines.from_pictures import siglip_vision, svd_from_a_picture
from tests.models.pipelines.parts import lib
from tests.models.pipelines.videos import (
    cogvideox_parts,
    hunyuan_1_5_parts,
    ltx_parts,
    wan_parts,
    wan_transformer,
)

FAINT = 0.1
"""What is left of a random decoder's noise, where its films would be slow to encode."""


def wan() -> Any:
    """Wan 2.2 A14B: 832x480, 32,760 tokens a step."""
    narrow = {"in_channels": 36, "num_attention_heads": 1, "num_layers": 1}
    autoencoder = lib.AutoencoderKLWan(
        base_dim=2, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=0
    )
    return lib.WanImageToVideoPipeline(
        **{**wan_parts(), "vae": autoencoder},
        transformer=wan_transformer(**narrow),
        transformer_2=wan_transformer(**narrow),
        boundary_ratio=0.9,
    )


def ltx() -> Any:
    """LTX-Video 0.9.5: 704x512, 7,392 tokens a step."""
    return lib.LTXImageToVideoPipeline(**ltx_parts())


def cogvideox() -> Any:
    """CogVideoX-5b: 720x480, 17,550 tokens a step, learned positions for that size alone."""
    parts = cogvideox_parts(
        in_channels=32,
        num_attention_heads=1,
        sample_height=60,
        sample_width=90,
        use_learned_positional_embeddings=True,
    )
    parts["vae"] = lib.AutoencoderKLCogVideoX(
        block_out_channels=(4, 4, 4, 4),
        layers_per_block=1,
        latent_channels=16,
        norm_num_groups=4,
        scaling_factor=0.7,
        down_block_types=("CogVideoXDownBlock3D",) * 4,
        up_block_types=("CogVideoXUpBlock3D",) * 4,
    )
    _make_faint(parts["vae"])
    return lib.CogVideoXImageToVideoPipeline(**parts)


def hunyuan() -> Any:
    """HunyuanVideo-1.5: 1280x720. Published, a token is a latent and the mask of its attention has
    111,600 times 111,600 entries; here a token is 5x5 latents."""
    parts = hunyuan_1_5_parts("i2v", target_size=960, patch_size=5, num_attention_heads=1)
    parts["vae"] = lib.AutoencoderKLHunyuanVideo15(
        latent_channels=32,
        block_out_channels=(4, 4, 8, 64),
        layers_per_block=1,
        downsample_match_channel=False,
        upsample_match_channel=False,
    )
    _make_faint(parts["vae"])
    encoder, processor = siglip_vision()
    return lib.HunyuanVideo15ImageToVideoPipeline(
        **parts, image_encoder=encoder, feature_extractor=processor
    )


def svd() -> Any:
    """Stable Video Diffusion XT: 1024x576; its groups of 32 need 32 channels at every level."""
    pipeline = svd_from_a_picture(block_out_channels=(32, 32, 32, 32), num_attention_heads=1)
    _make_faint(pipeline.vae)
    return pipeline


def _make_faint(autoencoder: Any) -> None:
    """Weaken the noise that a random decoder ends with: at full strength encoding and decoding the
    films costs more than the pipeline itself."""
    for name, weights in autoencoder.decoder.named_parameters():
        if name.startswith("conv_out"):
            weights.data.mul_(FAINT)


OWN_SIZE: dict[str, tuple[Callable[[], Any], tuple[int, int], int, float]] = {
    "Wan2.2-I2V-A14B": (wan, (832, 480), 81, 16.0),
    "LTX-Video-I2V": (ltx, (704, 512), 161, 25.0),
    "CogVideoX-5b-I2V": (cogvideox, (720, 480), 49, 8.0),
    "HunyuanVideo-1.5-i2v": (hunyuan, (1280, 720), 121, 24.0),
    "SVD-img2vid-xt": (svd, (1024, 576), 25, 7.0),
}
"""The builder of each, and the width and height, frames and frames a second of its authors."""
