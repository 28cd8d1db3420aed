"""Trains the small dynamics model: warm-up and cosine, a moving average, checkpoints that a killed
run goes on from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from evaluators.models.dynamics.data import Practice
from evaluators.models.dynamics.flow_matching import SHARES, loss
from evaluators.models.dynamics.model import Dynamics, DynamicsConfig, LatentClip, Mode
from evaluators.models.dynamics.tokeniser import EyesConfig, Tokeniser, in_parts
from evaluators.worlds.actions import Actions

WEIGHTS, CONFIG, STATE = "model.safetensors", "config.json", "training.safetensors"
FITTED = 1500
"""Clips to which the linear part of the dynamics is fitted."""

WEIGHED = 64
"""Frames on which it is measured how much of the picture hangs on each latent."""


@dataclass(frozen=True, slots=True)
class DynamicsPlan:
    """How to train; the defaults are the small model's, the paper's are 24,000 steps of 512 at
    1e-4."""

    steps: int = 2000
    batch: int = 32
    rate: float = 2e-3
    decay: float = 0.05
    warm_up: int = 60
    average: float = 0.99
    pseudo_actions: float = 0.5
    second_stride: float = 0.5
    shares: Mapping[Mode, float] = field(default_factory=lambda: dict(SHARES))
    seed: int = 0
    keep_every: int = 200


@dataclass(frozen=True, slots=True)
class LatentLessons:
    """Practice as latents [n, steps + 1, views, latent] with commands and the arm's own moves,
    normalised, and how much of the picture hangs on each latent [views, latent]."""

    latents: Tensor
    commands: Tensor
    moves: Tensor
    weight: Tensor
    mean: tuple[float, ...]
    scale: tuple[float, ...]


def prepare(practice: Practice, tokeniser: Tokeniser) -> LatentLessons:
    """Encode all frames once, and put actions on the scale of the practice."""
    frames = torch.from_numpy(practice.frames)
    with torch.no_grad():
        flat = in_parts(tokeniser.encode, frames.flatten(0, 1))
    latents = torch.unflatten(flat, 0, frames.shape[:2])
    mean, scale = action_scale(practice.commands)
    numbers = (torch.tensor(mean), torch.tensor(scale))
    commands, moves = (
        (torch.from_numpy(rows) - numbers[0]) / numbers[1]
        for rows in (practice.commands, practice.moves)
    )
    latent_sample = latents.flatten(0, 1)[:: max(1, latents.shape[0] * latents.shape[1] // WEIGHED)]
    return LatentLessons(latents, commands, moves, tokeniser.weights(latent_sample), mean, scale)


def action_scale(actions: Actions) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation of each dimension; one that never moves keeps its scale. The mean is 0 but
    for the width's."""
    flat = actions.reshape(-1, actions.shape[-1])
    scale = [float(value) if value > 1e-6 else 1.0 for value in flat.std(0)]
    return (0.0,) * (len(scale) - 1) + (float(flat[:, -1].mean()),), tuple(scale)


def train(
    lessons: LatentLessons,
    tokeniser: Tokeniser,
    plan: DynamicsPlan,
    folder: Path,
    config: DynamicsConfig | None = None,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
) -> Dynamics:
    """Train from where the folder stands; every random draw follows from the seed and the step."""
    from accelerate import Accelerator
    from diffusers.optimization import get_cosine_schedule_with_warmup

    config = replace(config or DynamicsConfig(), inverse="inverse" in plan.shares).checked()
    config = replace(config, action_mean=lessons.mean, action_scale=lessons.scale)
    torch.manual_seed(plan.seed)
    model, shadow = Dynamics(config), Dynamics(config)
    model.middle.copy_(tokeniser.mean)
    model.spread.copy_(tokeniser.deviation)
    if config.nearness:
        fitting_plan = replace(plan, batch=FITTED, second_stride=0.0)
        model.fit_drift(
            _clip(lessons, config, fitting_plan, torch.Generator().manual_seed(plan.seed))
        )
    shadow.load_state_dict(model.state_dict())
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    optimiser = torch.optim.AdamW(
        model.parameters(), plan.rate, (0.9, 0.99), weight_decay=plan.decay
    )
    slower = get_cosine_schedule_with_warmup(optimiser, plan.warm_up, plan.steps)
    first_step = _resume(folder, plan, model, shadow, optimiser)
    for _ in range(first_step):
        slower.step()
    network, optimiser = accelerator.prepare(model, optimiser)
    shadow, weight = shadow.to(accelerator.device), lessons.weight.to(accelerator.device)
    for step in range(first_step, plan.steps):
        draw = (
            plan.seed * 1_000_003 + step
        ) * accelerator.num_processes + accelerator.process_index
        generator = torch.Generator().manual_seed(draw)
        step_loss = loss(
            network, _clip(lessons, config, plan, generator), plan.shares, generator, weight
        )
        optimiser.zero_grad()
        accelerator.backward(step_loss)
        accelerator.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        slower.step()
        _follow(shadow, model, min(plan.average, (step + 1) / (step + 10)))
        on_step(step + 1, step_loss.item())
        if (
            (step + 1) % plan.keep_every == 0
            and step + 1 < plan.steps
            and accelerator.is_main_process
        ):
            _keep(folder, plan, step + 1, model, shadow, optimiser)
    if accelerator.is_main_process:
        save(shadow, tokeniser, folder)
        (folder / STATE).unlink(missing_ok=True)
    accelerator.wait_for_everyone()
    return shadow


