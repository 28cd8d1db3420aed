"""Where a model once lay, as its configs tell, makes no loader look there."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest

from evaluators.models.generate.loading import load_pipeline
from evaluators.models.vlm.judge import VlmJudge

NAMES = ("/raid/nobody/checkpoints/model", "../checkpoints/model", "somebody/elsewhere")


def renamed(model: Path, to: Path, name: str) -> Path:
    """The folder with this name in every config, and settings that no class knows."""
    shutil.copytree(model, to)
    for path in to.rglob("*.json"):
        config = json.loads(path.read_text())
        if path.name in ("tokenizer.json", "vocab.json") or path.name.endswith(".index.json"):
            continue
        said = {
            "_name_or_path": name,
            "name_or_path": name,
            "special_tokens_map_file": f"{name}/special.json",
        }
        kept = (
            said
            if path.name.startswith("tokenizer")
            else {"_name_or_path": name, "unknown_setting": [1, {"a": 2}]}
        )
        inner = {
            key: value
            for key, value in config.items()
            if key.endswith("_config") and isinstance(value, dict)
        }
        parts = {key: {**value, "_name_or_path": name} for key, value in inner.items()}
        path.write_text(json.dumps({**config, **parts, **kept}))
    return to


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def reach(*args: Any, **_kwargs: Any) -> None:
        raise AssertionError(f"something was reached for: {args}")

    monkeypatch.setattr(socket, "create_connection", reach)
    monkeypatch.setattr(socket.socket, "connect", reach)
    monkeypatch.setattr(socket, "getaddrinfo", reach)
    # A library that was told to stay offline would not show whether it wanted to reach out.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("offline")
def test_a_pipeline_loads_from_its_folder_whatever_its_configs_call_it(
    name: str, text_to_image: Path, tmp_path: Path
) -> None:
    pipeline = load_pipeline(renamed(text_to_image, tmp_path / "model", name))

    assert Path(pipeline.name_or_path) == (tmp_path / "model").resolve()
    assert name not in str(pipeline.tokenizer.name_or_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("offline")
def test_a_judge_loads_from_its_folder_whatever_its_configs_call_it(
    name: str, paligemma: Path, tmp_path: Path
) -> None:
    judge = VlmJudge(renamed(paligemma, tmp_path / "model", name))

    assert Path(judge.family.model.name_or_path) == (tmp_path / "model").resolve()
