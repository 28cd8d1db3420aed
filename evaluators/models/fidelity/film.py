"""Features of a film by any video network of transformers that lies in a folder, for FVD."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

Frames = npt.NDArray[np.uint8]
Features = npt.NDArray[np.float32]
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the colours from 0 to 1, where the folder has no preprocessor_config.json that says others."""


def open_film_features(folder: Path, device: str = "cpu") -> Callable[[Frames], Features]:
    """The features [films, width] of films uint8 [films, frames, height, width, RGB]: the last
    hidden states of the folder's network (VideoMAE, for one), averaged over its tokens."""
    from transformers import AutoConfig, AutoModel

    config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    read: Any = AutoModel.from_pretrained
    network = read(folder, local_files_only=True, use_safetensors=True).to(device).eval()
    colours = _colours(folder)

    @torch.inference_mode()
    def features(films: Frames) -> Features:
        rows = []
        for film in films:
            shown = _shown(film, config.num_frames, config.image_size, colours).to(device)
            rows.append(network(pixel_values=shown[None]).last_hidden_state.float().mean((0, 1)))
        return np.asarray(torch.stack(rows).cpu(), np.float32)

    return features


def _shown(film: Frames, count: int, size: int, colours: tuple[Tensor, Tensor]) -> Tensor:
    """As many frames [count, 3, size, size] as the network takes, evenly spread, in its colours."""
    chosen = film[np.linspace(0, len(film) - 1, count).round().astype(int)]
    pictures = torch.from_numpy(np.ascontiguousarray(chosen)).permute(0, 3, 1, 2).float() / 255
    resized = functional.interpolate(pictures, (size, size), mode="bilinear", antialias=True)
    mean, deviation = colours
    return (resized - mean) / deviation


def _colours(folder: Path) -> tuple[Tensor, Tensor]:
    path = folder / "preprocessor_config.json"
    told = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    rows = told.get("image_mean") or MEAN, told.get("image_std") or DEVIATION
    mean, deviation = (torch.tensor(row).view(1, 3, 1, 1) for row in rows)
    return mean, deviation
