"""Which device to compute on."""

from __future__ import annotations

import torch


def pick_device(name: str) -> str:
    """The device of that name; `auto` is the first GPU where there is one."""
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"
