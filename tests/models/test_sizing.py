"""Memory and operations at the published size of PaliGemma 2 3B, counted without weights."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from evaluators.models.adapt.batches import Lesson, Teacher
from evaluators.models.adapt.sizing.count import StepCost, card_for, step_cost
from evaluators.models.adapt.sizing.weightless import LessonSize, lesson_batch, weightless
from evaluators.models.adapt.strategies import PARTS, Strategy
from evaluators.models.adapt.train import TrainingPlan, adapt
from evaluators.models.vlm.judge import read_folder
from tests.models.two_processes import alike

ONE = LessonSize()


@pytest.fixture(scope="module")
def costs() -> dict[str, StepCost]:
    wanted: tuple[Strategy, ...] = ("projector", "lora", "full")
    alone: dict[str, StepCost] = {name: step_cost(name, ONE) for name in wanted}
    return {**alone, "sharded": step_cost("full", ONE, shards=8)}


def test_the_parts_have_the_published_sizes(costs: dict[str, StepCost]) -> None:
    assert costs["projector"].trained == 2_656_512
    assert costs["full"].trained == costs["full"].parameters == 3_032_242_416


def test_what_fits_on_a_card(costs: dict[str, StepCost]) -> None:
    full = costs["full"]

    assert full.moments == 2 * 4 * full.trained and full.gradients == 4 * full.trained
    assert card_for(full.total) is None
    assert card_for(costs["sharded"].least) in (16, 24, 40)
    assert card_for(costs["projector"].least) in (16, 24)


def test_every_strategy_is_counted_without_weights_and_trains_its_parts() -> None:
    counted = {strategy: step_cost(strategy, ONE) for strategy in PARTS}

    parts = {part: counted[part].trained for part in ("vision", "projector", "language")}
    for strategy, cost in counted.items():
        if strategy not in ("lora", "upper"):
            assert cost.trained == sum(parts[part] for part in PARTS[strategy]), strategy
        assert cost.gradients == 4 * cost.trained and cost.moments == 2 * cost.gradients, strategy
        assert 0 < cost.least <= cost.total, strategy
    assert 0 < counted["lora"].trained < 0.01 * parts["language"]
    assert 0.9 * parts["language"] < counted["upper"].trained < parts["language"]


def test_activations_are_kept_only_where_gradients_pass(costs: dict[str, StepCost]) -> None:
    nothing = step_cost("zero_shot", ONE)

    assert nothing.activations == nothing.gradients == 0
    assert costs["projector"].activations < costs["full"].activations
    assert nothing.operations < costs["projector"].operations < costs["full"].operations


def test_frames_read_once_save_in_training_what_the_questions_repeat() -> None:
    one = step_cost("projector", ONE)
    own = step_cost("projector", LessonSize(questions=4))
    shared = step_cost("projector", LessonSize(questions=4), "image_first")

    assert own.operations > 3.5 * one.operations
    assert shared.operations < 1.1 * one.operations
    assert shared.activations < 1.1 * one.activations


def test_operations_without_weights_are_those_of_a_real_model(paligemma: Path) -> None:
    model, processor = read_folder(paligemma, "cpu", "fp32")
    # The operations of the CPU's fused attention are not counted.
    model.set_attn_implementation("eager")
    teacher = Teacher(model, processor)
    batch = teacher.batch([teacher.read(alike(1)[0])])
    question, words = teacher.read(Lesson(alike(1)[0].frames, (("What?", "jump"),))).questions[0]
    size = LessonSize(1, 2, 1, len(question), len(words))
    config = {**model.config.to_dict(), "image_token_index": 4}

    with FlopCounterMode(display=False) as real, torch.no_grad():
        teacher.hidden(batch)
    bare, empty = lesson_batch(weightless(config), "own", size)
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        bare.hidden(empty)

    assert counted.get_total_flops() == real.get_total_flops() > 0


@pytest.mark.parametrize("checkpointing", [False, True])
def test_checkpointing_computes_layers_of_both_halves_again(
    checkpointing: bool, paligemma: Path
) -> None:
    model, processor = read_folder(paligemma, "cpu", "fp32")
    calls = {"vision": 0, "language": 0}

    def counting(part: str) -> None:
        calls[part] += 1

    vision = model.model.vision_tower.encoder.layers[0].layer_norm1
    language = model.model.language_model.layers[0].input_layernorm
    vision.register_forward_hook(lambda *_: counting("vision"))
    language.register_forward_hook(lambda *_: counting("language"))

    adapt(
        model,
        processor,
        alike(2),
        TrainingPlan("full", steps=1, accumulate=1, checkpointing=checkpointing),
    )

    assert calls == {"vision": 1 + checkpointing, "language": 1 + checkpointing}
