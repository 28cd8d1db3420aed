"""Adaptation: what leaks nowhere, trains exactly what it names, learns answers only, and goes on
after a kill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from evaluators.contracts import Question, Request
from evaluators.media import Pixels, write_mp4
from evaluators.models.adapt.batches import IGNORED, Lesson, Mask, Teacher
from evaluators.models.adapt.checkpoint import AnotherRun
from evaluators.models.adapt.exam import batched, exam, row_bytes
from evaluators.models.adapt.folder import base_of, save_adapted
from evaluators.models.adapt.sizing.weightless import weightless
from evaluators.models.adapt.strategies import FIRST_LAYER, PARTS, Strategy, counts, part_of, ready
from evaluators.models.adapt.train import Adapted, TrainingPlan, TrainingStep, adapt, order, rate_at
from evaluators.models.vlm.adapter import NoBase, load_adapted, open_adapted
from evaluators.models.vlm.judge import read_folder
from evaluators.models.vlm.paligemma import PaliGemmaFamily
from tests.models.families import LOW_CAPS

MASKS: tuple[Mask, ...] = ("own", "image_first")
PLAN = TrainingPlan(steps=3, batch=2, accumulate=2, rate=1e-2)


def frames(seed: int, count: int = 2) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (count, 32, 32, 3), dtype=np.uint8)


def lessons(number: int = 5) -> list[Lesson]:
    said = ("walk", "jump", "turn left")
    return [
        Lesson(
            frames(i),
            (("Which action does the character perform?", said[i % 3]), ("Is it red?", "yes")),
        )
        for i in range(number)
    ]


def opened(folder: Path) -> tuple[Any, Any]:
    return read_folder(folder, "cpu", "fp32")


def logits(teacher: Teacher, asked: Sequence[tuple[str, str]]) -> list[Tensor]:
    """The logits of each answer's tokens, pair by pair."""
    taught = teacher.read(Lesson(frames(1), tuple(asked)))
    with torch.no_grad():
        found = teacher.logits(teacher.batch([taught]))
    return list(torch.split(found, [len(answer) for _, answer in taught.questions]))


@pytest.mark.parametrize("mask", MASKS)
def test_changing_an_answer_or_another_question_leaves_all_other_logits_unchanged(
    mask: Mask, paligemma: Path
) -> None:
    teacher = Teacher(*opened(paligemma), mask)
    pairs = [
        ("Is the dog red?", "yes no yes"),
        ("What?", "jump"),
        ("Which is shown?", "open the door"),
    ]

    before = logits(teacher, pairs)
    other_answer = logits(teacher, [pairs[0], ("What?", "walk"), pairs[2]])
    other_question = logits(teacher, [pairs[0], ("Who is in the grass?", "jump"), pairs[2]])

    for changed in (other_answer, other_question):
        assert torch.allclose(before[0], changed[0], atol=1e-5)
        assert torch.allclose(before[2], changed[2], atol=1e-5)
    assert torch.allclose(before[1][0], other_answer[1][0], atol=1e-5)
    assert not torch.allclose(before[1][0], other_question[1][0], atol=1e-3)


@pytest.mark.parametrize("mask", MASKS)
def test_a_token_of_an_answer_does_not_see_those_after_it(mask: Mask, paligemma: Path) -> None:
    teacher = Teacher(*opened(paligemma), mask)

    one = logits(teacher, [("What?", "pick up the box")])[0]
    other = logits(teacher, [("What?", "pick up the cup")])[0]

    same = [bool(torch.allclose(a, b, atol=1e-5)) for a, b in zip(one, other, strict=False)]
    assert same[0] and not same[-1]


@pytest.fixture(params=["paligemma", "paligemma_capped", "paligemma_1"])
def version(request: pytest.FixtureRequest) -> Path:
    """PaliGemma 2 with the usual caps and with low ones, and PaliGemma 1."""
    folder: Path = request.getfixturevalue(request.param)
    return folder


def example(processor: Any) -> dict[str, Tensor]:
    """A question with its answer, as the plain model learns it."""
    return dict(
        processor(
            images=[list(frames(1))],
            text=["<image><image>answer en What?"],
            suffix=["turn left"],
            return_tensors="pt",
        )
    )


def test_the_own_mask_gives_the_logits_of_the_plain_model(version: Path) -> None:
    model, processor = opened(version)
    teacher = Teacher(model, processor, "own")
    given = example(processor)

    with torch.no_grad():
        plain = model(**given).logits[0]
    wanted = plain[:-1][given["labels"][0, 1:] != IGNORED]

    assert torch.allclose(logits(teacher, [("What?", "turn left")])[0], wanted, atol=1e-5)


