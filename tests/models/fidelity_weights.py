"""Folders of small random weights in the shape of those that LPIPS and FVD are computed with."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from evaluators.models.fidelity.perceptual import BACKBONES, CONFIG, WEIGHTS, PerceptualDistance


def write_lpips(root: Path, backbone: str = "alex") -> Path:
    """A folder of LPIPS weights, named as the published ones are."""
    folder = root / "lpips"
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    network = PerceptualDistance(backbone)
    tensors = {
        name: value for name, value in network.state_dict().items() if name.startswith("features.")
    }
    compared = [layer for layer in BACKBONES[backbone] if layer.is_compared]
    for number, layer in enumerate(compared):
        tensors[f"lin{number}.model.1.weight"] = torch.rand(1, layer.width, 1, 1)
    save_file(tensors, folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps({"backbone": backbone}), "utf-8")
    return folder


def write_film(root: Path) -> Path:
    """A folder of a very small VideoMAE."""
    from transformers import VideoMAEConfig, VideoMAEModel

    torch.manual_seed(0)
    folder = root / "film"
    config = VideoMAEConfig(
        image_size=32,
        patch_size=8,
        num_frames=4,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.3,
    )
    VideoMAEModel(config).save_pretrained(folder, safe_serialization=True)
    return folder
