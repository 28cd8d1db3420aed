"""Signs of life of processes that run for ever: files that a platform's probe looks at."""

from __future__ import annotations

from pathlib import Path

from infra.settings import Settings


def folder(settings: Settings) -> Path:
    """Where they lie."""
    return settings.home / "alive"


def sign_of_life(name: str) -> None:
    """Say that the loop of this name has just come round."""
    place = folder(Settings())
    place.mkdir(parents=True, exist_ok=True)
    (place / name).touch()
