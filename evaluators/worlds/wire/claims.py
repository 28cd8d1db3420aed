"""What a folder of rollouts says it was made with: one world and its weights, one set of
settings."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CLAIM = "rollouts.json"


class OtherRolloutsHere(ValueError):
    """The folder holds rollouts of another world, or made with other settings."""


def read_claim(folder: Path) -> Mapping[str, Any]:
    """What a folder's rollouts were made with; empty if it has none."""
    spot = folder / CLAIM
    try:
        return dict(json.loads(spot.read_text("utf-8"))) if spot.is_file() else {}
    except (ValueError, TypeError):
        raise OtherRolloutsHere(
            f"{spot} is not as `rollout` wrote it. Roll out into a new folder."
        ) from None


def claim_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """A folder holds the rollouts of one world and its weights, with one set of settings."""
    folder.mkdir(parents=True, exist_ok=True)
    mine = json.dumps(settings, sort_keys=True) + "\n"
    claimed = read_claim(folder)
    if claimed and claimed != json.loads(mine):
        raise OtherRolloutsHere(
            f"{folder} holds rollouts made with other settings or weights. Use another folder, or "
            "empty this one."
        )
    part = folder / f"{CLAIM}.part"
    part.write_text(mine, "utf-8")
    os.replace(part, folder / CLAIM)
