"""CLIP as a yardstick: how near each frame is to each text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evaluators.media import Pixels


def open_clip(
    folder: Path, device: str = "cpu"
) -> Callable[[Pixels, Sequence[str]], NDArray[np.float64]]:
    """The cosine of each frame with each text, by the CLIP of a folder."""
    from transformers import CLIPModel, CLIPProcessor

    read_model: Any = CLIPModel.from_pretrained
    read_processor: Any = CLIPProcessor.from_pretrained
    model = read_model(folder, local_files_only=True, use_safetensors=True).to(device).eval()
    processor = read_processor(folder, local_files_only=True)

    def compare(frames: Pixels, texts: Sequence[str]) -> NDArray[np.float64]:
        inputs = processor(
            images=list(frames),
            text=list(texts),
            return_tensors="pt",
            padding=True,
            truncation=True,
        )
        with torch.inference_mode():
            outputs = model(**inputs.to(device))
        return np.asarray((outputs.image_embeds @ outputs.text_embeds.T).cpu(), dtype=np.float64)

    return compare
