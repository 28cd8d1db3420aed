"""Fine-tuning Cosmos 3 on a kit, whole or by LoRA, on one or several GPUs; killed, it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs

from evaluators.models.adapt.checkpoint import (
    TrainingCheckpoint,
    drop_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from evaluators.models.adapt.processes import PATIENCE, Processes
from evaluators.models.cosmos.embodiment import CosmosSettings, Floats, write_settings
from evaluators.models.cosmos.lessons import ActionClip, draw_mode, lesson_loss, make_lesson
from evaluators.models.cosmos.world import LORA, TEMPORAL
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.reading import RobotDataset

GENERATION = ("add_q_proj", "add_k_proj", "add_v_proj", "to_add_out")
GENERATION_MLP = r".*mlp_moe_gen\.(gate|up|down)_proj"
"""The parts that make pictures and actions; the reader of texts is left alone by a LoRA."""
ALWAYS = ("action_proj_in", "action_proj_out")


@dataclass(frozen=True, slots=True)
class CosmosPlan:
    """How long and how: the paper's numbers but for steps and batch. `rank` 0 trains everything.
    `strides` are the paces, in frames of the kit; `pseudo` is the share of clips whose actions are
    read off the states instead of commanded."""

    steps: int = 2000
    batch: int = 8
    rate: float = 1e-4
    warm_up: int = 200
    rank: int = 16
    strides: tuple[int, ...] = (1, 2)
    pseudo: float = 0.5
    seed: int = 0
    keep_each: int = 100


@dataclass(frozen=True, slots=True)
class PseudoActions:
    """From moves of the state to actions in the units of commands: a linear map that was fitted on
    the practice; the gripper's command is kept."""

    weights: Floats

    @classmethod
    def fit(cls, episodes: Sequence[RobotEpisode]) -> PseudoActions:
        """Least squares over all steps."""
        moves = np.concatenate([np.diff(episode.state[:, :6], axis=0) for episode in episodes])
        actions = np.concatenate([episode.actions[:, :6] for episode in episodes])
        weights, *_ = np.linalg.lstsq(moves, actions, rcond=None)
        return cls(weights.astype(np.float32))

    def of(self, episode: RobotEpisode) -> Floats:
        """An episode's actions as its states tell them."""
        moves = np.diff(episode.state[:, :6], axis=0)
        return np.concatenate([moves @ self.weights, episode.actions[:, 6:]], axis=1)


