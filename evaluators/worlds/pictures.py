"""How large the pictures of a bench are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Height and width of a view in pixels."""

    height: int = 24
    width: int = 24
