"""A Cosmos 3 pipeline behind the contract of a world model: forward dynamics with its actions, and
the actions that its inverse mode reads back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers import Cosmos3OmniPipeline
from diffusers.pipelines.cosmos.pipeline_cosmos3_omni import CosmosActionCondition
from PIL import Image

from evaluators.contracts.world_model import (
    FORWARD,
    INVERSE,
    ForwardRequest,
    InverseRequest,
    WorldCard,
)
from evaluators.media import sha256_file
from evaluators.models.cosmos.embodiment import (
    CosmosSettings,
    Floats,
    Frames,
    from_cosmos,
    read_settings,
    tiled,
    to_cosmos,
    untiled,
)
from evaluators.models.device import pick_device

LORA = "lora"
VIEW_POINT = "concat_view"
TEMPORAL = 4
"""So many frames share a latent one: a clip has a multiple of them and one."""


@dataclass(frozen=True)
class CosmosWorld:
    """A pipeline and what it is told about the robot; it answers one request after another, since
    the pipeline takes one."""

    pipeline: Any
    settings: CosmosSettings
    name: str
    revision: str

    @property
    def card(self) -> WorldCard:
        """What it says of itself."""
        settings = self.settings
        return WorldCard(
            self.name,
            self.revision,
            settings.views,
            settings.height,
            settings.width,
            settings.rate,
            chunk=settings.chunk,
            modes=(FORWARD, INVERSE),
            action_scale=settings.action_scale,
            tau=settings.tau,
        )

    inpaint = None

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Frames]:
        """Forward dynamics from the newest frames."""
        return [self._forward(request) for request in requests]

    def inverse(self, requests: Sequence[InverseRequest]) -> list[Floats]:
        """Inverse dynamics of a clip."""
        return [self._inverse(request) for request in requests]

    def _forward(self, request: ForwardRequest) -> Frames:
        first = tiled(request.context[:, -1:], self.settings)
        count = len(request.actions)
        padded = -(-count // TEMPORAL) * TEMPORAL
        actions = torch.from_numpy(to_cosmos(request.actions, self.settings.turn))
        condition = self._condition("forward_dynamics", padded, image=Image.fromarray(first[0]))
        condition["raw_actions"] = actions
        video = self._run(request, condition, "np").video
        return untiled(_sized(video[1 : count + 1], first.shape[1:3]), self.settings)

    def _inverse(self, request: InverseRequest) -> Floats:
        canvas = tiled(request.frames, self.settings)
        count = len(canvas) - 1
        padded = -(-count // TEMPORAL) * TEMPORAL
        clip = [Image.fromarray(frame) for frame in canvas]
        condition = self._condition("inverse_dynamics", padded, video=clip)
        numbers = self._run(request, condition, "latent").action[0].float().numpy()[:count]
        return from_cosmos(numbers, self.settings.turn)

    def _condition(self, mode: str, chunk: int, **picture: Any) -> dict[str, Any]:
        return {
            "mode": mode,
            "chunk_size": chunk,
            "domain_name": self.settings.domain,
            "resolution_tier": self.settings.tier,
            "view_point": VIEW_POINT,
            **picture,
        }

    @torch.no_grad()
    def _run(
        self, request: ForwardRequest | InverseRequest, condition: dict[str, Any], output: str
    ) -> Any:
        return self.pipeline(
            prompt=request.instruction,
            fps=self.settings.rate,
            num_inference_steps=self.settings.steps,
            guidance_scale=1.0,
            generator=torch.Generator("cpu").manual_seed(request.seed % 2**63),
            output_type=output,
            enable_safety_check=False,
            action=CosmosActionCondition(**condition),
        )


def open_cosmos(folder: Path, device: str = "cpu") -> CosmosWorld:
    """The world in a folder of a Cosmos 3 pipeline, with its LoRA if it has one. The guardrail is
    not run: frames of a robot at work go to an annotator, not to the public."""
    place = torch.device(pick_device(device))
    dtype = torch.float32 if place.type == "cpu" else torch.bfloat16
    settings = read_settings(folder)
    pipeline = Cosmos3OmniPipeline.from_pretrained(
        settings.base or folder,
        dtype=dtype,
        enable_safety_checker=False,
        local_files_only=True,
    )
    if (folder / LORA).is_dir():
        from peft import PeftModel

        adapted = PeftModel.from_pretrained(pipeline.transformer, str(folder / LORA))
        pipeline.transformer = adapted.merge_and_unload()
    pipeline.set_progress_bar_config(disable=True)
    return CosmosWorld(pipeline.to(place), settings, folder.resolve().name, _revision(folder))


def _revision(folder: Path) -> str:
    """The weights tell one folder from another: the transformer's and those of a LoRA."""
    files = sorted(
        [*folder.glob("transformer/*.safetensors"), *folder.glob(f"{LORA}/*.safetensors")]
    )
    return "-".join(sha256_file(path)[:16] for path in files)


def _sized(video: Any, size: tuple[int, ...]) -> Frames:
    frames = np.clip(np.rint(np.asarray(video, np.float32) * 255), 0, 255).astype(np.uint8)
    if frames.shape[1:3] == size:
        return frames
    return np.stack(
        [np.asarray(Image.fromarray(frame).resize((size[1], size[0]))) for frame in frames]
    )
