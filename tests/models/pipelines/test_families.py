"""Each family of pipelines, as published with its sizes reduced: taken at the door, loaded, run
with its own settings and encoded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.contracts import Facets, Outcome, Output, Sample
from evaluators.media import probe, write_png
from evaluators.models.generate.diffusion import DiffusionGenerator
from evaluators.models.generate.families import FAMILIES, FROM_WORDS, family_of
from evaluators.models.generate.image_to_video import DiffusionVideo
from evaluators.models.generate.settings import (
    DECLARED_NOTHING,
    PipelineSettings,
    SamplerSettings,
    settle,
)
from flows.workers.confined.video_main import NoNotes
from submissions.model_files.model_folder import DeclaredModel
from tests.models.pipelines.expected import OWN_SETTINGS
from tests.models.pipelines.from_pictures import FROM_PICTURES
from tests.models.pipelines.images import IMAGES
from tests.models.pipelines.newer import NEWER_IMAGES
from tests.models.pipelines.videos import VIDEOS
from tests.submissions.published.folders import problems_of, read, refusals

ALL_IMAGES = {**IMAGES, **NEWER_IMAGES}
PIXELS = 64
"""The side of pictures in the quick tests; the long ones draw at each family's own size."""


def built(make: Callable[[], Any], folder: Path) -> Path:
    torch.manual_seed(0)
    make().save_pretrained(folder)
    return folder


def draw(folder: Path, to: Path, **declared: Any) -> Output:
    generator = DiffusionGenerator(folder, SamplerSettings(steps=2, **declared))
    sample = Sample("s", Facets("", "", "", generator.modality), "s", "a dog runs over the table")
    (output,) = generator.generate([sample], to)
    return output


def numbers(settings: PipelineSettings) -> tuple[float, ...]:
    return (
        *(settings.steps, settings.guidance, settings.height, settings.width),
        *(settings.frames, settings.fps),
    )


@pytest.mark.parametrize("name", ALL_IMAGES)
def test_a_text_to_image_pipeline_as_published_is_taken_and_draws(
    name: str, tmp_path: Path
) -> None:
    folder = built(ALL_IMAGES[name], tmp_path / "model")

    output = draw(folder, tmp_path, height=PIXELS, width=PIXELS)

    own = settle(family_of(folder, FROM_WORDS), folder, DECLARED_NOTHING)
    assert refusals(problems_of(read(folder), DeclaredModel(modalities=("image",)))) == []
    assert numbers(own) == OWN_SETTINGS[name]
    assert output.outcome is Outcome.SCORED, output.reason
    assert probe(tmp_path / "s.png").width == PIXELS
    assert output.record["guidance"] == own.guidance


@pytest.mark.long
@pytest.mark.parametrize("name", ALL_IMAGES)
def test_a_text_to_image_pipeline_draws_at_its_own_size(name: str, tmp_path: Path) -> None:
    output = draw(built(ALL_IMAGES[name], tmp_path / "model"), tmp_path)

    _, _, height, width, _, _ = OWN_SETTINGS[name]
    assert output.outcome is Outcome.SCORED, output.reason
    assert (output.record["height"], output.record["width"]) == (height, width)


@pytest.mark.parametrize("name", VIDEOS)
def test_a_text_to_video_pipeline_as_published_is_taken_and_films(
    name: str, tmp_path: Path
) -> None:
    make, side, frames = VIDEOS[name]
    folder = built(make, tmp_path / "model")

    output = draw(folder, tmp_path, height=side, width=side, frames=frames)

    own = settle(family_of(folder, FROM_WORDS), folder, DECLARED_NOTHING)
    facts = probe(tmp_path / "s.mp4")
    assert refusals(problems_of(read(folder), DeclaredModel(modalities=("video",)))) == []
    assert numbers(own) == OWN_SETTINGS[name]
    assert output.outcome is Outcome.SCORED, output.reason
    assert (facts.frames, facts.fps) == (frames or own.frames, own.fps)


@pytest.mark.parametrize("name", FROM_PICTURES)
def test_an_image_to_video_pipeline_as_published_is_taken_and_films(
    name: str, tmp_path: Path
) -> None:
    make, side, frames = FROM_PICTURES[name]
    folder = built(make, tmp_path / "model")
    picture = np.random.default_rng(0).integers(0, 256, (90, 160, 3), dtype=np.uint8)
    frame = write_png(picture, tmp_path / "frame.png")
    model = DiffusionVideo(folder, SamplerSettings(steps=2, height=side, width=side, frames=frames))

    clip = model.make(frame, "the dog runs", 7, tmp_path / "clip.mp4", NoNotes())

    own = settle(model.family, folder, DECLARED_NOTHING)
    facts = probe(clip.path)
    assert refusals(problems_of(read(folder), DeclaredModel(modalities=("video",)))) == []
    assert numbers(own) == OWN_SETTINGS[f"{name} from a picture"]
    assert (facts.frames, facts.fps) == (frames or own.frames, own.fps)
    assert (facts.height, facts.width) == (model.sampling.height, model.sampling.width)


def test_at_least_eighteen_families_are_run() -> None:
    families = {*ALL_IMAGES, *VIDEOS, *FROM_PICTURES}

    assert len(families) >= 18
    assert {family.form for family in FAMILIES} == {
        *("text_to_image", "text_to_video", "image_to_video")
    }
