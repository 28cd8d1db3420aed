"""Whether a handed-in model folder holds only weights, configs and tokenizers of kinds we know."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO

from submissions.errors import Problem, shown

ALLOWED = (".safetensors", ".json", ".txt", ".model", ".md", ".jinja")
FORBIDDEN_HINT = "Save the model with save_pretrained(folder, safe_serialization=True) and remove everything else."
MOST_HEADER = 100 * 1024 * 1024
CODE_KEYS = ("auto_map", "custom_pipelines", "trust_remote_code")


def name_problems(path: str) -> Iterator[Problem]:
    """A model is safetensors, configs and tokenizer files; anything else is refused, not scanned."""
    if PurePosixPath(path).suffix.lower() not in ALLOWED:
        yield Problem("E_FORBIDDEN_TYPE", shown(path), "This kind of file is not taken with a model.", FORBIDDEN_HINT)


def safetensors_problems(path: str, stream: BinaryIO, size: int) -> Iterator[Problem]:
    """Check the header alone: its length, its JSON, its offsets."""
    problem = Problem("E_SAFETENSORS", shown(path), "This is not a sound safetensors file.", FORBIDDEN_HINT)
    head = stream.read(8)
    length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
    if not 2 <= length <= min(MOST_HEADER, size - 8):
        yield problem
        return
    try:
        header = json.loads(stream.read(length))
        spans = sorted(tuple(entry["data_offsets"]) for name, entry in header.items() if name != "__metadata__")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        yield problem
        return
    ends = [0, *(end for _, end in spans)]
    joined = all(start == before for (start, _), before in zip(spans, ends, strict=False))
    if not joined or ends[-1] != size - 8 - length:
        yield problem


def config_problems(path: str, raw: bytes) -> Iterator[Problem]:
    """A config may name settings, never code."""
    try:
        config = json.loads(raw)
    except (ValueError, RecursionError):
        yield Problem("E_CONFIG_JSON", shown(path), "This is not JSON.", FORBIDDEN_HINT)
        return
    for key in CODE_KEYS:
        if isinstance(config, dict) and key in config:
            yield Problem("E_CONFIG_KEY", shown(path), f"The key {key} names code to run.", f"Remove {key}.")
