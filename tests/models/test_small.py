"""Small random models are ordinary folders: small, the same every time, loaded by the ordinary
classes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.models import small
from tests.models.families import hf

MAKERS: dict[str, Callable[[Path], Path]] = {
    "paligemma": small.make_paligemma,
    "chat_vlm": small.make_chat_vlm,
    "clip": small.make_clip,
    "text_to_image": small.make_text_to_image,
    "text_to_video": small.make_text_to_video,
    "image_to_video": small.make_image_to_video,
}


def contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.parametrize("name", MAKERS)
def test_a_folder_is_small_safe_and_says_what_it_is(name: str, tmp_path: Path) -> None:
    folder = MAKERS[name](tmp_path / name)

    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 6_000_000
    assert not [path for path in files if path.suffix in {".bin", ".pt", ".pkl", ".ckpt"}]
    assert [path for path in files if path.suffix == ".safetensors"]
    assert "small random model" in (folder / "README.md").read_text()


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_is_the_same_bytes_and_another_is_not(name: str, tmp_path: Path) -> None:
    make: Any = MAKERS[name]

    one, again, other = (
        contents(make(tmp_path / str(i), seed)) for i, seed in enumerate((3, 3, 4))
    )

    assert one == again
    assert one != other


def test_making_one_leaves_the_random_state_alone(tmp_path: Path) -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)

    small.make_clip(tmp_path)

    assert torch.equal(torch.rand(1), expected)


def test_clip_compares_words_with_pictures(tmp_path: Path) -> None:
    folder = small.make_clip(tmp_path)
    model, processor = (
        hf.CLIPModel.from_pretrained(folder),
        hf.AutoProcessor.from_pretrained(folder),
    )
    pictures = list(np.random.default_rng(0).integers(0, 256, (3, 40, 32, 3), dtype=np.uint8))

    given = processor(
        text=["a dog", "two cats"], images=pictures, return_tensors="pt", padding=True
    )

    assert model(**given).logits_per_image.shape == (3, 2)


def test_an_image_to_video_pipeline_begins_with_the_picture(tmp_path: Path) -> None:
    from PIL import Image

    from evaluators.models.generate.loading import load_pipeline

    pipeline = load_pipeline(small.make_image_to_video(tmp_path))
    picture = Image.new("RGB", (32, 32), (200, 10, 10))

    with torch.inference_mode():
        made = pipeline(
            image=picture,
            prompt="a dog runs",
            height=32,
            width=32,
            num_frames=5,
            num_inference_steps=1,
        )

    assert made.frames[0].shape == (5, 32, 32, 3)
