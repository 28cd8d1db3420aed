"""How a small model from config learns to read clips at all: its vision tower first, then the whole of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from evaluators.media import Pixels
from evaluators.models.adapt import Plan, rate_at
from evaluators.models.adapt_batches import Lesson, Mask, Taught, Teacher


@dataclass(frozen=True, slots=True)
class Seen:
    """Single pictures and what is on them: classes as numbers, and places that wrap around, from 0 to 1."""

    frames: Pixels
    classes: tuple[tuple[int, ...], ...]
    places: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """Clips of equally many frames, and numbers that say how things in them moved."""

    frames: Pixels
    moves: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """The lessons of one step and the mask they are learned under."""

    mask: Mask
    lessons: Sequence[Lesson]


def teach_tower(
    model: Any, processor: Any, draw: Callable[[int], Seen], sizes: Sequence[int], plan: Plan,
    told: Callable[[int, float], None],
) -> None:  # fmt: skip
    """Train the vision tower to tell what is on single pictures, by linear heads that are thrown away.

    The heads read the mean of all tokens, so that a decoder that looks at all of them alike has it at once.
    """
    teacher, vision, config = Teacher(model, processor), model.model.vision_tower, model.config.vision_config
    places = len(draw(0).places[0])
    torch.manual_seed(plan.seed)
    head = nn.Linear(config.hidden_size, sum(sizes) + 2 * places)
    optimizer = torch.optim.AdamW([*vision.parameters(), *head.parameters()], lr=plan.rate, weight_decay=plan.decay)
    model.train()
    for step in range(plan.steps):
        seen = draw(step)
        hidden = vision(teacher.pixels(seen.frames)).last_hidden_state
        _descend(_seen_loss(head(hidden.mean(1)), seen, sizes), optimizer, step, plan, told)
    model.eval()


def teach_motion(
    model: Any, processor: Any, draw: Callable[[int], Moved], plan: Plan, told: Callable[[int, float], None]
) -> None:
    """Train everything to tell how things moved between the frames of a clip, by a linear head that is thrown away.

    Without it a small decoder sits at chance on actions for hundreds of steps: which way something moved is a
    comparison, and a word in the answer says little about how to make it.
    """
    teacher = Teacher(model, processor, "image_first")
    torch.manual_seed(plan.seed)
    head = nn.Linear(model.config.text_config.hidden_size, len(draw(0).moves[0]))
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=plan.rate, weight_decay=plan.decay)
    model.train()
    for step in range(plan.steps):
        moved = draw(step)
        batch = teacher.batch([Taught(teacher.pixels(clip), ()) for clip in moved.frames])
        found = head(teacher.hidden(batch).mean(1))
        loss = nn.functional.smooth_l1_loss(found, torch.tensor(moved.moves), beta=0.3)
        _descend(loss, optimizer, step, plan, told)
    model.eval()


def practise(
    model: Any, processor: Any, draw: Callable[[int], Turn], plan: Plan, told: Callable[[int, float], None]
) -> None:
    """Train everything on what is drawn for each step."""
    teachers = {mask: Teacher(model, processor, mask) for mask in ("own", "image_first")}
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=plan.decay)
    model.train()
    for step in range(plan.steps):
        turn = draw(step)
        teacher = teachers[turn.mask]
        batch = teacher.batch([teacher.read(lesson) for lesson in turn.lessons])
        _descend(teacher.loss(batch), optimizer, step, plan, told)
    model.eval()


def _seen_loss(found: Tensor, seen: Seen, sizes: Sequence[int]) -> Tensor:
    classes, angles = torch.tensor(seen.classes), 2 * torch.pi * torch.tensor(seen.places)
    *logits, rest = torch.split(found, [*sizes, found.shape[1] - sum(sizes)], 1)
    named = sum(nn.functional.cross_entropy(one, classes[:, k]) for k, one in enumerate(logits))
    placed = nn.functional.mse_loss(rest, torch.cat([angles.cos(), angles.sin()], 1))
    return named + 4 * placed


def _descend(
    loss: Tensor, optimizer: torch.optim.Optimizer, step: int, plan: Plan, told: Callable[[int, float], None]
) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate_at(step, plan)
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    changing = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    nn.utils.clip_grad_norm_(changing, plan.clip)
    optimizer.step()
    told(step, float(loss.detach()))
