"""Real bundles that are sound in form and cost their reader much time or memory."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path

from .models import model_bundle


def slow_bundle(to: Path) -> Path:
    """Small when packed, and seconds to read."""
    dense = _dense(1_900_000)
    return model_bundle(to, {f"model/{name}/tokenizer.json": dense for name in "abcd"})


def heavy_bundle(to: Path) -> Path:
    """Takes many times its size of memory to read."""
    path = model_bundle(to.with_suffix(".packed"), {"model/tokenizer.json": _wide(50 << 20)})
    with zipfile.ZipFile(path) as packed, zipfile.ZipFile(to, "w") as stored:
        for name in packed.namelist():
            stored.writestr(name, packed.read(name))
    path.unlink()
    return to


def _dense(count: int) -> bytes:
    """So many empty lists and objects, too various to be called a bomb."""
    dice = random.Random(1)
    return b'{"a": [' + b",".join(dice.choices((b"[]", b"{}"), k=count)) + b"]}"


def _wide(length: int) -> bytes:
    """One letter beyond the first plane makes four bytes of every letter of its text."""
    return json.dumps({"text": "\U0001f600" + "x" * length}, ensure_ascii=False).encode()
