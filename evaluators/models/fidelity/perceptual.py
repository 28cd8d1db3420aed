"""LPIPS: how far apart two pictures look, by the features of a picture classifier and weights that
people's judgements gave each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

Frames = npt.NDArray[np.uint8]
WEIGHTS, CONFIG = "model.safetensors", "config.json"
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
"""Of the three colours from -1 to 1, as the published weights expect them."""

BATCH = 16


class BadWeights(ValueError):
    """The folder holds no such network; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution and what follows it; `pool` pixels are pooled before it, 0 for none."""

    number: int
    width: int
    kernel: int
    stride: int = 1
    padding: int = 1
    pool: int = 0
    is_compared: bool = True


def _vgg() -> tuple[Layer, ...]:
    widths = ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3)
    layers, number = [], 0
    for stage, stage_widths in enumerate(widths):
        for place, width in enumerate(stage_widths):
            last = place == len(stage_widths) - 1
            pool = 2 if stage and not place else 0
            layers.append(Layer(number, width, 3, pool=pool, is_compared=last))
            number += 3 if last else 2
    return tuple(layers)


BACKBONES: Mapping[str, tuple[Layer, ...]] = {
    "alex": (
        Layer(0, 64, 11, stride=4, padding=2),
        Layer(3, 192, 5, padding=2, pool=3),
        Layer(6, 384, 3, pool=3),
        Layer(8, 256, 3),
        Layer(10, 256, 3),
    ),
    "vgg": _vgg(),
}
"""By the numbers that torchvision gives the layers in `features`."""


class PerceptualDistance(nn.Module):
    """The weighted distance of two pictures' features, all places alike."""

    shift: Tensor
    scale: Tensor

    def __init__(self, backbone: str) -> None:
        super().__init__()
        self.layers = BACKBONES[backbone]
        inward = (3, *(layer.width for layer in self.layers))
        self.features = nn.ModuleDict(
            {
                str(layer.number): nn.Conv2d(
                    width, layer.width, layer.kernel, layer.stride, layer.padding
                )
                for width, layer in zip(inward, self.layers, strict=False)
            }
        )
        compared = [layer for layer in self.layers if layer.is_compared]
        self.heads = nn.ParameterList(torch.zeros(layer.width) for layer in compared)
        self.register_buffer("shift", torch.tensor(SHIFT).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("scale", torch.tensor(SCALE).view(1, 3, 1, 1), persistent=False)

    def forward(self, real: Tensor, generated: Tensor) -> Tensor:
        """The distance [n] of pictures [n, 3, height, width] from -1 to 1."""
        total = torch.zeros(len(real), device=real.device)
        for head, a, b in zip(self.heads, self._taps(real), self._taps(generated), strict=True):
            total = total + ((a - b).square() * head.view(1, -1, 1, 1)).sum(1).mean((1, 2))
        return total

    def _taps(self, pictures: Tensor) -> list[Tensor]:
        """The features of unit length at each place, of each compared layer."""
        current, taps = (pictures - self.shift) / self.scale, []
        for layer in self.layers:
            if layer.pool:
                current = functional.max_pool2d(current, layer.pool, 2)
            current = functional.relu(self.features[str(layer.number)](current))
            if layer.is_compared:
                taps.append(current / (current.square().sum(1, keepdim=True).sqrt() + 1e-10))
        return taps


def open_lpips(folder: Path, device: str = "cpu") -> Callable[[Frames, Frames], float]:
    """The mean LPIPS of films uint8 [frames, height, width, RGB], by the weights of a folder:
    config.json with `{"backbone": "alex"}` (or vgg) and model.safetensors with the backbone's
    `features.N.*` and the heads' `linN.model.1.weight`; BadWeights says what is wrong with it."""
    network = load_lpips(folder).to(device)

    @torch.inference_mode()
    def compare(real: Frames, generated: Frames) -> float:
        pairs = zip(_pictures(real, device), _pictures(generated, device), strict=True)
        return float(torch.cat([network(a, b) for a, b in pairs]).mean())

    return compare


def load_lpips(folder: Path) -> PerceptualDistance:
    """The network of a folder."""
    backbone = json.loads((folder / CONFIG).read_text("utf-8")).get("backbone")
    if backbone not in BACKBONES:
        raise BadWeights(
            f"{folder.name}/config.json says backbone {backbone!r}. Say one of "
            f"{', '.join(BACKBONES)}."
        )
    stored, network = load_file(folder / WEIGHTS), PerceptualDistance(backbone)
    tensors = {name: value for name, value in stored.items() if name.startswith("features.")}
    for number, head in enumerate(network.heads):
        key = f"lin{number}.model.1.weight"
        if key in stored:
            tensors[f"heads.{number}"] = stored[key].reshape(head.shape)
    wanted = network.state_dict()
    if lacking := sorted(set(wanted) - set(tensors)):
        raise BadWeights(f"{folder.name}/{WEIGHTS} lacks {lacking[0]} and {len(lacking) - 1} more.")
    network.load_state_dict({name: tensors[name].float() for name in wanted})
    return network.eval()


def _pictures(frames: Frames, device: str) -> list[Tensor]:
    """Batches [n, 3, height, width] from -1 to 1."""
    rows = torch.from_numpy(np.ascontiguousarray(frames)).to(device).permute(0, 3, 1, 2)
    return list(torch.split(rows.float() / 127.5 - 1, BATCH))
