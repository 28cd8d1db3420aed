"""What a handed-in folder is: a whole pipeline, or an adapter on a base that lies on this machine's shelf."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from evaluators.contracts import CannotProduce, Json
from evaluators.media import sha256_file

CONFIG = "adapter_config.json"


@dataclass(frozen=True, slots=True)
class Weights:
    """The pipeline's folder, and for an adapter its file and the base it stands on."""

    folder: Path
    adapter: Path | None = None
    base: str = ""
    revision: str = ""

    def named(self) -> dict[str, Json]:
        """What an output's record says of them; nothing for a whole pipeline."""
        if self.adapter is None:
            return {}
        return {"base": self.base, "base_revision": self.revision, "adapter_sha256": sha256_file(self.adapter)}


def find_weights(folder: Path, shelf: Path | None) -> Weights:
    """The folder itself, or the base of its adapter at the commit that the adapter names."""
    if not (folder / CONFIG).is_file():
        return Weights(folder)
    said = json.loads((folder / CONFIG).read_text("utf-8"))
    base, revision = str(said["base_model_name_or_path"]), str(said["revision"])
    files = sorted(folder.glob("*.safetensors"))
    if len(files) != 1:
        raise ValueError(f"An adapter is one file of weights beside its {CONFIG}; {len(files)} are there.")
    return Weights(_on_shelf(base, revision, shelf), files[0], base, revision)


def _on_shelf(base: str, revision: str, shelf: Path | None) -> Path:
    """`<shelf>/<organisation>--<name>/<revision>`: a base of another commit is another base."""
    name = f"{base.replace('/', '--')}/{revision}"
    if shelf is None:
        raise CannotProduce(f"It stands on {base}. Set ARMILLARY_SHELF to a folder that holds {name}.")
    if not (shelf / name / "model_index.json").is_file():
        raise CannotProduce(f"It stands on {base} at {revision[:12]}. Put that model on the shelf as {name}.")
    return shelf / name
