"""Making a bundle from a folder, so that nobody has to write hashes by hand."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from submissions.format import manifest as manifests
from submissions.format.manifest import Hub

FIXED_TIME = (2020, 1, 1, 0, 0, 0)
"""Every member gets this time, so that the same files always make the same bundle."""

Steps = Mapping[str, list[dict[str, Any]]]
"""By sample: the caption, start and end of each step of its video."""

NO_STEPS: Steps = {}


def pack_outputs(
    to: Path, declaration: Mapping[str, Any], outputs: Mapping[str, Path], steps: Steps = NO_STEPS
) -> Path:
    """Bundle one file a sample, with the steps of its video if it has any; `declaration` is all but
    the files."""
    files = [
        (f"outputs/{sample}{path.suffix}", path, sample) for sample, path in sorted(outputs.items())
    ]
    return _pack(to, {**declaration, "kind": "outputs"}, files, steps)


def pack_model(
    to: Path, declaration: Mapping[str, Any], folder: Path, skip: Path | None = None
) -> Path:
    """Bundle a model folder as it is, but for the declaration itself."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != skip)
    files = [(f"model/{path.relative_to(folder).as_posix()}", path, None) for path in paths]
    return _pack(to, {**declaration, "kind": "model"}, files)


def pack_hub(to: Path, declaration: Mapping[str, Any], hub: Hub) -> Path:
    """Bundle nothing but the word where the model lies; who takes it in fetches it."""
    return _pack(to, {**on_hub(declaration, hub), "kind": "model"}, [])


def on_hub(declaration: Mapping[str, Any], hub: Hub) -> dict[str, Any]:
    """A declaration whose model lies at a commit on a hub."""
    card = declaration.get("model")
    return (
        {**declaration, "model": {**card, "hub": hub.model_dump()}}
        if isinstance(card, dict)
        else {**declaration}
    )


def _pack(
    to: Path,
    declaration: Mapping[str, Any],
    files: Iterable[tuple[str, Path, str | None]],
    steps: Steps = NO_STEPS,
) -> Path:
    listed: list[dict[str, Any]] = []
    to.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(to, "w") as bundle:
        for name, path, sample in files:
            listed.append({"path": name, "sha256": _add(bundle, name, path), "sample": sample})
            if steps.get(sample or ""):
                listed[-1]["steps"] = steps[sample or ""]
        text = json.dumps({"schema_version": 1, **declaration, "files": listed}, indent=1)
        bundle.writestr(_member(manifests.NAME), text, zipfile.ZIP_DEFLATED)
    return to


def _add(bundle: zipfile.ZipFile, name: str, path: Path) -> str:
    """Media and weights are dense already: store them, and hash them on the way."""
    digest = hashlib.sha256()
    with path.open("rb") as source, bundle.open(_member(name), "w", force_zip64=True) as target:
        while chunk := source.read(1 << 20):
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, FIXED_TIME)
    info.external_attr = 0o644 << 16
    return info
