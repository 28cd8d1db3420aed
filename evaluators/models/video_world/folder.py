"""A video world model as a folder: config.json and half-precision safetensors, nothing that could
run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from evaluators.models.video_world.codec import VideoCodec
from evaluators.models.video_world.config import VideoWorldConfig, from_json
from evaluators.models.video_world.network import VideoNetwork, network_of

WEIGHTS, CONFIG = "model.safetensors", "config.json"


@dataclass(frozen=True)
class TrainedWorld:
    """The codec and the network of one config."""

    config: VideoWorldConfig
    codec: VideoCodec
    network: VideoNetwork


def save_model(model: TrainedWorld, folder: Path) -> None:
    """Write the folder; what is loaded from it is rounded to half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{part}.{name}": value.detach().half().contiguous()
        for part, module in (("codec", model.codec), ("network", model.network))
        for name, value in module.state_dict().items()
    }
    write_tensors(folder / WEIGHTS, tensors)
    text = json.dumps(model.config.as_json(), indent=1, sort_keys=True) + "\n"
    (folder / CONFIG).write_text(text, "utf-8")


def load_model(folder: Path) -> TrainedWorld:
    """The model of a folder; ValueError or an error of safetensors says what is wrong with it."""
    config = from_json(json.loads((folder / CONFIG).read_text("utf-8")))
    tensors = load_file(folder / WEIGHTS)
    codec = VideoCodec(config)
    network = network_of(config, codec)
    for part, module in (("codec.", codec), ("network.", network)):
        module.load_state_dict(
            {
                name.removeprefix(part): value.float()
                for name, value in tensors.items()
                if name.startswith(part)
            }
        )
    return TrainedWorld(config, codec.eval(), network.eval())


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """The whole file or none of it."""
    part = path.with_name(path.name + ".part")
    save_file({name: torch.as_tensor(value) for name, value in tensors.items()}, part)
    os.replace(part, path)
