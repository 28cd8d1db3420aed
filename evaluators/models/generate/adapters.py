"""What a handed-in folder is: a whole pipeline, or an adapter on a base that lies on this machine's
shelf."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.contracts import CannotProduce, Json
from evaluators.media import sha256_file

CONFIG = "adapter_config.json"
PEFT = "base_model.model."
"""How peft's own files name what they adapt."""
LOW_NOISE = re.compile(r"(?<![a-z])low|low[_-]?noise")
DENOISERS = ("transformer", "unet")
"""The part of a pipeline that peft's files are about, whichever of the two it has."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The pipeline's folder, and for an adapter its files and the base it stands on.

    Two files are for a base with two transformers, the one for high noise first.
    """

    folder: Path
    adapters: tuple[Path, ...] = ()
    base: str = ""
    revision: str = ""

    def named(self) -> dict[str, Json]:
        """What an output's record says of them; nothing for a whole pipeline."""
        if not self.adapters:
            return {}
        hashes = "+".join(sha256_file(file) for file in self.adapters)
        return {"base": self.base, "base_revision": self.revision, "adapter_sha256": hashes}


def find_weights(folder: Path, shelf: Path | None, base: str = "") -> Weights:
    """The folder itself, or its adapter's base: as declared (`org/name@commit`), or as the
    adapter's config says."""
    config = folder / CONFIG
    if not config.is_file() and ((folder / "model_index.json").is_file() or not base):
        return Weights(folder)
    name, revision = base_of_adapter(config, base)
    return Weights(_on_shelf(name, revision, shelf), _files(folder), name, revision)


def base_of_adapter(config: Path, base: str) -> tuple[str, str]:
    """The name and commit of an adapter's base: what was declared counts, else what its config
    says."""
    if base:
        name, _, revision = base.partition("@")
        return name, revision
    adapter_config = json.loads(config.read_text("utf-8"))
    return str(adapter_config["base_model_name_or_path"]), str(adapter_config["revision"])


def attach(pipeline: Any, files: Sequence[Path]) -> None:
    """Lay an adapter over the weights of its base; a ValueError if nothing of it fits there."""
    for number, file in enumerate(files):
        if _is_peft(file):
            _attach_peft(pipeline, file.parent)
        else:
            _attach_lora(pipeline, file, second=number > 0)


def _files(folder: Path) -> tuple[Path, ...]:
    files = sorted(folder.glob("*.safetensors"), key=lambda file: (_is_low(file), file.name))
    if len(files) != 1 and [_is_low(file) for file in files] != [False, True]:
        raise ValueError(
            f"An adapter is one file, or a pair for high and low noise; {len(files)} are in its "
            "folder."
        )
    return tuple(files)


def _is_low(file: Path) -> bool:
    return LOW_NOISE.search(file.name.lower()) is not None


def _on_shelf(base: str, revision: str, shelf: Path | None) -> Path:
    """`<shelf>/<organisation>--<name>/<revision>`: a base of another commit is another base."""
    name = f"{base.replace('/', '--')}/{revision}"
    if shelf is None:
        raise CannotProduce(
            f"It stands on {base}. Set ARMILLARY_SHELF to a folder that holds {name}."
        )
    if not (shelf / name / "model_index.json").is_file():
        raise CannotProduce(
            f"It stands on {base} at {revision[:12]}. Put that model on the shelf as {name}."
        )
    return shelf / name


def _is_peft(file: Path) -> bool:
    from safetensors import safe_open

    with safe_open(file, "pt") as tensors:
        return any(name.startswith(PEFT) for name in tensors.keys())  # noqa: SIM118


def _attach_peft(pipeline: Any, folder: Path) -> None:
    """Any kind of adapter that peft knows, by its own config, merged into the part that draws."""
    from peft import PeftModel

    name = next(name for name in DENOISERS if getattr(pipeline, name, None) is not None)
    merged: Any = PeftModel.from_pretrained(
        getattr(pipeline, name), str(folder), local_files_only=True
    )
    pipeline.register_modules(**{name: merged.merge_and_unload()})


def _attach_lora(pipeline: Any, file: Path, *, second: bool) -> None:
    """A LoRA in any layout that diffusers reads; it skips tensors that fit nowhere, so the result
    is looked at."""
    kind = type(pipeline).__name__
    if not hasattr(pipeline, "load_lora_weights"):
        raise ValueError(
            f"{kind} takes no LoRA. Hand in the whole pipeline with the adapter merged into it."
        )
    if second and getattr(pipeline, "transformer_2", None) is None:
        raise ValueError(
            f"{file.name} is for a second transformer, and this {kind} has one. Hand in one file."
        )
    where = {"load_into_transformer_2": True} if second else {}
    name = "second" if second else "first"
    pipeline.load_lora_weights(
        str(file.parent),
        weight_name=file.name,
        adapter_name=name,
        local_files_only=True,
        use_safetensors=True,
        **where,
    )
    if name not in {
        adapter for names in pipeline.get_list_adapters().values() for adapter in names
    }:
        raise ValueError(
            f"No tensor of {file.name} fits this {kind}. Check that the manifest names its base."
        )