def test_loss_and_gradients_are_those_of_the_plain_model(version: Path) -> None:
    model, processor = opened(version)
    teacher = Teacher(model, processor, "own")
    batch = teacher.batch([teacher.read(Lesson(frames(1), (("What?", "turn left"),)))])
    names, weights = zip(*model.named_parameters(), strict=True)
    plain = model(**example(processor)).loss

    loss = teacher.loss(batch)

    assert float(loss.detach()) == pytest.approx(float(plain.detach()), abs=1e-5)
    own, wanted = (torch.autograd.grad(value, weights) for value in (loss, plain))
    far = [
        name for name, one, other in zip(names, own, wanted, strict=True) if not _near(one, other)
    ]
    assert far == []


def _near(gradient: Tensor, wanted: Tensor) -> bool:
    """Equal up to rounding; the bias of keys has no gradient but that."""
    return bool((gradient - wanted).norm() < 1e-4 * wanted.norm() + 1e-6)


def test_a_low_cap_changes_logits_and_loss_of_the_teacher(paligemma_capped: Path) -> None:
    model, processor = opened(paligemma_capped)
    teacher = Teacher(model, processor, "own")
    batch = teacher.batch([teacher.read(Lesson(frames(1), (("What?", "turn left"),)))])
    labels = batch.labels[batch.labels != IGNORED]

    with torch.no_grad():
        capped, loss = teacher.logits(batch), teacher.loss(batch)
        bare = model.lm_head(teacher.hidden(batch)[batch.labels != IGNORED])

    assert float(capped.abs().max()) < LOW_CAPS["final_logit_softcapping"] < float(bare.abs().max())
    assert float((bare - capped).abs().max()) > 0.1
    assert abs(float(torch.nn.functional.cross_entropy(bare, labels) - loss)) > 1e-3


def test_frames_of_the_models_size_become_the_pixels_of_its_processor(paligemma: Path) -> None:
    model, processor = opened(paligemma)

    found = Teacher(model, processor).pixels(frames(3))

    wanted = processor.image_processor(list(frames(3)), return_tensors="pt")["pixel_values"]
    assert torch.allclose(found, wanted, atol=1e-6)


def test_loss_touches_the_suffix_only(paligemma: Path) -> None:
    model, processor = opened(paligemma)
    teacher = Teacher(model, processor, "image_first")
    batch = teacher.batch([teacher.read(lesson) for lesson in lessons(2)])
    answers = [
        word
        for lesson in lessons(2)
        for _, answer in lesson.questions
        for word in teacher.packer.tokens("", answer)[1]
    ]
    caught: list[Tensor] = []
    model.get_decoder().register_forward_hook(
        lambda _m, _i, out: caught.append(out.last_hidden_state)
    )

    loss = teacher.loss(batch)
    gradient = torch.autograd.grad(loss, caught[0])[0]

    touched = gradient.abs().sum(-1) > 0
    assert torch.equal(touched, batch.labels != IGNORED)
    assert batch.labels[batch.labels != IGNORED].tolist() == answers


@pytest.mark.parametrize("strategy", list(PARTS))
def test_every_strategy_changes_exactly_the_weights_it_names(
    strategy: Strategy, paligemma: Path
) -> None:
    model, processor = opened(paligemma)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    made = adapt(model, processor, lessons(), replace(PLAN, strategy=strategy))

    after = {
        name.replace("base_layer.", ""): tensor for name, tensor in made.model.state_dict().items()
    }
    changed = {
        part_of(name) for name, tensor in before.items() if not torch.equal(tensor, after[name])
    }
    assert changed == PARTS[strategy]
    unchanged = [
        n for n, t in before.items() if part_of(n) in PARTS[strategy] and torch.equal(t, after[n])
    ]
    if strategy == "upper":
        first = {name for name in before if FIRST_LAYER in name and part_of(name) == "language"}
        assert first and first <= set(unchanged)
        unchanged = [name for name in unchanged if name not in first]
    assert all(name.endswith(("k_proj.bias", "embed_tokens.weight")) for name in unchanged), (
        unchanged
    )


