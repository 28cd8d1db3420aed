"""What a manifest leaves out is the pipeline's own; what it declares is kept or refused in
words."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evaluators.contracts import CannotProduce
from evaluators.models.generate import loading
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.generate.families import FAMILIES, family_of
from evaluators.models.generate.image_to_video import DiffusionVideo
from evaluators.models.generate.loading import load_pipeline, place
from evaluators.models.generate.settings import (
    PipelineSettings,
    SamplerSettings,
    arguments_of,
    guide,
    sampling_of,
)
from submissions.format.manifest import DeclaredSampling
from tests.models.pipelines.from_pictures import hunyuan_1_5

DECLARED = SamplerSettings(steps=2, guidance=5.0, height=64, width=64, frames=5, fps=8)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda row: f"{row.pipeline}-{row.form}")
def test_every_family_exists_and_takes_the_settings_that_we_record(family: Any) -> None:
    settings = PipelineSettings(2, 3.0, 64, 64, 9, 8.0)

    arguments = arguments_of(family, settings)

    assert arguments["num_inference_steps"] == 2
    assert family.guidance == "guider" or arguments[family.guidance] == 3.0
    assert family.modality == "image" or arguments["num_frames"] == 9


def test_what_is_declared_is_kept_and_leaves_no_word_of_defaults(text_to_video: Path) -> None:
    generator = DiffusionGenerator(text_to_video, DECLARED)

    record = generator._record(7)

    assert generator.sampling == PipelineSettings(2, 5.0, 64, 64, 5, 8)
    assert "pipeline_defaults" not in record
    assert (record["guidance"], record["frames"], record["fps"]) == (5.0, 5, 8)


def test_what_a_manifest_leaves_out_is_the_pipeline_s_own_and_is_recorded(
    text_to_video: Path,
) -> None:
    declared = DeclaredSampling(seed=7, height=64, width=96).model_dump()

    record = DiffusionGenerator(text_to_video, sampling_of(declared))._record(7)

    assert (record["steps"], record["frames"], record["fps"]) == (50, 81, 16.0)
    assert record["pipeline_defaults"] == {
        "left_open": ["steps", "guidance", "frames", "fps"],
        "class": "WanPipeline",
        "arguments": {
            "guidance_scale": 5.0,
            "height": 64,
            "num_frames": 81,
            "num_inference_steps": 50,
            "width": 96,
        },
        "flow_shift": 3.0,
    }
    json.dumps(record)


def test_a_folder_that_says_no_size_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text('{"_class_name": "StableDiffusionPipeline"}')
    declared = SamplerSettings(steps=2, guidance=5.0, height=64, width=64)

    generator = DiffusionGenerator(tmp_path, declared)

    assert (generator.sampling.height, generator.sampling.left_open) == (64, ())
    with pytest.raises(ValueError, match="unet says no size.*Declare height and width"):
        DiffusionGenerator(tmp_path)


def test_a_text_to_video_checkpoint_films_from_a_picture_only_if_trained_so(
    text_to_video: Path,
) -> None:
    with pytest.raises(ValueError, match="only with expand_timesteps set, and it is not"):
        DiffusionVideo(text_to_video)


def test_hunyuan_video_1_5_takes_guidance_in_a_part_and_its_size_from_its_folder(
    tmp_path: Path,
) -> None:
    hunyuan_1_5().save_pretrained(tmp_path)
    model = DiffusionVideo(tmp_path, SamplerSettings(guidance=2.5))
    pipeline = load_pipeline(tmp_path, family=model.family)
    before = pipeline.guider.guidance_scale

    guide(pipeline, model.family, model.sampling)

    assert (before, pipeline.guider.guidance_scale) == (6.0, 2.5)
    assert DiffusionVideo(tmp_path).sampling.guidance == 6.0
    with pytest.raises(ValueError, match="48 by 80. Leave height and width out"):
        DiffusionVideo(tmp_path, SamplerSettings(height=64, width=64))


def test_a_library_that_a_pipeline_insists_on_is_not_the_model_s_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda _name: None)
    (tmp_path / "model_index.json").write_text('{"_class_name": "CosmosTextToWorldPipeline"}')

    with pytest.raises(CannotProduce, match="pip install cosmos_guardrail torchvision"):
        DiffusionGenerator(tmp_path)


def test_wan_keeps_its_autoencoder_in_full_precision(text_to_video: Path) -> None:
    family = family_of(text_to_video, ("text_to_video",))

    pipeline = load_pipeline(text_to_video, "cpu", "bf16", (), family)

    assert pipeline.vae.dtype == torch.float32
    assert pipeline.transformer.dtype == torch.bfloat16


class Placed:
    """A pipeline of a hundred bytes that remembers where it was put."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        note = self.calls.append
        self.vae = SimpleNamespace(
            enable_tiling=lambda: note("tiling"), enable_slicing=lambda: note("slicing")
        )
        self.components = {
            "transformer": torch.nn.Linear(20, 1, bias=False),
            "text_encoder": torch.nn.Linear(5, 1, bias=False),
        }

    def to(self, device: str) -> Placed:
        self.calls.append(device)
        return self

    def enable_model_cpu_offload(self, device: str) -> None:
        self.calls.append(f"offload to {device}")


@pytest.mark.parametrize(
    ("device", "free", "calls"),
    [
        ("cpu", 0, ["cpu"]),
        ("cuda", 134, ["cuda"]),
        ("cuda", 133, ["tiling", "slicing", "offload to cuda"]),
    ],
)
def test_parts_wait_in_main_memory_only_where_the_card_does_not_hold_them(
    device: str, free: int, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (free, 200))

    placed = place(Placed(), device)

    assert placed.calls == calls
