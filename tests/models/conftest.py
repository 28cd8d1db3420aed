"""Small random models, made once a session, and one thread: on tiny tensors more of them only wait
for each other."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from evaluators.models import small
from tests.models.families import make_capped, make_gemma_1

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def paligemma(models: Path) -> Path:
    return small.make_paligemma(models / "paligemma")


@pytest.fixture(scope="session")
def paligemma_capped(models: Path) -> Path:
    return make_capped(models / "paligemma_capped")


@pytest.fixture(scope="session")
def paligemma_1(models: Path) -> Path:
    return make_gemma_1(models / "paligemma_1")


@pytest.fixture(scope="session")
def chat_vlm(models: Path) -> Path:
    return small.make_chat_vlm(models / "chat_vlm")


@pytest.fixture(scope="session")
def text_to_image(models: Path) -> Path:
    return small.make_text_to_image(models / "text_to_image")


@pytest.fixture(scope="session")
def text_to_video(models: Path) -> Path:
    return small.make_text_to_video(models / "text_to_video")