def test_lora_trains_only_its_own_matrices_in_vision_and_language(paligemma: Path) -> None:
    model, _ = opened(paligemma)
    total = sum(parameter.numel() for parameter in model.parameters())

    readied = ready(model, "lora", rank=4)

    names = [
        name for name, parameter in readied.model.named_parameters() if parameter.requires_grad
    ]
    assert all(".lora_A." in name or ".lora_B." in name for name in names)
    assert {part_of(name) for name in names} == {"vision", "language"}
    assert {name.split(".lora_")[0].rpartition(".")[2] for name in names} >= {
        "q_proj",
        "out_proj",
        "fc1",
        "gate_proj",
    }
    assert counts(readied.model)[1] - total == counts(readied.model)[0]


def test_the_counts_of_trained_parameters_are_those_of_the_parts(paligemma: Path) -> None:
    model, _ = opened(paligemma)
    sizes = {part: sum(p.numel() for n, p in model.named_parameters() if part_of(n) == part)
             for part in ("vision", "projector", "language")}  # fmt: skip

    assert counts(ready(model, "projector").model)[0] == sizes["projector"] == 32 * 48 + 48
    assert counts(ready(model, "vision_language").model)[0] == sizes["vision"] + sizes["language"]
    assert counts(ready(model, "full").model) == (sum(sizes.values()), sum(sizes.values()))
    assert counts(ready(model, "zero_shot").model)[0] == 0


def test_a_killed_run_goes_on_to_the_same_loss_curve(paligemma: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, steps=7, every=2, strategy="full")
    whole = adapt(*opened(paligemma), lessons(), plan)

    def kill(step: TrainingStep) -> None:
        if step.number == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adapt(*opened(paligemma), lessons(), plan, tmp_path, kill)
    seen: list[int] = []
    resumed = adapt(
        *opened(paligemma), lessons(), plan, tmp_path, lambda step: seen.append(step.number)
    )

    assert seen == [5, 6, 7]
    assert resumed.losses == whole.losses
    assert all(
        torch.equal(a, b)
        for a, b in zip(whole.model.parameters(), resumed.model.parameters(), strict=True)
    )


def test_a_checkpoint_of_other_settings_is_not_taken_up(paligemma: Path, tmp_path: Path) -> None:
    adapt(*opened(paligemma), lessons(), PLAN, tmp_path)

    with pytest.raises(AnotherRun, match=r"other settings \(rate\). Name another folder"):
        adapt(*opened(paligemma), lessons(), replace(PLAN, rate=1e-3), tmp_path)


def test_parts_of_a_step_add_up_to_the_gradient_of_one_large_batch(paligemma: Path) -> None:
    alike = [Lesson(frames(i), (("What?", "jump"),)) for i in range(4)]

    one = adapt(*opened(paligemma), alike, replace(PLAN, steps=2, batch=4, accumulate=1))
    parts = adapt(*opened(paligemma), alike, replace(PLAN, steps=2, batch=2, accumulate=2))

    assert np.allclose(one.losses, parts.losses, atol=1e-5)


def test_every_lesson_comes_once_before_any_comes_again() -> None:
    turns = order(replace(PLAN, steps=4, batch=1, accumulate=2), 4, processes=1).ravel()

    assert sorted(turns[:4]) == sorted(turns[4:]) == [0, 1, 2, 3]


def test_several_processes_share_the_lessons_of_a_step() -> None:
    turns = order(replace(PLAN, steps=1, batch=2, accumulate=3), 12, processes=2)

    assert turns.shape == (1, 3, 2, 2)
    assert sorted(turns.ravel()) == list(range(12))


def test_the_rate_rises_in_a_line_and_falls_as_a_cosine() -> None:
    rates = [rate_at(step, TrainingPlan(steps=200, rate=1.0)) for step in range(200)]

    assert np.allclose(np.diff(rates[:20]), 0.05)
    assert max(rates) == 1.0 and rates.index(1.0) == 19
    assert all(later < earlier for earlier, later in pairwise(rates[20:]))


def answers(made: Adapted | None, folder: Path, clip: Path, shelf: Path) -> list[str | None]:
    """What a judge says of the clip; the one in memory if there is one, else that of the folder."""
    judge = open_adapted(folder, shelf=shelf)
    if made is not None:
        judge.family = PaliGemmaFamily(made.model, judge.family.processor, made_first(folder))
    asked = tuple(
        Question(f"q{i}", text, "open")
        for i, text in enumerate(("What?", "Is the dog red?", "Which is it?"))
    )
    (reply,) = judge.judge([Request("s", clip, "0" * 64, "video", "", asked)])
    return [answer.value or answer.reason for answer in reply.answers]


