"""How a small model from config learns to read clips at all: motion as numbers beside words, then
words alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from evaluators.media import Pixels
from evaluators.models.adapt.batches import IGNORED, Lesson, Mask, Teacher
from evaluators.models.adapt.train import TrainingPlan, rate_at

MOTION = 3.0
"""How much motion weighs beside words."""


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


def teach_motion(
    model: Any,
    processor: Any,
    draw: Callable[[int], MotionLesson],
    plan: TrainingPlan,
    report: Callable[[int, float], None],
    mask: Mask = "own",
    held: Sequence[str] = (),
) -> None:
    """Train the model to tell how things moved in a clip, by linear heads that are thrown away.

    One head reads the tokens of the last frame, the other the place where the first answer will
    begin. Without them a small decoder sits at chance on actions for hundreds of steps: which way
    something moved is a comparison of frames, and a word in the answer says little about how to
    make it. A head that read all frames alike would not do either: what moved from the first to the
    last moved the other way from the last to the first. Answers are learned beside it: learned
    afterwards, they would wipe the comparison out before they made use of it. Weights whose name
    begins with one of `held` are not changed.
    """
    teacher, width = Teacher(model, processor, mask), model.config.text_config.hidden_size
    torch.manual_seed(plan.seed)
    heads = nn.ModuleList(nn.Linear(width, len(draw(0).moves[0])) for _ in range(2))
    model.train()
    optimizer = torch.optim.AdamW(
        [*_learning(model, held), *heads.parameters()], lr=plan.rate, weight_decay=plan.decay
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
        _descend(MOTION * motion + teacher.loss(batch, hidden), optimizer, step, plan, report)
    model.eval()


def practise(
    model: Any,
    processor: Any,
    draw: Callable[[int], PracticeStep],
    plan: TrainingPlan,
    report: Callable[[int, float], None],
    held: Sequence[str] = (),
) -> None:
    """Train all weights but those held on what is drawn for each step."""
    teachers = {mask: Teacher(model, processor, mask) for mask in ("own", "image_first")}
    optimizer = torch.optim.AdamW(_learning(model, held), lr=plan.rate, weight_decay=plan.decay)
    model.train()
    for step in range(plan.steps):
        turn = draw(step)
        teacher = teachers[turn.mask]
        batch = teacher.batch([teacher.read(lesson) for lesson in turn.lessons])
        _descend(teacher.loss(batch), optimizer, step, plan, report)
    model.eval()


def _learning(model: Any, held: Sequence[str]) -> list[nn.Parameter]:
    """The weights that learn; the others are frozen."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(tuple(held)) if held else True)
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def _motion_loss(heads: nn.ModuleList, read: Sequence[Tensor], moves: Tensor) -> Tensor:
    predictions = [head(features) for head, features in zip(heads, read, strict=True)]
    return torch.stack(
        [nn.functional.smooth_l1_loss(features, moves, beta=0.3) for features in predictions]
    ).sum()


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
