"""Generators: one output a sample in order, the same whatever the batch, and every failure with its
reason."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.contracts import Facets, Outcome, Output, Sample
from evaluators.media import probe, read_image
from evaluators.models.generate import diffusion
from evaluators.models.generate.diffusion import DiffusionGenerator, sample_seed
from evaluators.models.generate.families import FROM_WORDS, family_of
from evaluators.models.generate.loading import _plain_ascii, load_pipeline
from evaluators.models.generate.settings import SamplerSettings

PICTURE = SamplerSettings(steps=2, guidance=5.0, height=64, width=64)
CLIP = SamplerSettings(steps=1, guidance=5.0, height=32, width=32, frames=5, fps=8)
SAMPLES = tuple(
    Sample(f"s{i}", Facets("regular", "cut", "predictive", "image"), "cut", text)
    for i, text in enumerate(
        ("a dog", "a cat runs over the table", "water", "a red cup on a blue table")
    )
)


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A pipeline that draws nothing and does what it is told, in place of the one in the folder."""
    told = SimpleNamespace(most=99, bad=(), blocked=(), error=ValueError("no such word"), sizes=[])

    class Drawer:
        def __call__(
            self, prompt: list[str], generator: Any, height: int, width: int, **_: Any
        ) -> Any:
            told.sizes.append(len(prompt))
            if len(prompt) > told.most:
                raise torch.OutOfMemoryError("out of memory")
            if set(prompt) & set(told.bad):
                raise told.error
            level = [generator[i].initial_seed() % 256 / 255 for i in range(len(prompt))]
            images = np.ones((len(prompt), height, width, 3)) * np.array(level)[:, None, None, None]
            return SimpleNamespace(
                images=images, nsfw_content_detected=[text in told.blocked for text in prompt]
            )

    monkeypatch.setattr(diffusion, "load_pipeline", lambda *_: Drawer())
    monkeypatch.setattr(diffusion, "arguments_of", lambda *_: {"height": 8, "width": 8})
    return told


def run(
    folder: Path, where: Path, sampling: SamplerSettings = PICTURE, **settings: Any
) -> list[Output]:
    return list(DiffusionGenerator(folder, sampling, **settings).generate(SAMPLES, where))


def test_pictures_come_in_order_with_a_record_that_makes_them_again(
    text_to_image: Path, tmp_path: Path
) -> None:
    outputs = run(text_to_image, tmp_path, seed=7)

    assert [output.sample_id for output in outputs] == ["s0", "s1", "s2", "s3"]
    assert {output.outcome for output in outputs} == {Outcome.SCORED}
    assert probe(tmp_path / "s0.png").width == 64
    assert outputs[0].record["seed"] == sample_seed(7, "s0")
    assert (outputs[0].record["steps"], outputs[0].record["guidance"]) == (2, 5.0)
    json.dumps(dict(outputs[0].record))


def test_clips_are_mp4_of_the_asked_size_and_rate(text_to_video: Path, tmp_path: Path) -> None:
    outputs = list(DiffusionGenerator(text_to_video, CLIP).generate(SAMPLES[:2], tmp_path))

    facts = probe(tmp_path / "s1.mp4")
    assert {output.outcome for output in outputs} == {Outcome.SCORED}
    assert (facts.width, facts.height, facts.frames, facts.fps) == (32, 32, 5, 8.0)


def test_shards_make_the_same_bytes_and_batches_the_same_pixels_within_rounding(
    text_to_image: Path, tmp_path: Path
) -> None:
    whole = run(text_to_image, tmp_path / "whole")
    shard = list(
        DiffusionGenerator(text_to_image, PICTURE).generate(SAMPLES[2:], tmp_path / "shard")
    )
    batched = run(text_to_image, tmp_path / "batched", batch=3)

    assert [output.record["sha256"] for output in shard] == [
        output.record["sha256"] for output in whole[2:]
    ]
    for one, other in zip(whole, batched, strict=True):
        assert one.file is not None and other.file is not None
        assert one.record["seed"] == other.record["seed"]
        assert np.abs(read_image(one.file).astype(int) - read_image(other.file)).max() <= 1


def test_other_seeds_and_other_samples_draw_other_pictures(
    text_to_image: Path, tmp_path: Path
) -> None:
    same = [Sample(f"x{i}", SAMPLES[0].facets, "cut", "a dog") for i in range(2)]
    outputs = [
        *DiffusionGenerator(text_to_image, PICTURE).generate(same, tmp_path / "a"),
        *DiffusionGenerator(text_to_image, PICTURE, seed=1).generate(same, tmp_path / "b"),
    ]

    assert len({str(output.record["sha256"]) for output in outputs}) == 4


def test_the_pipeline_is_loaded_once(text_to_image: Path) -> None:
    assert load_pipeline(text_to_image) is load_pipeline(text_to_image)


def test_out_of_memory_halves_the_batch(text_to_image: Path, tmp_path: Path, pipeline: Any) -> None:
    pipeline.most = 1

    outputs = run(text_to_image, tmp_path, batch=4)

    assert pipeline.sizes == [4, 2, 1, 1, 1, 1]
    assert {output.outcome for output in outputs} == {Outcome.SCORED}


def test_an_item_too_large_even_alone_fails_with_its_reason(
    text_to_image: Path, tmp_path: Path, pipeline: Any
) -> None:
    pipeline.most = 0

    outputs = run(text_to_image, tmp_path, batch=4)

    assert {output.outcome for output in outputs} == {Outcome.MODEL_FAILED}
    assert "Out of memory with a batch of one" in outputs[0].reason


def test_one_bad_prompt_fails_alone(text_to_image: Path, tmp_path: Path, pipeline: Any) -> None:
    pipeline.bad = ("water",)

    outputs = run(text_to_image, tmp_path, batch=4)

    assert [output.outcome for output in outputs].count(Outcome.SCORED) == 3
    assert (outputs[2].outcome, outputs[2].reason) == (
        Outcome.MODEL_FAILED,
        "ValueError: no such word",
    )


def test_what_the_safety_filter_stops_is_blocked_and_leaves_no_file(
    text_to_image: Path, tmp_path: Path, pipeline: Any
) -> None:
    pipeline.blocked = ("water",)

    outputs = run(text_to_image, tmp_path, batch=2)

    assert [output.outcome for output in outputs].index(Outcome.BLOCKED) == 2
    assert not (tmp_path / "s2.png").exists()


def test_pixels_that_are_not_numbers_fail(text_to_image: Path, tmp_path: Path) -> None:
    one = DiffusionGenerator(text_to_image, PICTURE)

    output = one._keep(SAMPLES[0], np.full((8, 8, 3), np.nan), False, 1, tmp_path)

    assert output.outcome is Outcome.MODEL_FAILED


def test_a_lost_device_is_not_blamed_on_the_model(
    text_to_image: Path, tmp_path: Path, pipeline: Any
) -> None:
    pipeline.bad, pipeline.error = ("a dog",), torch.AcceleratorError("device-side assert")

    with pytest.raises(torch.AcceleratorError):
        run(text_to_image, tmp_path)


def test_an_unknown_pipeline_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text('{"_class_name": "StableAudioPipeline"}')

    with pytest.raises(ValueError, match="StableAudioPipeline.*Known are: AllegroPipeline"):
        family_of(tmp_path, FROM_WORDS)


def test_words_that_need_cleaning_say_so_where_the_cleaner_is_missing() -> None:
    assert _plain_ascii("a dog\nruns & jumps") == "a dog\nruns & jumps"
    with pytest.raises(RuntimeError, match="pip install ftfy"):
        _plain_ascii("schÃ¶n")