def made_first(folder: Path) -> bool:
    return "image_first" in (folder / "judge.json").read_text()


@pytest.mark.parametrize(
    ("strategy", "mask"), [("projector", "own"), ("full", "image_first"), ("lora", "own")]
)
def test_an_adapted_judge_saved_and_loaded_gives_equal_answers(
    strategy: Strategy, mask: Mask, paligemma: Path, tmp_path: Path
) -> None:
    plan = replace(PLAN, strategy=strategy, mask=mask, rate=3e-2)
    base = base_of(paligemma)
    (tmp_path / base.name.replace("/", "--")).symlink_to(paligemma)
    clip = write_mp4(frames(9, 6), tmp_path / "clip.mp4", 10)

    made = adapt(*opened(paligemma), lessons(), plan)
    folder = save_adapted(tmp_path / "adapter", made, base, plan, "uniform-2")

    assert answers(made, folder, clip, tmp_path) == answers(None, folder, clip, tmp_path)
    assert open_adapted(folder, shelf=tmp_path).card.frames == "uniform-2"


def test_an_adapter_holds_only_what_was_trained(paligemma: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    made = adapt(*opened(paligemma), lessons(), PLAN)

    folder = save_adapted(tmp_path / "adapter", made, base_of(paligemma), PLAN, "uniform-8")

    assert {part_of(name) for name in load_file(folder / "adapter_model.safetensors")} == {
        "projector"
    }
    assert (
        f"{made.parameters:,} of {made.of_parameters:,} parameters"
        in (folder / "README.md").read_text()
    )


def test_an_adapter_without_its_base_or_on_another_one_says_which_it_wants(
    paligemma: Path, chat_vlm: Path, tmp_path: Path
) -> None:
    made = adapt(*opened(paligemma), lessons(), PLAN)
    folder = save_adapted(tmp_path / "adapter", made, base_of(paligemma), PLAN, "uniform-8")

    with pytest.raises(NoBase, match="stands on local/paligemma at"):
        load_adapted(folder, None)
    (tmp_path / "local--paligemma").symlink_to(chat_vlm)
    with pytest.raises(NoBase, match="was trained on local/paligemma"):
        load_adapted(folder, tmp_path)


def test_nothing_to_learn_and_an_unknown_strategy_are_told(paligemma: Path) -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        adapt(*opened(paligemma), [], PLAN)
    with pytest.raises(ValueError, match="There is no strategy 'half'"):
        ready(opened(paligemma)[0], "half")  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["projector", "lora"])
def test_in_bf16_what_is_trained_stays_in_full_precision(
    strategy: Strategy, paligemma: Path
) -> None:
    plan = replace(PLAN, strategy=strategy, precision="bf16")
    model, processor = read_folder(paligemma, "cpu", "bf16")

    low = adapt(model, processor, lessons(), plan)
    full = adapt(*opened(paligemma), lessons(), replace(plan, precision="fp32"))

    dtypes = {parameter.requires_grad: parameter.dtype for parameter in low.model.parameters()}
    assert dtypes == {True: torch.float32, False: torch.bfloat16}
    assert np.allclose(low.losses, full.losses, rtol=0.1)


@pytest.mark.parametrize("mask", MASKS)
def test_an_exam_is_batched_by_memory_reads_as_it_goes_and_gives_the_same(
    mask: Mask, paligemma: Path
) -> None:
    teacher = Teacher(*opened(paligemma), mask)
    read: list[int] = []

    def stream() -> Iterator[Lesson]:
        for number, lesson in enumerate(lessons()):
            read.append(number)
            yield lesson

    one = row_bytes(teacher.model.config, teacher.packer.rows(teacher.read(lessons()[0]))[0], 4)
    first = next(batched(teacher, stream(), 1))
    groups = list(batched(teacher, lessons(), 3 * one))

    assert len(first) == 1 and read == ([0, 1] if mask == "image_first" else [0])
    assert len(groups) > 1 and all(sum(p.bytes for p in group) <= 3 * one for group in groups)
    assert exam(teacher, stream(), 1) == exam(teacher, lessons(), 3 * one)
    assert exam(teacher, lessons(), 1) == exam(teacher, lessons(), 1 << 30)


def test_a_row_at_the_size_of_paligemma_2_needs_a_batch_of_its_own_on_a_small_card() -> None:
    config = weightless().config
    tokens = 8 * 256 + 20

    assert 0.2e9 < row_bytes(config, tokens, 2) < 0.6e9
