"""An adapter's folder, read: the base it stands on is found and checked, its weights are put in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluators.models.generate.adapters import base_of_adapter
from evaluators.models.vlm.judge import VlmJudge, read_folder, revision

CONFIG, WEIGHTS, JUDGE = "adapter_config.json", "adapter_model.safetensors", "judge.json"
PLAIN = "WEIGHTS"
"""The kind of an adapter that replaces weights of its base; peft's own kinds keep peft's files."""
PACKAGED = "armillary/drawn-reader"
"""A small model that comes with this package: it read drawn pictures and nothing else."""


@dataclass(frozen=True, slots=True)
class Base:
    """The model an adapter stands on: its name, and a hash of what is in its folder or the commit
    it came from."""

    name: str
    revision: str


class NoBase(ValueError):
    """An adapter's base is not here, or is another one than it was trained on; the message says
    which is wanted."""


def load_adapted(
    folder: Path, shelf: Path | None, dtype: str = "fp32", base: str = ""
) -> tuple[Any, Any]:
    """The base with the adapter's weights in it, and the base's processor."""
    adapter_base = Base(*base_of_adapter(folder / CONFIG, base))
    return load_onto(folder, find_base(adapter_base, shelf), dtype)


def load_onto(folder: Path, base: Path, dtype: str = "fp32") -> tuple[Any, Any]:
    """The model of a base's folder with an adapter's weights in it, and its processor."""
    adapter_config = json.loads((folder / CONFIG).read_text("utf-8"))
    model, processor = read_folder(base, "cpu", dtype)
    if adapter_config["peft_type"] != PLAIN:
        from peft import PeftModel

        return PeftModel.from_pretrained(model, str(folder)).merge_and_unload(), processor
    from safetensors.torch import load_file

    weights = load_file(folder / WEIGHTS)
    unknown = model.load_state_dict(weights, strict=False).unexpected_keys
    if unknown:
        raise NoBase(
            f"The adapter has weights that {adapter_config.get('base_model_name_or_path')} has "
            f"not, first {unknown[0]!r}."
        )
    model.tie_weights()
    return model, processor


def mask_of(folder: Path) -> Literal["own", "image_first"]:
    """The mask that an adapter was trained under."""
    return "image_first" if _judge_config(folder).get("mask") == "image_first" else "own"


def find_base(base: Base, shelf: Path | None) -> Path:
    """The folder of a base: packaged, or on the shelf under its name, at the revision the adapter
    was trained on."""
    if base.name == PACKAGED:
        return _checked(packaged_base(), base)
    place = None if shelf is None else shelf / base.name.replace("/", "--")
    if place is None or not place.is_dir():
        where = (
            f"as {base.name.replace('/', '--')} on the shelf ({shelf})"
            if shelf
            else "on a shelf of base models"
        )
        raise NoBase(
            f"The adapter stands on {base.name} at {base.revision[:12]}. Put that model folder "
            f"{where}."
        )
    at_commit = place / base.revision
    return at_commit if at_commit.is_dir() else _checked(place, base)


def packaged_base() -> Path:
    """The folder of the small model that comes with this package."""
    return Path(__file__).parents[2] / "suites" / "universe" / "data" / "reader"


def open_adapted(
    folder: Path, device: str = "cpu", shelf: Path | None = None, name: str = "", base: str = ""
) -> VlmJudge:
    """The adapter as a judge that shows frames as it was trained to see them."""
    first = mask_of(folder) == "image_first"
    frames = frames_of(folder)
    return VlmJudge(
        folder,
        model_id=name,
        frames=frames,
        device=device,
        shared_prefix=first,
        shelf=shelf,
        base=base,
    )


def frames_of(folder: Path) -> str:
    """The frames that an adapter was trained to see."""
    return str(_judge_config(folder).get("frames", "uniform-8"))


def _judge_config(folder: Path) -> dict[str, Any]:
    file = folder / JUDGE
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def _checked(folder: Path, base: Base) -> Path:
    commit = revision(folder)[:40]
    if commit != base.revision:
        raise NoBase(
            f"The adapter was trained on {base.name} at {base.revision[:12]}; here it is at "
            f"{commit[:12]}."
        )
    return folder
