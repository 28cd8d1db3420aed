"""Adapts a vision-language model into a judge of rollouts: a training loop that resumes from its
checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import cos, pi
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from evaluators.models.adapt.batches import Batch, Lesson, Mask, Taught, Teacher
from evaluators.models.adapt.checkpoint import TrainingCheckpoint, load_checkpoint, save_checkpoint
from evaluators.models.adapt.strategies import Strategy, counts, ready, trained

CODE = "adapt-2"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Everything that settles a training run; the defaults are the paper's, for one process."""

    strategy: Strategy = "projector"
    steps: int = 1000
    batch: int = 1
    accumulate: int = 4
    rate: float = 5e-5
    warmup: float = 0.1
    decay: float = 1e-6
    clip: float = 1.0
    rank: int = 8
    alpha: int = 8
    mask: Mask = "own"
    precision: Literal["fp32", "bf16"] = "fp32"
    seed: int = 0
    every: int = 100


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Progress of a training run: the step, its loss, and the seconds left."""

    number: int
    of: int
    loss: float
    seconds_left: float


@dataclass(frozen=True, slots=True)
class Adapted:
    """A trained model with its loss curve; `adapters` is peft's view of it where there are any."""

    model: Any
    adapters: Any
    losses: tuple[float, ...]
    parameters: int
    of_parameters: int
    samples: int


class Lessons(Protocol):
    """Any sequence of lessons; they may be made when they are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Lesson | Taught: ...


class Learner(nn.Module):
    """The model and its loss as one module, which is what several GPUs can share."""

    def __init__(self, teacher: Teacher) -> None:
        super().__init__()
        self.model, self.teacher = teacher.model, teacher

    def forward(self, batch: Batch) -> Tensor:
        """The loss of a batch."""
        return self.teacher.loss(batch)


def adapt(
    model: Any, processor: Any, lessons: Lessons, plan: TrainingPlan, folder: Path | None = None,
    report: Callable[[TrainingStep], None] | None = None,
) -> Adapted:  # fmt: skip
    """Train what the plan's strategy names; with a folder, checkpoints go there and a killed run
    goes on from them."""
    if not len(lessons):
        raise ValueError("There is nothing to learn from. Give at least one clip with a question.")
    readied = ready(model, plan.strategy, plan.rank, plan.alpha, plan.seed)
    parameters, total = counts(readied.model)
    steps = plan.steps if parameters else 0
    losses = _train(
        Teacher(readied.model, processor, plan.mask),
        lessons,
        replace(plan, steps=steps),
        folder,
        report,
    )
    readied.model.eval()
    samples = steps * plan.batch * plan.accumulate
    return Adapted(readied.model, readied.adapters, losses, parameters, total, samples)


def rate_at(step: int, plan: TrainingPlan) -> float:
    """The learning rate of a step counted from 0: up in a line, then down as a cosine.

    >>> plan = TrainingPlan(steps=100, rate=1.0)
    >>> rate_at(0, plan), rate_at(9, plan), round(rate_at(54, plan), 3), rate_at(99, plan) < 0.001
    (0.1, 1.0, 0.517, True)
    """
    rising = max(1, round(plan.warmup * plan.steps))
    if step < rising:
        return plan.rate * (step + 1) / rising
    return plan.rate * 0.5 * (1 + cos(pi * (step - rising) / max(1, plan.steps - rising)))


def order(plan: TrainingPlan, lessons: int, processes: int = 1) -> np.ndarray[Any, Any]:
    """Which lesson is learned when: each once, then all again in another order, as [step, part,
    process, lesson]."""
    shape = (plan.steps, plan.accumulate, processes, plan.batch)
    count = int(np.prod(shape))
    rng = np.random.default_rng([plan.seed, 7])
    rounds = [rng.permutation(lessons) for _ in range(-(-count // lessons))]
    return np.concatenate(rounds)[:count].reshape(shape) if rounds else np.zeros(shape, int)


def _train(
    teacher: Teacher,
    lessons: Lessons,
    plan: TrainingPlan,
    folder: Path | None,
    report: Callable[[TrainingStep], None] | None,
) -> tuple[float, ...]:
    if not plan.steps:
        return ()
    accelerator = _accelerator(
        mixed_precision="bf16" if plan.precision == "bf16" else "no", cpu=_on_cpu(teacher.model)
    )
    changing = dict(trained(teacher.model))
    optimizer = torch.optim.AdamW(
        changing.values(), lr=plan.rate, betas=(0.9, 0.999), weight_decay=plan.decay
    )
    run = json.dumps(asdict(plan), sort_keys=True)
    losses = list(_resume(folder, run, changing, optimizer))
    learner, optimizer = accelerator.prepare(Learner(teacher), optimizer)
    learner.train()
    turns = order(plan, len(lessons), accelerator.num_processes)
    began, first = time.monotonic(), len(losses)
    for step in range(first, plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, plan)
        losses.append(_step(accelerator, learner, optimizer, plan, lessons, turns[step]))
        finished = step + 1
        if (
            folder
            and accelerator.is_main_process
            and (finished % plan.every == 0 or finished == plan.steps)
        ):
            save_checkpoint(
                folder, TrainingCheckpoint(run, tuple(losses)), changing, _plain(optimizer)
            )
        if report and accelerator.is_main_process:
            seconds_per_step = (time.monotonic() - began) / (finished - first)
            report(
                TrainingStep(
                    finished, plan.steps, losses[-1], seconds_per_step * (plan.steps - finished)
                )
            )
    return tuple(losses)


def _step(
    accelerator: Any,
    learner: Any,
    optimizer: Any,
    plan: TrainingPlan,
    lessons: Lessons,
    turn: np.ndarray[Any, Any],
) -> float:
    """One optimizer step over all accumulated batches; gradients are synchronised at the last one
    only."""
    total = 0.0
    for number, part in enumerate(turn[:, accelerator.process_index]):
        teacher = accelerator.unwrap_model(learner).teacher
        batch = teacher.batch([_taught(teacher, lessons[int(i)]) for i in part])
        last = number == plan.accumulate - 1
        with accelerator.autocast(), _together(accelerator, learner, last):
            loss = learner(batch) / plan.accumulate
            accelerator.backward(loss)
        total += float(accelerator.reduce(loss.detach(), "mean"))
    accelerator.clip_grad_norm_(learner.parameters(), plan.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def _together(accelerator: Any, learner: Any, last: bool) -> Any:
    from contextlib import nullcontext

    return nullcontext() if last else accelerator.no_sync(learner)


def _taught(teacher: Teacher, lesson: Lesson | Taught) -> Taught:
    return lesson if isinstance(lesson, Taught) else teacher.read(lesson)


def _resume(
    folder: Path | None, run: str, changing: dict[str, nn.Parameter], optimizer: Any
) -> Sequence[float]:
    checkpoint = load_checkpoint(folder, run, changing, optimizer) if folder else None
    return checkpoint.losses if checkpoint else ()


def _plain(optimizer: Any) -> Any:
    return getattr(optimizer, "optimizer", optimizer)


def _accelerator(**settings: Any) -> Any:
    from accelerate import Accelerator

    return Accelerator(**settings)


def _on_cpu(model: Any) -> bool:
    return bool(next(model.parameters()).device.type == "cpu")
