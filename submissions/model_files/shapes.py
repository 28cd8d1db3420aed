"""Checks that weights fit the config beside them, by the few tensors that every model of a class
has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from submissions.format.errors import Problem, shown
from submissions.model_files.weights import Tensor

UNET = (("conv_in.weight",), ("block_out_channels", "in_channels"))
CLIP = (("token_embedding.weight",), ("vocab_size", "hidden_size"))
T5 = (("shared.weight", "encoder.embed_tokens.weight"), ("vocab_size", "d_model"))
DECODER = (("embed_tokens.weight",), ("vocab_size", "hidden_size"))
ANCHORS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "UNet2DConditionModel": UNET,
    "AutoencoderKL": (("encoder.conv_in.weight",), ("block_out_channels", "in_channels")),
    **dict.fromkeys(("CLIPTextModel", "CLIPTextModelWithProjection"), CLIP),
    **dict.fromkeys(("T5EncoderModel", "UMT5EncoderModel"), T5),
    "PaliGemmaForConditionalGeneration": DECODER,
    "Idefics3ForConditionalGeneration": DECODER,
    "SmolVLMForConditionalGeneration": DECODER,
    "Qwen2_5_VLForConditionalGeneration": DECODER,
}
"""A class's telling tensor, by how its name may end, and the config keys that give its first
sizes."""
HINT = "Hand in the config that belongs to these weights."


class ShapesByFolder:
    """Configs and tensors by the folder they lie in."""

    def __init__(self) -> None:
        self._configs: dict[str, Mapping[str, Any]] = {}
        self._shapes: defaultdict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)

    def add_config(self, path: str, config: Mapping[str, Any]) -> None:
        """Note a folder's config."""
        if PurePosixPath(path).name == "config.json":
            self._configs[str(PurePosixPath(path).parent)] = config

    def add_tensors(self, path: str, tensors: Sequence[Tensor]) -> None:
        """Note the telling tensors of a folder's weights."""
        ends = tuple(end for names, _ in ANCHORS.values() for end in names)
        shapes = self._shapes[str(PurePosixPath(path).parent)]
        shapes.update(
            (tensor.name, tensor.shape) for tensor in tensors if tensor.name.endswith(ends)
        )

    def problems(self) -> Iterator[Problem]:
        """Folders whose weights are not those of their config."""
        for folder, config in self._configs.items():
            anchor = ANCHORS.get(_class(config))
            if anchor is None or folder not in self._shapes:
                continue
            ends, keys = anchor
            shapes = [shape for name, shape in self._shapes[folder].items() if name.endswith(ends)]
            sizes = _sizes(config, keys)
            if not any(
                all(_fits(got, want) for got, want in zip(shape, sizes, strict=False))
                for shape in shapes
            ):
                observed = f"found {list(shapes[0])}" if shapes else "found none"
                message = f"{_class(config)} has a tensor {ends[0]} of sizes {sizes}; {observed}."
                yield Problem("E_WEIGHTS_SHAPE", shown(folder), message, HINT)


def _class(config: Mapping[str, Any]) -> str:
    named = config.get("architectures")
    first = named[0] if isinstance(named, list) and named else config.get("_class_name")
    return first if isinstance(first, str) else ""


def _sizes(config: Mapping[str, Any], keys: Sequence[str]) -> list[int | None]:
    """The sizes that a config states; where it has one for the text, what that leaves out is a
    default of its class."""
    text = config.get("text_config")
    return [_size((text if isinstance(text, dict) else config).get(key)) for key in keys]


def _size(value: object) -> int | None:
    first = value[0] if isinstance(value, list) and value else value
    return first if type(first) is int else None


def _fits(got: int, want: int | None) -> bool:
    return want is None or got == want
