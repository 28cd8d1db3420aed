"""Quantised checkpoints: known by their configs, their tensors and their files, and what to hand in
instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from submissions.format.errors import Problem, shown

HINT = (
    "Hand in the weights as they were before, in bf16, fp16 or fp32: load the original, merge what "
    "was trained, and "
    "save_pretrained(folder). The board chooses its own precision, the same for everybody."
)
KEYS = re.compile(r"quanti[sz]ation(_config)?|quant_config|compression_config|_?load_in_[48]bit")
FILES = re.compile(r"(hf_)?quant(ize|isation|ization)?_config\.json|\S+\.gguf")
METHODS = frozenset(
    {
        *(
            "bitsandbytes",
            "bitsandbytes_4bit",
            "bitsandbytes_8bit",
            "gptq",
            "gptqmodel",
            "awq",
            "aqlm",
            "quanto",
        ),
        *(
            "eetq",
            "higgs",
            "hqq",
            "compressed-tensors",
            "fbgemm_fp8",
            "torchao",
            "bitnet",
            "vptq",
            "spqr",
            "fp8",
        ),
        *(
            "auto-round",
            "mxfp4",
            "quark",
            "fp_quant",
            "modelopt",
            "gguf",
            "nunchaku",
            "nunchaku_lite",
            "sdnq",
        ),
        *("finegrained_fp8", "exl2", "mlx"),
    }
)
TENSORS = re.compile(
    r".*(\.quant_state\.\w+|\.(absmax|quant_map|nested_absmax|nested_quant_map|SCB)"
    r"|\.(qweight|qzeros|g_idx|weight_packed|weight_scale(_inv|_2)?|scale_weight|input_scale"
    r"|weight_zero_point))"
)
"""What the methods write beside a weight to read it back."""


def quantised_file(path: str) -> Problem | None:
    """A file that only a quantised model has."""
    if not FILES.fullmatch(PurePosixPath(path).name.lower()):
        return None
    return _problem(path, "This file belongs to a quantised checkpoint")


def quantised_tensors(path: str, names: Collection[str]) -> Iterator[Problem]:
    """Weights that can only be read with a quantiser."""
    tensor_name = next((name for name in names if TENSORS.fullmatch(name)), None)
    if tensor_name is not None:
        yield _problem(path, f"These weights are quantised (tensor {shown(tensor_name)})")


def quantised_settings(path: str, config: Mapping[str, Any]) -> Iterator[Problem]:
    """A config that says how the weights were quantised, at any depth."""
    for key, value in config.items():
        if is_quantised(key, value):
            yield _problem(path, f"This is a quantised checkpoint ({shown(key)}{_method(value)})")
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from quantised_settings(path, part)


def is_quantised(key: str, value: object) -> bool:
    """Whether a setting says that the weights are quantised, by a known method or by none that it
    names."""
    if not names_quantiser(key) or not value or not isinstance(value, (dict, bool, str)):
        return False
    method = value.get("quant_method", "") if isinstance(value, dict) else ""
    return isinstance(method, str) and (not method or method.lower() in METHODS)


def names_quantiser(key: str) -> bool:
    """Whether a setting is about quantising."""
    return KEYS.fullmatch(key.lower()) is not None


def _method(value: object) -> str:
    method = value.get("quant_method") if isinstance(value, dict) else None
    return f": {method}" if isinstance(method, str) else ""


def _problem(path: str, reason: str) -> Problem:
    return Problem("E_QUANTISED", shown(path), f"{reason}; such weights are not taken.", HINT)
