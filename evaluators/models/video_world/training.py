"""Trains a video world model: warm-up and cosine, a moving average, checkpoints that a killed run
goes on from."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from evaluators.models.video_world.beginning import begin
from evaluators.models.video_world.codec import VideoCodec, teach_codec
from evaluators.models.video_world.config import SHARES, Mode, VideoPlan, VideoWorldConfig
from evaluators.models.video_world.flow import LossRecipe, instance_losses
from evaluators.models.video_world.folder import TrainedWorld, save_model, write_tensors
from evaluators.models.video_world.lessons import Recording, VideoLessons, action_statistics
from evaluators.models.video_world.network import VideoNetwork, network_of

STATE = "training.safetensors"
Say = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class PreparedLessons:
    """Recordings as lessons, the codec that made them so, and the scales of their actions."""

    action_mean: tuple[float, ...]
    action_scale: tuple[float, ...]
    codec: VideoCodec
    lessons: VideoLessons


def train_world(
    recordings: Sequence[Recording],
    config: VideoWorldConfig,
    plan: VideoPlan,
    folder: Path,
    say: Say = lambda _step, _loss: None,
    codec: VideoCodec | None = None,
) -> TrainedWorld:
    """A world model from recordings alone, into a folder; killed, the network goes on from its last
    checkpoint. A codec that has learned already is taken as it is."""
    return train_on(prepare(recordings, config, codec), config, plan, folder, say)


def prepare(
    recordings: Sequence[Recording], config: VideoWorldConfig, codec: VideoCodec | None = None
) -> PreparedLessons:
    """What is made of recordings before any network learns, which hangs on no seed and no mode."""
    mean, scale = action_statistics(recordings)
    config = replace(config, action_mean=mean, action_scale=scale).checked()
    if codec is None:
        codec = VideoCodec(config)
        frames = np.concatenate([recording.frames.swapaxes(0, 1) for recording in recordings])
        teach_codec(codec, frames)
    lessons = VideoLessons.of(recordings, codec.eval(), config)
    return PreparedLessons(mean, scale, codec, lessons)


def train_on(
    prepared: PreparedLessons, config: VideoWorldConfig, plan: VideoPlan, folder: Path, say: Say
) -> TrainedWorld:
    """The same from recordings that are prepared already, by a config that sees alike."""
    from accelerate import PartialState

    mean, scale = prepared.action_mean, prepared.action_scale
    config = replace(config, action_mean=mean, action_scale=scale).checked()
    network = train_network(prepared, config, plan, folder, say)
    model = TrainedWorld(config, prepared.codec, network)
    if PartialState().is_main_process:
        save_model(model, folder)
        (folder / STATE).unlink(missing_ok=True)
    PartialState().wait_for_everyone()
    return model


def train_network(
    prepared: PreparedLessons, config: VideoWorldConfig, plan: VideoPlan, folder: Path, say: Say
) -> VideoNetwork:
    """The network, from where the folder stands; every draw follows from the seed and the step."""
    from accelerate import Accelerator
    from diffusers.optimization import get_cosine_schedule_with_warmup

    torch.manual_seed(plan.seed)
    lessons = prepared.lessons
    model, shadow = (network_of(config, prepared.codec) for _ in range(2))
    accelerator = Accelerator(
        cpu=not torch.cuda.is_available(), mixed_precision="bf16" if plan.half else "no"
    )
    optimiser = torch.optim.AdamW(
        model.parameters(), plan.rate, (0.9, 0.99), weight_decay=plan.decay
    )
    slower = get_cosine_schedule_with_warmup(optimiser, plan.warm_up, plan.steps)
    first_step = _resume(folder, plan, model, shadow, optimiser)
    if not first_step:
        begin(model, lessons, config, plan)
        shadow.load_state_dict(model.state_dict())
    for _ in range(first_step):
        slower.step()
    network, optimiser = accelerator.prepare(model, optimiser)
    shadow.to(accelerator.device)
    prepared.codec.to(accelerator.device)
    recipe = LossRecipe(shares_of(config), config.context, config.shift, plan.painted)
    network.train()
    for step in range(first_step, plan.steps):
        draw = (plan.seed * 1_000_003 + step) * accelerator.num_processes
        rng = np.random.default_rng(draw + accelerator.process_index)
        torch.manual_seed(draw + accelerator.process_index)
        clip = _minibatch(lessons, config, plan, rng)
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        losses = instance_losses(network, clip, recipe, generator, accelerator.device)
        optimiser.zero_grad()
        accelerator.backward(losses.mean)
        accelerator.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        slower.step()
        _follow(shadow, model, min(plan.average, (step + 1) / (step + 10)))
        say(step + 1, losses.mean.item())
        if (step + 1) % plan.keep_every == 0 and accelerator.is_main_process:
            _keep(folder, plan, step + 1, model, shadow, optimiser)
    accelerator.wait_for_everyone()
    return shadow.eval()


def shares_of(config: VideoWorldConfig) -> dict[Mode, float]:
    """How often each mode is practised; one view has no other to fill in."""
    able = {mode: share for mode, share in SHARES.items() if mode in config.modes}
    if len(config.views) == 1:
        able.pop("cross_view", None)
    return able


def _minibatch(
    lessons: VideoLessons, config: VideoWorldConfig, plan: VideoPlan, rng: np.random.Generator
) -> Any:
    slow = len(config.paces) > 1 and rng.random() < plan.second_pace
    pace = int(rng.choice(config.paces[1:])) if slow else config.paces[0]
    short = rng.random() < plan.short
    groups = config.horizon // config.group
    horizon = max(1, groups * 2 // 3) * config.group if short else config.horizon
    return lessons.clips(config, plan.batch, horizon, pace, rng)


@torch.no_grad()
def _follow(shadow: VideoNetwork, model: VideoNetwork, average: float) -> None:
    for averaged, current in zip(shadow.parameters(), model.parameters(), strict=True):
        averaged.lerp_(current, 1 - average)


def _keep(
    folder: Path,
    plan: VideoPlan,
    step: int,
    model: VideoNetwork,
    shadow: VideoNetwork,
    optimiser: Any,
) -> None:
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"shadow.{name}": value for name, value in shadow.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items()}
    tensors["step"] = torch.tensor(step)
    tensors["plan"] = torch.frombuffer(bytearray(_plan_json(plan).encode()), dtype=torch.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / STATE, {name: value.contiguous() for name, value in tensors.items()})


def _resume(
    folder: Path, plan: VideoPlan, model: VideoNetwork, shadow: VideoNetwork, optimiser: Any
) -> int:
    """The step of the stored checkpoint with all states restored; 0 without one of this plan."""
    if not (folder / STATE).is_file():
        return 0
    tensors = load_file(folder / STATE)
    if bytes(tensors["plan"].numpy()).decode() != _plan_json(plan):
        return 0
    for prefix, module in (("model.", model), ("shadow.", shadow)):
        module.load_state_dict(
            {name.removeprefix(prefix): v for name, v in tensors.items() if name.startswith(prefix)}
        )
    states: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, number, part = name.split(".")
            states.setdefault(int(number), {})[part] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": states})
    return int(tensors["step"])


def _plan_json(plan: VideoPlan) -> str:
    return json.dumps(asdict(plan), sort_keys=True)
