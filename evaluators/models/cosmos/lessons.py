"""What a Cosmos 3 transformer practises on: a clip in one of three modes, told apart by what is
clean, and the loss of flow matching on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from evaluators.models.cosmos.embodiment import (
    CosmosSettings,
    Floats,
    Frames,
    tile_of,
    tiled,
    to_cosmos,
)

Mode = Literal["forward", "cross_view", "inverse"]
SHARES: Mapping[Mode, float] = {"forward": 0.8, "cross_view": 0.1, "inverse": 0.1}
TIMESTEPS = 1000


@dataclass(frozen=True, slots=True)
class ActionClip:
    """Some seconds of a robot: views [views, n + 1, height, width, 3], actions [n, 7] between, what
    it was told, frames a second."""

    frames: Frames
    actions: Floats
    instruction: str
    rate: float


@dataclass(frozen=True, slots=True)
class CosmosLesson:
    """A clip as tokens: latents [1, channels, t, h, w], actions [n, width], the prompt's ids, and
    which latents are clean (1) in this mode."""

    mode: Mode
    latents: Tensor
    actions: Tensor
    prompt: tuple[int, ...]
    clean: Tensor
    rate: float


def make_lesson(
    pipeline: Any, clip: ActionClip, settings: CosmosSettings, mode: Mode, view: int
) -> CosmosLesson:
    """Encode a clip; in cross-view the tile of `view` is clean at every moment."""
    canvas = tiled(clip.frames, settings)
    pixels = torch.from_numpy(canvas).permute(3, 0, 1, 2)[None].float() / 127.5 - 1
    device = pipeline.vae.device
    with torch.no_grad():
        latents = pipeline._encode_video(pixels.to(device))
    numbers = torch.from_numpy(to_cosmos(clip.actions, settings.turn))
    actions = torch.zeros(len(numbers), pipeline.transformer.config.action_dim)
    actions[:, : numbers.shape[1]] = numbers
    prompt, _ = pipeline.tokenize_prompt(
        clip.instruction,
        "",
        num_frames=len(canvas),
        height=canvas.shape[1],
        width=canvas.shape[2],
        fps=clip.rate,
        action_mode={"inverse": "inverse_dynamics"}.get(mode, "forward_dynamics"),
        action_view_point="concat_view",
    )
    clean = _clean(latents, mode, view, settings, canvas.shape[1])
    return CosmosLesson(mode, latents, actions.to(device), tuple(prompt), clean, clip.rate)


def lesson_loss(
    pipeline: Any, transformer: Any, lesson: CosmosLesson, chance: torch.Generator
) -> Tensor:
    """The mean squared error of the predicted velocity over what was noised in this instance."""
    device, dtype = lesson.latents.device, next(transformer.parameters()).dtype
    sigma = float(torch.sigmoid(torch.randn((), generator=chance)))
    noise = torch.randn(lesson.latents.shape, generator=chance).to(device)
    action_noise = torch.randn(lesson.actions.shape, generator=chance).to(device)
    width = 10
    action_noise[:, width:] = 0
    inverse = lesson.mode == "inverse"
    noised = (1 - sigma) * lesson.latents + sigma * noise
    vision = torch.where(lesson.clean, lesson.latents, noised)
    actions = (1 - sigma) * lesson.actions + sigma * action_noise if inverse else lesson.actions
    packed = pack(pipeline, lesson, sigma)
    predicted, _, predicted_actions = transformer(
        **packed, vision_tokens=[vision.to(dtype)], action_tokens=[actions.to(dtype)]
    )
    if inverse:
        target = (action_noise - lesson.actions)[:, :width]
        return torch.nn.functional.mse_loss(predicted_actions[0][:, :width].float(), target)
    velocity: Tensor = predicted[0].float().reshape(lesson.latents.shape)
    return (velocity - (noise - lesson.latents))[~lesson.clean].square().mean()


def pack(pipeline: Any, lesson: CosmosLesson, sigma: float) -> dict[str, Any]:
    """The tokens' places in the sequence, as the pipeline packs them when it samples."""
    device, inverse = lesson.latents.device, lesson.mode == "inverse"
    text = pipeline._prepare_text_segment(list(lesson.prompt), device=device)
    offset, begin = text["vision_start_temporal_offset"], text["und_len"]
    frames = range(lesson.latents.shape[2]) if inverse else range(1)
    vision = pipeline._prepare_vision_segment(
        lesson.latents, True, offset, lesson.rate, begin, device, list(frames)
    )
    begin += vision["num_vision_tokens"]
    known = [] if inverse else list(range(len(lesson.actions)))
    action = pipeline._prepare_action_segment(
        lesson.actions, known, offset, lesson.rate, begin, device
    )
    joint = {**text, **vision, **action}
    places = [joint[f"{part}_mrope_ids"] for part in ("text", "vision", "action")]
    names = (
        "input_ids text_indexes und_len vision_token_shapes vision_sequence_indexes "
        "vision_mse_loss_indexes vision_noisy_frame_indexes action_token_shapes "
        "action_sequence_indexes action_mse_loss_indexes action_noisy_frame_indexes"
    )
    moment = sigma * TIMESTEPS
    return {
        **{name: joint[name] for name in names.split()},
        "position_ids": torch.cat(places, dim=1),
        "sequence_length": begin + joint["action_len"],
        "vision_timesteps": torch.full((joint["num_noisy_vision_tokens"],), moment, device=device),
        "action_timesteps": torch.full((joint["num_noisy_action_tokens"],), moment, device=device),
        "action_domain_ids": [torch.tensor([domain_of(pipeline)], device=device)],
        "return_dict": False,
    }


def domain_of(pipeline: Any, name: str = "robomind-franka") -> int:
    """The number of an embodiment in Cosmos' tables."""
    from diffusers.pipelines.cosmos.pipeline_cosmos3_omni import _EMBODIMENT_TO_DOMAIN_ID

    domain = int(_EMBODIMENT_TO_DOMAIN_ID[name])
    return min(domain, int(pipeline.transformer.config.num_embodiment_domains) - 1)


def _clean(latents: Tensor, mode: Mode, view: int, settings: CosmosSettings, pixels: int) -> Tensor:
    """What is not noised: everything in inverse, the first moment otherwise, and a view's tile."""
    clean = torch.zeros_like(latents, dtype=torch.bool)
    clean[:, :, 0] = True
    if mode == "inverse":
        clean[:] = True
    elif mode == "cross_view":
        scale = pixels // latents.shape[3]
        rows, columns = tile_of(view, settings)
        clean[
            ...,
            rows.start // scale : rows.stop // scale,
            columns.start // scale : columns.stop // scale,
        ] = True
    return clean


def draw_mode(rng: np.random.Generator, shares: Mapping[Mode, float] = SHARES) -> Mode:
    """A mode for one instance."""
    names = list(shares)
    weights = np.array([shares[name] for name in names])
    return names[int(rng.choice(len(names), p=weights / weights.sum()))]
