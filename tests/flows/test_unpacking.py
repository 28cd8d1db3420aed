"""A model folder comes out of its bundle as it went in, without what no loader reads, and with its
declared base."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from flows.workers.cache.bundles import declared_base, unpack_model
from infra.store import bundle_key, open_store
from submissions.bundle.pack import pack_model
from tests.bundles import declaration

BASE = {"id": "somebody/base", "revision": "3" * 40}


def unpacked(files: dict[str, bytes], tmp_path: Path, **model: object) -> Path:
    for name, data in files.items():
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).write_bytes(data)
    said = declaration(kind="model", model={**declaration()["model"], **model})
    bundle = pack_model(tmp_path / "bundle.zip", said, tmp_path / "model")
    sha256 = hashlib.sha256(bundle.read_bytes()).hexdigest()
    store = open_store(str(tmp_path / "store"))
    store.put_file(bundle_key(sha256), bundle)
    return unpack_model(store, sha256, tmp_path / "work")


def test_settings_reach_the_loader_unchanged_and_pictures_do_not(tmp_path: Path) -> None:
    config = json.dumps({"rope_scaling": {"mrope_section": [16, 24, 24]}, "unknown": [1]}).encode()
    files = {
        "config.json": config,
        "text_encoder/config.json": b"{}",
        ".gitattributes": b"*",
        "LICENSE": b"MIT",
        "assets/teaser.png": b"x",
        "README.md": b"# A model",
    }

    folder = unpacked(files, tmp_path)

    assert (folder / "config.json").read_bytes() == config
    visible = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert visible - {".manifest", ".complete"} == {
        "config.json",
        "text_encoder/config.json",
        "README.md",
    }


def test_the_base_of_an_adapter_is_the_one_that_its_manifest_names(tmp_path: Path) -> None:
    folder = unpacked({"lora.safetensors": b"x"}, tmp_path, base=BASE)

    assert declared_base(folder) == f"somebody/base@{'3' * 40}"


def test_a_whole_model_has_no_base(tmp_path: Path) -> None:
    folder = unpacked({"config.json": b"{}"}, tmp_path)

    assert declared_base(folder) == "" and declared_base(tmp_path) == ""
