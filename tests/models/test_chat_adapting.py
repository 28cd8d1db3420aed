"""Chat models of the published families are adapted by LoRA: the loss is the plain model's, both
halves learn, and what was learned is what the judge says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.models.adapt.batches import IGNORED, Lesson
from evaluators.models.adapt.chat import ChatTeacher, teacher_of
from evaluators.models.adapt.exam import exam
from evaluators.models.adapt.folder import base_of, save_adapted
from evaluators.models.adapt.strategies import part_of, ready, trained
from evaluators.models.adapt.train import TrainingPlan, adapt
from evaluators.models.vlm.adapter import open_adapted
from evaluators.models.vlm.judge import read_folder
from tests.models.published_vlms import make_published

FAMILIES = ("smolvlm", "qwen2_5_vl", "qwen3_vl")
LORA = TrainingPlan(strategy="lora", steps=30, batch=2, accumulate=1, rate=3e-2, rank=8)


def lessons() -> list[Lesson]:
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 256, (2, 2, 32, 32, 3), dtype=np.uint8)
    pictures[1] //= 8
    said = (("walk", "yes"), ("turn left", "no"))
    return [
        Lesson(frames, (("Which action does it perform?", action), ("Is it red?", red)))
        for frames, (action, red) in zip(pictures, said, strict=True)
    ]


@pytest.fixture(scope="module", params=FAMILIES)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_published(request.param, tmp_path_factory.mktemp("chat") / request.param)


def opened(folder: Path) -> tuple[Any, Any]:
    return read_folder(folder, "cpu", "fp32")


def test_the_loss_is_that_of_the_plain_model(base: Path) -> None:
    model, processor = opened(base)
    teacher = ChatTeacher(model, processor)
    batch = teacher.packer.batch([teacher.packer.read(lessons()[0])])
    shifted = torch.full_like(batch.labels, IGNORED)
    shifted[:, 1:] = batch.labels[:, :-1]

    with torch.no_grad():
        plain = model(
            input_ids=batch.tokens,
            attention_mask=batch.attention,
            labels=shifted,
            **batch.pixels,
            **batch.beside,
        ).loss
        ours = teacher.loss(batch)

    assert (batch.labels != IGNORED).sum() >= 4
    assert float(ours) == pytest.approx(float(plain), abs=1e-4)


def test_lora_trains_attention_and_mlp_of_both_halves_and_nothing_between_them(base: Path) -> None:
    model, _ = opened(base)

    names = [name for name, _ in trained(ready(model, "lora").model)]

    assert all("lora_" in name for name in names)
    assert {part_of(name) for name in names} == {"vision", "language"}
    kinds = {name.split(".lora_")[0].rpartition(".")[2] for name in names}
    assert {"gate_proj", "down_proj", "q_proj"} <= kinds
    assert kinds & {"qkv", "out_proj"} and kinds & {"fc1", "linear_fc1", "up_proj"}


def test_a_judge_says_what_it_was_taught_after_saving_and_loading(
    base: Path, tmp_path: Path
) -> None:
    known = base_of(base)
    (tmp_path / known.name.replace("/", "--")).symlink_to(base)
    model, processor = opened(base)
    before = exam(teacher_of(model, processor), lessons())

    adapted = adapt(model, processor, lessons(), LORA)
    folder = save_adapted(tmp_path / "judge", adapted, known, LORA, "uniform-2")
    judge = open_adapted(folder, shelf=tmp_path)
    after = exam(teacher_of(judge.family.model, processor), lessons(), memory=1)

    assert adapted.losses[-1] < 0.1 * adapted.losses[0]
    assert before != after == [[True, True], [True, True]]
    for lesson in lessons():
        questions = [question for question, _ in lesson.questions]
        assert judge.tell(lesson.frames, questions) == [words for _, words in lesson.questions]


def test_the_mask_of_paligemma_is_refused(base: Path) -> None:
    with pytest.raises(ValueError, match="is for PaliGemma"):
        teacher_of(*opened(base), "image_first")
