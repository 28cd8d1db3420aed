"""How a small model from config learns to read clips at all: its vision tower first, then the whole
of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from evaluators.media import Pixels
from evaluators.models.adapt.batches import IGNORED, Lesson, Mask, Teacher
from evaluators.models.adapt.train import TrainingPlan, rate_at

ALOUD = 3.0
"""How much motion weighs beside words."""


@dataclass(frozen=True, slots=True)
class PictureLesson:
    """Single pictures and what is on them: classes as numbers, and places that wrap around, from 0
    to 1."""

    frames: Pixels
    classes: tuple[tuple[int, ...], ...]
    places: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class MotionLesson:
    """Clips of equally many frames, questions about each with answers, and numbers that say how
    things in it moved."""

    frames: Pixels
    questions: tuple[tuple[tuple[str, str], ...], ...]
    moves: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class PracticeStep:
    """The lessons of one step and the mask they are learned under."""

    mask: Mask
    lessons: Sequence[Lesson]


def teach_tower(
    model: Any,
    processor: Any,
    draw: Callable[[int], PictureLesson],
    sizes: Sequence[int],
    plan: TrainingPlan,
    report: Callable[[int, float], None],
) -> None:
    """Train the vision tower to tell what is on single pictures, by linear heads that are thrown
    away.

    The heads read every single token, so that each knows the whole picture: what moved between two
    pictures can then be told from any token of one and any of the other, and a decoder need not
    first find out which belong together.
    """
    teacher, vision, config = (
        Teacher(model, processor),
        model.model.vision_tower,
        model.config.vision_config,
    )
    places = len(draw(0).places[0])
    torch.manual_seed(plan.seed)
    head = nn.Linear(config.hidden_size, sum(sizes) + 2 * places)
    optimizer = torch.optim.AdamW(
        [*vision.parameters(), *head.parameters()], lr=plan.rate, weight_decay=plan.decay
    )
    model.train()
    for step in range(plan.steps):
        lesson = draw(step)
        hidden = vision(teacher.pixels(lesson.frames)).last_hidden_state
        _descend(_picture_loss(head(hidden), lesson, sizes), optimizer, step, plan, report)
    model.eval()


def teach_motion(
    model: Any,
    processor: Any,
    draw: Callable[[int], MotionLesson],
    plan: TrainingPlan,
    report: Callable[[int, float], None],
    aloud: bool = False,
    mask: Mask = "own",
) -> None:
    """Train the model to tell how things moved in a clip, by linear heads that are thrown away.

    One head reads the tokens of the last frame, the other the place where the first answer will
    begin. Without them a small decoder sits at chance on actions for hundreds of steps: which way
    something moved is a comparison of frames, and a word in the answer says little about how to
    make it. A head that read all frames alike would not do either: what moved from the first to the
    last moved the other way from the last to the first. Aloud, answers are learned beside it:
    learned afterwards, they would wipe the comparison out before they made use of it.
    """
    teacher, width = Teacher(model, processor, mask), model.config.text_config.hidden_size
    torch.manual_seed(plan.seed)
    heads = nn.ModuleList(nn.Linear(width, len(draw(0).moves[0])) for _ in range(2))
    model.train()
    optimizer = torch.optim.AdamW(
        [*model.parameters(), *heads.parameters()], lr=plan.rate, weight_decay=plan.decay
    )
    for step in range(plan.steps):
        moved = draw(step)
        batch = teacher.batch(
            [
                teacher.read(Lesson(*frames_and_questions))
                for frames_and_questions in zip(moved.frames, moved.questions, strict=True)
            ]
        )
        hidden = teacher.hidden(batch)
        last = hidden[:, batch.images - int(processor.image_seq_length) : batch.images].mean(1)
        begins = hidden[torch.arange(len(hidden)), (batch.labels != IGNORED).int().argmax(1)]
        motion = _motion_loss(heads, (last, begins), torch.tensor(moved.moves))
        loss = ALOUD * motion + teacher.loss(batch, hidden) if aloud else motion
        _descend(loss, optimizer, step, plan, report)
    model.eval()


def practise(
    model: Any,
    processor: Any,
    draw: Callable[[int], PracticeStep],
    plan: TrainingPlan,
    report: Callable[[int, float], None],
) -> None:
    """Train everything on what is drawn for each step."""
    teachers = {mask: Teacher(model, processor, mask) for mask in ("own", "image_first")}
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=plan.decay)
    model.train()
    for step in range(plan.steps):
        turn = draw(step)
        teacher = teachers[turn.mask]
        batch = teacher.batch([teacher.read(lesson) for lesson in turn.lessons])
        _descend(teacher.loss(batch), optimizer, step, plan, report)
    model.eval()


def _motion_loss(heads: nn.ModuleList, read: Sequence[Tensor], moves: Tensor) -> Tensor:
    predictions = [head(features) for head, features in zip(heads, read, strict=True)]
    return torch.stack(
        [nn.functional.smooth_l1_loss(features, moves, beta=0.3) for features in predictions]
    ).sum()


def _picture_loss(predicted: Tensor, lesson: PictureLesson, sizes: Sequence[int]) -> Tensor:
    """The mean over pictures and tokens [picture, token, what the heads say]."""
    tokens = predicted.shape[1]
    classes = torch.tensor(lesson.classes).repeat_interleave(tokens, 0)
    angles = 2 * torch.pi * torch.tensor(lesson.places).repeat_interleave(tokens, 0)
    *logits, circle_points = torch.split(
        predicted.flatten(0, 1), [*sizes, predicted.shape[2] - sum(sizes)], 1
    )
    named = sum(
        nn.functional.cross_entropy(class_logits, classes[:, k])
        for k, class_logits in enumerate(logits)
    )
    placed = nn.functional.mse_loss(circle_points, torch.cat([angles.cos(), angles.sin()], 1))
    return named + 4 * placed


def _descend(
    loss: Tensor,
    optimizer: torch.optim.Optimizer,
    step: int,
    plan: TrainingPlan,
    report: Callable[[int, float], None],
) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate_at(step, plan)
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    changing = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    nn.utils.clip_grad_norm_(changing, plan.clip)
    optimizer.step()
    report(step, float(loss.detach()))
