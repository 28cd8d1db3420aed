"""A benchmark case as data: a first frame, an intention, the things in sight, and the way there
step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import yaml

Source = Literal["real", "synthetic"]
KEYS = (
    "case_id",
    "scenario",
    "source",
    "image",
    "intention",
    "objects",
    "subgoals",
    "reference_prompts",
    "license",
)
LINE = 118


@dataclass(frozen=True, slots=True)
class SceneObject:
    """Something in the first frame that can be used."""

    id: str
    description: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class AvatarCase:
    """One case. `folder` is where its sidecar lies and `image` is a path inside it."""

    case_id: str
    scenario: str
    source: Source
    image: str
    intention: str
    objects: tuple[SceneObject, ...]
    subgoals: tuple[str, ...]
    reference_prompts: tuple[str, ...]
    license: str
    folder: Path

    @property
    def image_path(self) -> Path:
        """The first frame."""
        return self.folder / self.image


def sidecar(case: AvatarCase) -> str:
    """The case as the YAML text that lies beside its picture."""
    fields = {key: getattr(case, key) for key in KEYS}
    fields["objects"] = [_object_fields(item) for item in case.objects]
    fields |= {key: list(fields[key]) for key in ("subgoals", "reference_prompts")}
    return cast(str, yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=LINE))


def _object_fields(item: SceneObject) -> dict[str, str]:
    fields = {"id": item.id, "description": item.description}
    return {**fields, "state": item.state} if item.state else fields