def draw_clip(
    episodes: Sequence[RobotEpisode],
    pseudo: PseudoActions,
    settings: CosmosSettings,
    plan: CosmosPlan,
    rng: np.random.Generator,
) -> ActionClip:
    """A clip of some episode at one of the paces; at a slower one actions add up."""
    episode = episodes[int(rng.integers(len(episodes)))]
    stride = int(rng.choice(plan.strides))
    most = min(settings.chunk, (episode.rows - 1) // stride) // TEMPORAL * TEMPORAL
    if most < TEMPORAL:
        stride, most = 1, min(settings.chunk, episode.rows - 1) // TEMPORAL * TEMPORAL
    first = int(rng.integers(episode.rows - most * stride))
    actions = pseudo.of(episode) if rng.random() < plan.pseudo else episode.actions
    steps = actions[first : first + most * stride].reshape(most, stride, -1)
    joined = np.concatenate([steps[:, :, :6].sum(axis=1), steps[:, -1, 6:]], axis=1)
    frames = np.stack(
        [
            clip[first : first + most * stride + 1 : stride]
            for clip in (episode.cameras[view] for view in settings.views)
        ]
    )
    return ActionClip(
        frames, joined.astype(np.float32), episode.instruction, settings.rate / stride
    )


def finetune(
    pipeline: Any,
    dataset: RobotDataset,
    folder: Path,
    settings: CosmosSettings,
    plan: CosmosPlan,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
) -> tuple[float, ...]:
    """Train and write the world's folder; the losses, those before an interruption too.

    Each process learns from clips of its own; the first one writes and tells of the steps.
    """
    accelerator = _accelerator(pipeline)
    processes = Processes(accelerator.process_index, accelerator.num_processes)
    episodes = list(dataset)
    pseudo = PseudoActions.fit(episodes)
    transformer = _learner(pipeline, plan)
    changing = {n: p for n, p in transformer.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(
        changing.values(), plan.rate, betas=(0.9, 0.99), weight_decay=0.05
    )
    counts = {"episodes": len(episodes), "processes": processes.count}
    run = json.dumps({**asdict(plan), **counts, "settings": asdict(settings)})
    checkpoint = load_checkpoint(folder, run, changing, optimizer)
    losses = list(checkpoint.losses) if checkpoint else []
    learner, optimizer = accelerator.prepare(transformer, optimizer)
    pipeline.vae.to(accelerator.device)
    for step in range(len(losses), plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * schedule(step, plan)
        rng = np.random.default_rng((plan.seed, step, processes.rank))
        loss = _step(pipeline, learner, accelerator, episodes, pseudo, settings, plan, rng)
        _fill_gradients(changing.values())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(processes.mean(loss)))
        if processes.is_main:
            on_step(step + 1, losses[-1])
        if (step + 1) % plan.keep_each == 0:
            progress = TrainingCheckpoint(run, tuple(losses))
            save_checkpoint(folder, progress, changing, optimizer, processes)
    if processes.is_main:
        _write(pipeline, transformer, folder, settings, plan, episodes)
    processes.wait()
    return tuple(losses)


def _accelerator(pipeline: Any) -> Accelerator:
    """Where the pipeline is. Every mode leaves parts out, which the processes have to be told; and
    they wait long enough for one that writes."""
    return Accelerator(
        cpu=pipeline.device.type == "cpu",
        kwargs_handlers=[
            DistributedDataParallelKwargs(find_unused_parameters=True),
            InitProcessGroupKwargs(timeout=PATIENCE),
        ],
    )


def schedule(step: int, plan: CosmosPlan) -> float:
    """Linear warm-up, then a cosine to nothing.

    >>> [round(schedule(step, CosmosPlan(steps=100, warm_up=10)), 2) for step in (0, 9, 10, 99)]
    [0.1, 1.0, 1.0, 0.0]
    """
    if step < plan.warm_up:
        return (step + 1) / plan.warm_up
    done = (step - plan.warm_up) / max(1, plan.steps - plan.warm_up)
    return float(0.5 * (1 + np.cos(np.pi * done)))


def _step(
    pipeline: Any,
    learner: Any,
    accelerator: Accelerator,
    episodes: Sequence[RobotEpisode],
    pseudo: PseudoActions,
    settings: CosmosSettings,
    plan: CosmosPlan,
    rng: np.random.Generator,
) -> torch.Tensor:
    """The gradients of a batch, an instance at a time; each instance weighs the same. Processes
    share them with the last one."""
    total = torch.zeros((), device=accelerator.device)
    for left in reversed(range(plan.batch)):
        clip = draw_clip(episodes, pseudo, settings, plan, rng)
        view = int(rng.integers(len(settings.views)))
        lesson = make_lesson(pipeline, clip, settings, draw_mode(rng), view)
        chance = torch.Generator().manual_seed(int(rng.integers(2**62)))
        with accelerator.no_sync(learner) if left else nullcontext():
            loss = lesson_loss(pipeline, learner, lesson, chance) / plan.batch
            accelerator.backward(loss)
        total += loss.detach()
    return total


def _fill_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """A mode that leaves a part out gives it no gradient: nothing, so that every part has moments
    that a checkpoint can keep."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)


def _learner(pipeline: Any, plan: CosmosPlan) -> Any:
    """The transformer with what is to be learned set free."""
    transformer = pipeline.transformer.train()
    pipeline.vae.requires_grad_(False)
    if plan.rank == 0:
        transformer.requires_grad_(True)
        transformer.lm_head.requires_grad_(False)
        return transformer
    from peft import LoraConfig, get_peft_model

    attention = "|".join(GENERATION)
    config = LoraConfig(
        r=plan.rank,
        lora_alpha=plan.rank,
        target_modules=rf"(.*self_attn\.({attention})|{GENERATION_MLP})",
        modules_to_save=list(ALWAYS),
    )
    return get_peft_model(transformer, config)


def _write(
    pipeline: Any,
    transformer: Any,
    folder: Path,
    settings: CosmosSettings,
    plan: CosmosPlan,
    episodes: Sequence[RobotEpisode],
) -> None:
    """The folder of the world: weights whole, or a LoRA and the base it goes on."""
    deviations = np.concatenate([episode.actions for episode in episodes]).std(axis=0)
    scale = tuple(round(float(value), 6) for value in np.maximum(deviations, 1e-3))
    base = str(getattr(pipeline.config, "_name_or_path", "") or "") if plan.rank else ""
    write_settings(replace(settings, action_scale=scale, base=base), folder)
    if plan.rank:
        transformer.save_pretrained(folder / LORA)
    else:
        pipeline.save_pretrained(folder)
    drop_checkpoint(folder)
