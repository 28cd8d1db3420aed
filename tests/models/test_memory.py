"""Less memory than a pipeline would like: it is spread, offloaded or decoded in tiles, step by
step, and a model pays for none of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import AutoencoderKL

from evaluators.contracts import Outcome
from evaluators.models.generate import loading
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.generate.loading import SPARING, load_pipeline, spare_more
from evaluators.models.generate.memory_plan import MemoryPlan, PartSize
from evaluators.models.generate.placing import placing_of
from evaluators.models.generate.settings import SamplerSettings
from flows.workers.confined.fault_rules import ChildEnd, fault_of
from submissions.model_files.model_folder import DeclaredModel
from tests.models.test_diffusion import SAMPLES
from tests.submissions.published.folders import problems_of, read, refusals

TINY = SamplerSettings(steps=2, height=32, width=32)


@pytest.fixture
def hungry(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Decoding is out of memory unless it works in tiles; notes each try."""
    plain, tries = AutoencoderKL.decode, list[bool]()

    def decode(self: Any, *arguments: Any, **options: Any) -> Any:
        tries.append(self.use_tiling)
        if not self.use_tiling:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB")
        return plain(self, *arguments, **options)

    monkeypatch.setattr(AutoencoderKL, "decode", decode)
    loading.unload()
    return tries


def test_a_batch_is_halved_and_then_decoded_in_tiles(
    text_to_image: Path, hungry: list[bool], tmp_path: Path
) -> None:
    generator = DiffusionGenerator(text_to_image, TINY, batch=2)

    outputs = list(generator.generate(SAMPLES[:2], tmp_path))

    assert [output.outcome for output in outputs] == [Outcome.SCORED] * 2
    assert hungry == [False, False, True, True], "a batch, one of it, and both in tiles"
    assert outputs[0].record["spared_memory"] == ["tiles"]


def test_at_the_end_of_the_ladder_it_is_our_fault(
    text_to_image: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def decode(*_arguments: Any, **_options: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(AutoencoderKL, "decode", decode)
    loading.unload()

    (output,) = DiffusionGenerator(text_to_image, TINY).generate(SAMPLES[:1], tmp_path)

    assert output.outcome is Outcome.MODEL_FAILED
    assert fault_of(ChildEnd(error=output.reason)).side == "ours"


class Counted:
    """A pipeline that notes what is done to it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.vae = self

    def enable_tiling(self) -> None:
        self.calls.append("tiles")

    def to(self, device: str) -> Any:
        self.calls.append(f"to {device}")
        return self

    def remove_all_hooks(self) -> None:
        self.calls.append("no hooks")

    def enable_model_cpu_offload(self, device: str) -> None:
        self.calls.append(f"offload {device}")

    def enable_group_offload(self, onload: Any, offload: Any, **options: Any) -> None:
        self.calls.append(f"group {onload} {offload} {options['offload_type']}")


def test_on_a_gpu_the_ladder_goes_from_tiles_over_parts_to_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    pipeline = Counted()

    steps = [spare_more(pipeline, "cuda:0", number) for number in range(4)]

    assert steps == [*SPARING, ""]
    down = ["no hooks", "to cpu"]
    assert pipeline.calls == [
        "tiles",
        *down,
        "offload cuda:0",
        *down,
        "group cuda:0 cpu leaf_level",
    ]


@pytest.mark.parametrize(
    ("parts", "free", "kind", "gpus"),
    [
        ({"transformer": 50, "vae": 5}, [100], "whole", {}),
        ({"transformer": 50, "text_encoder": 40}, [100], "offload", {}),
        (
            {"transformer": 70, "text_encoder": 40, "vae": 5},
            [100, 100],
            "spread",
            {"transformer": 0, "text_encoder": 1, "vae": 1},
        ),
        (
            {"transformer": 70, "transformer_2": 70, "text_encoder": 20},
            [100, 100],
            "offload",
            {},
        ),
        ({"transformer": 90, "vae": 5}, [100, 100], "group", {}),
        ({"transformer": 50, "vae": 30}, [20, 100], "group", {}),
    ],
)
def test_the_quickest_placing_that_fits_is_taken(
    parts: dict[str, int], free: list[int], kind: str, gpus: dict[str, int]
) -> None:
    placing = placing_of(parts, free)

    assert (placing.kind, dict(placing.gpus)) == (kind, gpus)


def test_a_plan_tells_of_two_cards() -> None:
    parts = (PartSize("transformer", 14 * 10**9), PartSize("text_encoder", 6 * 10**9))

    words = str(MemoryPlan(parts))

    assert "fits a 40 GB card with model offload, a 80 GB card without, two 40 GB cards" in words


def test_another_pipeline_is_gone_before_the_next_is_read(
    text_to_image: Path, text_to_video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_pipeline(text_to_image)
    held: list[int] = []
    plain = loading._load

    def load(*arguments: Any) -> Any:
        held.append(len(loading._loaded))
        return plain(*arguments)

    monkeypatch.setattr(loading, "_load", load)
    first = load_pipeline(text_to_video)

    assert held == [0] and load_pipeline(text_to_video) is first and held == [0]


def test_a_pipeline_in_shards_passes_the_door_and_draws_the_same_picture(
    text_to_image: Path, tmp_path: Path
) -> None:
    pipeline = load_pipeline(text_to_image)
    pipeline.save_pretrained(tmp_path / "shards", max_shard_size="100KB")
    parts = {file.parent.name for file in (tmp_path / "shards").rglob("*.index.json")}

    drawn = [
        next(DiffusionGenerator(folder, TINY).generate(SAMPLES[:1], tmp_path / folder.name))
        for folder in (text_to_image, tmp_path / "shards")
    ]

    assert {"text_encoder", "unet"} <= parts
    assert refusals(problems_of(read(tmp_path / "shards"), DeclaredModel())) == []
    assert drawn[0].record["sha256"] == drawn[1].record["sha256"]