def save(model: Dynamics, tokeniser: Tokeniser, folder: Path) -> None:
    """A model folder: safetensors and config.json, nothing that could run."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"dynamics.{name}": value.contiguous() for name, value in model.state_dict().items()}
    tensors |= {
        f"tokeniser.{name}": value.contiguous() for name, value in tokeniser.state_dict().items()
    }
    _write(folder / WEIGHTS, tensors)
    description = {**model.config.as_json(), "eyes": asdict(tokeniser.config)}
    (folder / CONFIG).write_text(json.dumps(description, indent=1, sort_keys=True) + "\n")


def load(folder: Path) -> tuple[Dynamics, Tokeniser]:
    """The model and its tokeniser from a folder."""
    stored = json.loads((folder / CONFIG).read_text())
    eyes = EyesConfig(**stored.pop("eyes"))
    fields = {name: stored[name] for name in DynamicsConfig.__dataclass_fields__ if name in stored}
    listed: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()
    }
    config = DynamicsConfig(**listed).checked()
    if (eyes.views, eyes.latent) != (config.views, config.latent):
        raise ValueError(
            f"The eyes see {eyes.views} views of {eyes.latent} numbers, the dynamics take "
            f"{config.views} of "
            f"{config.latent}. Save a model together with the tokeniser it was trained with."
        )
    model, tokeniser = Dynamics(config), Tokeniser(eyes)
    tensors = load_file(folder / WEIGHTS)
    for prefix, module in (("dynamics.", model), ("tokeniser.", tokeniser)):
        module.load_state_dict(
            {name.removeprefix(prefix): v for name, v in tensors.items() if name.startswith(prefix)}
        )
    return model.eval(), tokeniser.eval()


def keep_tau(folder: Path, tau: float | None) -> None:
    """Write the tau a model is to be stopped with, chosen on starts it is not measured on, into its
    folder."""
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(
        json.dumps({**config, "tau": tau}, indent=1, sort_keys=True) + "\n"
    )


def _clip(
    lessons: LatentLessons, config: DynamicsConfig, plan: DynamicsPlan, generator: torch.Generator
) -> LatentClip:
    """A minibatch at one pace; commands or the arm's own moves; actions of two steps are added
    where it goes double."""
    two = (
        len(config.strides) > 1 and float(torch.rand((), generator=generator)) < plan.second_stride
    )
    stride = config.strides[1] if two else config.strides[0]
    span = stride * config.horizon
    episodes = torch.randint(0, len(lessons.latents), (plan.batch,), generator=generator)
    first = torch.randint(
        0, lessons.commands.shape[1] - span + 1, (plan.batch,), generator=generator
    )
    steps = first[:, None] + torch.arange(span)
    pseudo = (torch.rand(plan.batch, generator=generator) < plan.pseudo_actions)[:, None, None]
    rows = episodes[:, None], steps
    actions = torch.where(pseudo, lessons.moves[rows], lessons.commands[rows])
    frames = lessons.latents[episodes[:, None], steps[:, stride - 1 :: stride] + 1].transpose(1, 2)
    before = lessons.latents[episodes, first]
    return LatentClip(before, frames, _at_pace(actions, stride), torch.full((plan.batch,), stride))


def _at_pace(actions: Tensor, stride: int) -> Tensor:
    grouped = torch.unflatten(actions, 1, (-1, stride))
    return torch.cat([grouped[..., :-1].sum(2), grouped[:, :, -1, -1:]], dim=-1)


@torch.no_grad()
def _follow(shadow: Dynamics, model: Dynamics, average: float) -> None:
    for averaged, current in zip(shadow.parameters(), model.parameters(), strict=True):
        averaged.lerp_(current, 1 - average)


def _keep(
    folder: Path, plan: DynamicsPlan, step: int, model: Dynamics, shadow: Dynamics, optimiser: Any
) -> None:
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"shadow.{name}": value for name, value in shadow.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items()}
    tensors["step"] = torch.tensor(step)
    tensors["plan"] = torch.from_numpy(np.frombuffer(_plan_json(plan).encode(), np.uint8).copy())
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / STATE, {name: value.contiguous() for name, value in tensors.items()})


def _resume(
    folder: Path, plan: DynamicsPlan, model: Dynamics, shadow: Dynamics, optimiser: Any
) -> int:
    """The step of the stored checkpoint, with all states restored; 0 without one, or with one of
    another plan."""
    if not (folder / STATE).is_file():
        return 0
    tensors = load_file(folder / STATE)
    if bytes(tensors["plan"].numpy()).decode() != _plan_json(plan):
        return 0
    for prefix, module in (("model.", model), ("shadow.", shadow)):
        module.load_state_dict(
            {name.removeprefix(prefix): v for name, v in tensors.items() if name.startswith(prefix)}
        )
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, number, part = name.split(".")
            state.setdefault(int(number), {})[part] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    return int(tensors["step"])


def _plan_json(plan: DynamicsPlan) -> str:
    return json.dumps(asdict(plan), sort_keys=True)


def _write(path: Path, tensors: Mapping[str, Tensor]) -> None:
    spot = path.with_name(path.name + ".part")
    save_file(dict(tensors), spot)
    os.replace(spot, path)
