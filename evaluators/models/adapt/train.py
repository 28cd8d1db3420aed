"""Adapts a vision-language model into a judge of rollouts: a training loop that resumes from its
checkpoints."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from math import ceil, cos, pi
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from evaluators.models.adapt.batches import Mask
from evaluators.models.adapt.chat import AnyTeacher, teacher_of
from evaluators.models.adapt.checkpoint import TrainingCheckpoint, load_checkpoint, save_checkpoint
from evaluators.models.adapt.loader import Lessons, batches
from evaluators.models.adapt.processes import ALONE, Processes
from evaluators.models.adapt.sharding import shard
from evaluators.models.adapt.strategies import Strategy, counts, ready, trained

CODE = "adapt-3"
UNTOLD = ("every", "workers", "checkpointing")
"""Settings that change nothing of what is learned: a run may go on with others."""


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
    workers: int = 0
    checkpointing: bool = False
    """Whether activations are computed again on the way back instead of being kept."""
    sharded: bool = False
    """Whether weights, gradients and moments are spread over the processes."""


class CannotShard(ValueError):
    """The plan does not fit the model or the processes; the message says what to do."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """What a run learns from and stands on; a checkpoint of another one is not taken up."""

    lessons: str = ""
    base: str = ""


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


class Learner(nn.Module):
    """The model and its loss as one module, which is what several GPUs can share."""

    def __init__(self, teacher: AnyTeacher) -> None:
        super().__init__()
        self.model, self.teacher = teacher.model, teacher

    def forward(self, batch: Any) -> Tensor:
        """The loss of a batch."""
        return self.teacher.loss(batch)


def adapt(
    model: Any, processor: Any, lessons: Lessons, plan: TrainingPlan, folder: Path | None = None,
    report: Callable[[TrainingStep], None] | None = None, processes: Processes = ALONE,
    identity: RunIdentity | None = None, device: str = "",
) -> Adapted:  # fmt: skip
    """Train what the plan's strategy names; with a folder, checkpoints go there and a killed run
    goes on from them. A sharded model goes to the device in parts; others are there already."""
    if not len(lessons):
        raise ValueError("There is nothing to learn from. Give at least one clip with a question.")
    if plan.sharded and (processes.count < 2 or plan.strategy == "lora"):
        raise CannotShard(
            "Weights are spread over several processes, and LoRA trains too few of them for that. "
            "Start it with accelerate launch, and without LoRA."
        )
    readied = ready(model, plan.strategy, plan.rank, plan.alpha, plan.seed)
    parameters, total = counts(readied.model)
    plan = replace(plan, steps=plan.steps if parameters else 0)
    teacher = teacher_of(readied.model, processor, plan.mask)
    told = _identified(plan, processes, identity or RunIdentity())
    run = _Run(plan, processes, folder, told, device or str(model.device))
    losses = _train(teacher, lessons, run, report) if plan.steps else ()
    readied.model.eval()
    samples = plan.steps * plan.batch * plan.accumulate * processes.count
    return Adapted(readied.model, readied.adapters, losses, parameters, total, samples)


def steps_of(epochs: float, lessons: int, plan: TrainingPlan, processes: int = 1) -> int:
    """The steps that show every lesson so many times.

    >>> steps_of(2, 100, TrainingPlan(batch=1, accumulate=4), 8)
    7
    """
    together = plan.batch * plan.accumulate * processes
    return max(1, ceil(epochs * lessons / together))


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


@dataclass(frozen=True, slots=True)
class _Run:
    """A plan on its way: among which processes, with checkpoints where, known by what."""

    plan: TrainingPlan
    processes: Processes
    folder: Path | None
    identity: str
    device: str


def _train(
    teacher: AnyTeacher,
    lessons: Lessons,
    run: _Run,
    report: Callable[[TrainingStep], None] | None,
) -> tuple[float, ...]:
    plan, processes = run.plan, run.processes
    learner, optimizer, changing = _prepared(teacher, run)
    losses = list(_resume(run, changing, optimizer))
    learner.train()
    began, first = time.monotonic(), len(losses)
    reading = _reading(teacher, lessons, run, first)
    for step in range(first, plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, plan)
        losses.append(_step(learner, optimizer, run, reading))
        finished = step + 1
        if run.folder and (finished % plan.every == 0 or finished == plan.steps):
            checkpoint = TrainingCheckpoint(run.identity, tuple(losses))
            save_checkpoint(run.folder, checkpoint, changing, optimizer, processes)
        if report and processes.is_main:
            seconds_per_step = (time.monotonic() - began) / (finished - first)
            left = seconds_per_step * (plan.steps - finished)
            report(TrainingStep(finished, plan.steps, losses[-1], left))
    return tuple(losses)


def _prepared(
    teacher: AnyTeacher, run: _Run
) -> tuple[Learner, torch.optim.Optimizer, dict[str, nn.Parameter]]:
    """The learner with its optimizer, and the weights that will change, in full precision."""
    model, plan = teacher.model, run.plan
    for _, parameter in trained(model):
        parameter.data = parameter.data.float()
    if plan.checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    learner = Learner(teacher)
    if plan.sharded:
        shard(learner, run.processes, run.device, plan.precision)
    changing = dict(trained(model))
    optimizer = torch.optim.AdamW(
        changing.values(), lr=plan.rate, betas=(0.9, 0.999), weight_decay=plan.decay
    )
    return learner, optimizer, changing


def _reading(teacher: AnyTeacher, lessons: Lessons, run: _Run, first: int) -> Iterator[Any]:
    """The batches of this process from a step on."""
    turns = order(run.plan, len(lessons), run.processes.count)[first:, :, run.processes.rank]
    mine = [tuple(int(i) for i in part) for step in turns for part in step]
    return batches(lessons, teacher.packer, mine, run.plan.workers)


def _step(
    learner: Learner, optimizer: torch.optim.Optimizer, run: _Run, reading: Iterator[Any]
) -> float:
    """One optimizer step over all accumulated batches; gradients are averaged over the processes at
    the last one only."""
    plan, sharded = run.plan, run.plan.sharded
    total = torch.zeros((), device=learner.teacher.model.device)
    for number in range(plan.accumulate):
        if sharded:
            learner.set_requires_gradient_sync(number == plan.accumulate - 1)  # type: ignore[operator]
        with _precision(learner, plan):
            loss = learner(next(reading)) / plan.accumulate
        torch.autograd.backward(loss)
        total += loss.detach()
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    if not sharded:
        run.processes.average_gradients(parameters)
    nn.utils.clip_grad_norm_(parameters, plan.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(run.processes.mean(total))


def _precision(learner: Learner, plan: TrainingPlan) -> AbstractContextManager[Any]:
    """Sharded weights are cast when they are put together, others where they are used."""
    if plan.precision != "bf16" or plan.sharded:
        return nullcontext()
    return torch.autocast(learner.teacher.model.device.type, torch.bfloat16)


def _identified(plan: TrainingPlan, processes: Processes, identity: RunIdentity) -> str:
    told = {name: value for name, value in asdict(plan).items() if name not in UNTOLD}
    run = {**told, **asdict(identity), "processes": processes.count}
    return json.dumps(run, sort_keys=True)


def _resume(
    run: _Run, changing: dict[str, nn.Parameter], optimizer: torch.optim.Optimizer
) -> Sequence[float]:
    if run.folder is None:
        return ()
    checkpoint = load_checkpoint(run.folder, run.identity, changing, optimizer)
    return checkpoint.losses if checkpoint else ()
