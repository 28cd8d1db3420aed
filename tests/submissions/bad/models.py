"""Rows 43 to 52: what can be wrong with a model folder."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np

from .case import Case, Members, bundle

CLIP = {
    "architectures": ["CLIPTextModel"],
    "model_type": "clip_text_model",
    "vocab_size": 50,
    "hidden_size": 8,
}
INDEX = {
    "_class_name": "StableDiffusionPipeline",
    "_diffusers_version": "0.42.1",
    "text_encoder": ["transformers", "CLIPTextModel"],
    "unet": [None, None],
}
BASE = "stabilityai/stable-diffusion-xl-base-1.0"
ADAPTER = {"peft_type": "LORA", "r": 4, "base_model_name_or_path": BASE, "revision": "a" * 40}


def safetensors(tensors: dict[str, Any], **about: str) -> bytes:
    """A safetensors file by hand."""
    at, header, body = 0, dict[str, Any](), b""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64", "float64": "F64"}
    for name, array in tensors.items():
        data = array.tobytes()
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [at, at + len(data)]}  # fmt: skip
        at, body = at + len(data), body + data
    return with_header(
        json.dumps({**header, "__metadata__": about} if about else header).encode(), body
    )


def with_header(header: bytes, body: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + body


EMBEDDING = "text_model.embeddings.token_embedding.weight"
GOOD = safetensors({EMBEDDING: np.ones((50, 8), np.float32), "bias": np.zeros(3, np.float16)})


def folder() -> Members:
    """A sound small model."""
    return {
        "model/model_index.json": json.dumps(INDEX).encode(),
        "model/text_encoder/config.json": json.dumps(CLIP).encode(),
        "model/text_encoder/model.safetensors": GOOD,
        "model/README.md": b"# A model\n",
    }


def spoilt(row: int, what: str, code: str, **files: bytes | None) -> Case:
    """The sound model with some files replaced; double underscores stand for slashes, the ending
    for its dot."""

    def make(to: Path) -> Path:
        return model_bundle(to, {_path(name): data for name, data in files.items()})

    return Case(row, what, code, make)


def model_bundle(to: Path, changed: dict[str, bytes | None]) -> Path:
    """The sound model with these files put in or (None) taken out."""
    members = {**folder(), **changed}
    listed: dict[str, tuple[str | None, bytes]] = {
        name: (None, data) for name, data in members.items() if data is not None
    }
    return bundle(to, listed, kind="model")


def _path(name: str) -> str:
    stem, _, ending = name.replace("__", "/").rpartition("_")
    return f"model/{stem}.{ending}"


def config(**changes: Any) -> bytes:
    return json.dumps({**CLIP, **changes}).encode()


def weights(row: int, what: str, code: str, data: bytes) -> Case:
    return spoilt(row, what, code, text_encoder__model_safetensors=data)


def setting(row: int, what: str, code: str, **changes: Any) -> Case:
    return spoilt(row, what, code, text_encoder__config_json=config(**changes))


def template(source: str) -> bytes:
    return json.dumps({"tokenizer_class": "CLIPTokenizer", "chat_template": source}).encode()


def header(**entry: Any) -> bytes:
    good = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    return with_header(json.dumps({EMBEDDING: {**good, **entry}}).encode(), bytes(8))


def index(shard: str) -> bytes:
    return json.dumps({"metadata": {"total_size": 8}, "weight_map": {EMBEDDING: shard}}).encode()


def floats(value: float, kind: Any) -> bytes:
    array = np.ones((50, 8), kind)
    array[49, 7] = value
    return safetensors({EMBEDDING: array})


REACHING = "{{ messages.__class__.__mro__[1].__subclasses__() }}"
OVERLAP = json.dumps({
    "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
    "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
}).encode()  # fmt: skip

CASES = [
    Case(0, "a sound model", "", lambda to: model_bundle(to, {})),
    *(
        spoilt(43, f"model with {ending}", "E_FORBIDDEN_TYPE", **{f"x_{ending}": b"x"})
        for ending in ("pt", "bin", "py", "yaml", "h5")
    ),
    weights(44, "pickle named safetensors", "E_SAFETENSORS", pickle.dumps({"a": 1})),
    weights(45, "header of 2^40 bytes", "E_SAFETENSORS", with_header(b"{}", b"", 1 << 40)),
    weights(45, "overlapping offsets", "E_SAFETENSORS", with_header(OVERLAP, bytes(12))),
    weights(45, "unknown dtype", "E_SAFETENSORS", header(dtype="F77")),
    weights(45, "negative shape", "E_SAFETENSORS", header(shape=[-2])),
    weights(45, "shape and offsets differ", "E_SAFETENSORS", header(shape=[3])),
    weights(45, "header is not JSON", "E_SAFETENSORS", with_header(b"not json", b"")),
    weights(45, "header is a list", "E_SAFETENSORS", with_header(b"[]", b"")),
    weights(45, "name twice", "E_SAFETENSORS", with_header(b'{"a": 1, "a": 2}', b"")),
    weights(45, "bytes behind", "E_SAFETENSORS", GOOD + b"more"),
    weights(45, "cut", "E_SAFETENSORS", GOOD[:-4]),
    weights(45, "empty", "E_SAFETENSORS", b""),
    weights(
        46,
        "another vocabulary",
        "E_WEIGHTS_SHAPE",
        safetensors({EMBEDDING: np.ones((49, 8), np.float32)}),
    ),
    weights(
        46,
        "other tensors",
        "E_WEIGHTS_SHAPE",
        safetensors({"something": np.ones((50, 8), np.float32)}),
    ),
    *(
        weights(47, f"{value} in {np.dtype(kind)}", "E_WEIGHTS_NONFINITE", floats(value, kind))
        for value in (float("nan"), float("inf"), float("-inf"))
        for kind in (np.float32, np.float16, np.float64)
    ),
    spoilt(
        48,
        "index climbs",
        "E_WEIGHTS_INDEX",
        **{"text_encoder__model.safetensors.index_json": index("../../x.safetensors")},
    ),
    spoilt(
        48,
        "shard missing",
        "E_WEIGHTS_INDEX",
        **{"text_encoder__model.safetensors.index_json": index("model-00001-of-00002.safetensors")},
    ),
    setting(49, "auto_map", "E_CONFIG_KEY", auto_map={"AutoModel": "modeling.Evil"}),
    setting(
        49,
        "_attn_implementation_internal",
        "E_CONFIG_KEY",
        _attn_implementation_internal="evil/kernels",
    ),
    setting(49, "_attn_implementation", "E_CONFIG_KEY", _attn_implementation="evil/kernels"),
    Case(
        49,
        "auto_map in a Config.JSON",
        "E_CONFIG_KEY",
        lambda to: model_bundle(
            to,
            {
                "model/text_encoder/Config.JSON": config(auto_map={"AutoModel": "modeling.Evil"}),
                "model/text_encoder/config.json": None,
            },
        ),
    ),
    setting(49, "trust_remote_code", "E_CONFIG_KEY", trust_remote_code=True),
    setting(49, "unknown key", "W_CONFIG_KEY", my_own_setting=1),
    setting(49, "unknown key inside", "E_CONFIG_KEY", text_config={"trust_remote_code": True}),
    setting(49, "an address", "E_CONFIG_KEY", model_type="https://example.org/evil.py"),
    spoilt(
        49,
        "custom pipeline",
        "E_CONFIG_KEY",
        model_index_json=json.dumps({**INDEX, "custom_pipeline": "x"}).encode(),
    ),
    spoilt(49, "config is not JSON", "E_CONFIG_JSON", text_encoder__config_json=b"{'a': 1}"),
    setting(50, "architecture", "E_ARCHITECTURE", architectures=["EvilModel"]),
    spoilt(
        50,
        "pipeline",
        "E_ARCHITECTURE",
        model_index_json=json.dumps({**INDEX, "_class_name": "Evil"}).encode(),
    ),
    spoilt(
        50,
        "part of another library",
        "E_ARCHITECTURE",
        model_index_json=json.dumps(
            {**INDEX, "unet": ["my_module", "UNet2DConditionModel"]}
        ).encode(),
    ),
    spoilt(50, "no index", "E_ARCHITECTURE", model_index_json=None),
    *(
        spoilt(
            51,
            f"base {base}",
            "E_BASE_MODEL",
            adapter_config_json=json.dumps({**ADAPTER, "base_model_name_or_path": base}).encode(),
        )
        for base in (
            "https://example.org/model",
            "/srv/models/x",
            "../x",
            "somebody/unlisted",
            None,
        )
    ),
    spoilt(
        51,
        "base at main",
        "E_BASE_MODEL",
        adapter_config_json=json.dumps({**ADAPTER, "revision": "main"}).encode(),
    ),
    spoilt(
        52, "template reaches", "E_TEMPLATE", tokenizer__tokenizer_config_json=template(REACHING)
    ),
    spoilt(
        52,
        "template by filter",
        "E_TEMPLATE",
        chat_template_jinja=b"{{ messages | attr('__class__') }}",
    ),
    spoilt(52, "template by key", "E_TEMPLATE", chat_template_jinja=b"{{ messages['__class__'] }}"),
    spoilt(52, "template imports", "E_TEMPLATE", chat_template_jinja=b"{% include 'x' %}"),
    spoilt(52, "template is broken", "E_TEMPLATE", chat_template_jinja=b"{% for %}"),
]
