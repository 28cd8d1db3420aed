"""Cosmos 3's pipeline with sizes reduced and random weights, from its own classes and config, and
practice that it can learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import torch

from evaluators.models.cosmos.embodiment import CosmosSettings
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.reading import RobotDataset, open_dataset
from evaluators.worlds.lerobot.writing import DatasetCard, write_dataset
from tests.models.pipelines import parts

lib: Any = diffusers
SETTINGS = CosmosSettings(height=32, width=32, steps=2, chunk=8)
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<end_of_utterance>\n{% endfor %}"
)


def small_cosmos(seed: int = 0) -> Any:
    """Two layers of 32 numbers, the autoencoder of Wan 2.2 in its shape, actions of 64 numbers."""
    torch.manual_seed(seed)
    words = parts.chat_words()
    words.chat_template = TEMPLATE
    transformer = lib.Cosmos3OmniTransformer(
        head_dim=16,
        hidden_size=32,
        intermediate_size=64,
        num_attention_heads=2,
        num_hidden_layers=2,
        num_key_value_heads=1,
        latent_channel=8,
        patch_latent_dim=32,
        rope_axes_dim=[4, 2, 2],
        vocab_size=len(words),
        action_gen=True,
        action_dim=64,
    )
    for name, parameter in transformer.named_parameters():
        if "proj_out" in name or "action_proj" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    vae = lib.AutoencoderKLWan(
        base_dim=8,
        decoder_base_dim=8,
        z_dim=8,
        dim_mult=[1, 1, 1, 1],
        num_res_blocks=1,
        temperal_downsample=[False, True, True],
        latents_mean=[0.0] * 8,
        latents_std=[1.0] * 8,
        is_residual=True,
        in_channels=12,
        out_channels=12,
        patch_size=2,
        scale_factor_spatial=16,
        scale_factor_temporal=4,
    )
    scheduler = lib.UniPCMultistepScheduler(
        prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=5.0
    )
    pipeline = lib.Cosmos3OmniPipeline(
        transformer, words, vae, scheduler, enable_safety_checker=False
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def noisy_practice(folder: Path) -> RobotDataset:
    """Two short episodes of noise whose states follow the actions."""
    episodes = []
    for number in range(2):
        rng = np.random.default_rng(number)
        actions = rng.normal(size=(20, 7)).astype(np.float32) * 0.3
        moves = np.concatenate([np.zeros((1, 6)), actions[:, :6].cumsum(0)]) * 0.05
        state = np.concatenate([moves, np.zeros((21, 2))], axis=1).astype(np.float32)
        cameras = {
            view: rng.integers(0, 255, (21, 32, 32, 3)).astype(np.uint8) for view in SETTINGS.views
        }
        episodes.append(RobotEpisode(cameras, actions, state, "put the can into the bin"))
    card = DatasetCard("arm", 10, tuple("xyzabcg"), tuple(f"s{n}" for n in range(8)))
    return open_dataset(write_dataset(folder, card, episodes))
