"""A model folder in memory, as the door reads it; the folders of /published-configs, where they lie
on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from submissions.format.archive import Archive
from submissions.format.errors import Problem
from submissions.format.manifest import File, Hub
from submissions.model_files.model_folder import DeclaredModel, read_model
from tests.command import ROOT

BASE = Hub(id="somebody/base", revision="4" * 40)
WITHOUT_WEIGHTS = frozenset({"E_SAFETENSORS", "E_WEIGHTS_INDEX"})
"""What is said of folders from which the weights were left out."""


class InMemory:
    """What the door asks of an archive, for files in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.members = {name: SimpleNamespace(file_size=len(data)) for name, data in files.items()}

    def chunks(self, name: str) -> Iterator[bytes]:
        yield self.files[name]

    def read(self, name: str, most: int) -> bytes:
        assert len(self.files[name]) <= most
        return self.files[name]


def as_bytes(files: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a model with their paths in a bundle."""
    return {
        f"model/{name}": value if isinstance(value, bytes) else json.dumps(value).encode()
        for name, value in files.items()
    }


def problems_of(files: Mapping[str, bytes], wanted: DeclaredModel) -> list[Problem]:
    """Everything that the door says of a model."""
    listed = [File(path=name, sha256="0" * 64) for name in files]
    found = read_model(listed, cast(Archive, InMemory(files)), wanted)
    return [problem for _, _, problems in found for problem in problems]


def refusals(problems: list[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.code.startswith("E_")]


def published() -> Path:
    """The folder of published configs; a test without it is skipped."""
    folder = Path(
        os.environ.get("ARMILLARY_PUBLISHED_CONFIGS", ROOT.parent / "shared" / "published-configs")
    )
    if not (folder / "SOURCES.csv").is_file():
        pytest.skip(
            "the published configs are not on this machine: set ARMILLARY_PUBLISHED_CONFIGS"
        )
    return folder


def read(folder: Path) -> dict[str, bytes]:
    """A folder's files with their paths in a bundle."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {f"model/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in found}


def models_in(root: Path) -> dict[str, Path]:
    """Every published folder by its name; an adapter is where its config lies."""
    whole = {
        path
        for kind in ("t2i", "video", "vlm")
        for path in (root / kind).iterdir()
        if path.is_dir()
    }
    adapters = {path.parent for path in (root / "lora").rglob("adapter_config.json")}
    return {path.relative_to(root).as_posix(): path for path in sorted(whole | adapters)}
