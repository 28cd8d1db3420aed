"""A small learned world model: two frames and the controller in, the next frame out, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evaluators.media import Pixels

EDGE = 48
CONTROLS = 16
WEIGHTS = "next-frame.safetensors"


@dataclass(frozen=True, slots=True)
class Watched:
    """A piece of play: frames, and what the controller said at each."""

    frames: Pixels
    controls: NDArray[np.float64]


class NextFrame(nn.Module):
    """A residual on the last frame, from a few convolutions over two frames and the controls."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(6 + CONTROLS, width, 5, 2, 2), nn.ReLU(),
                                  nn.Conv2d(width, 2 * width, 5, 2, 2), nn.ReLU(),
                                  nn.Conv2d(2 * width, 2 * width, 3, 1, 1), nn.ReLU())  # fmt: skip
        self.up = nn.Sequential(nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU())
        self.last = nn.ConvTranspose2d(width, 3, 4, 2, 1)
        # It begins as the model that shows the last frame again.
        nn.init.zeros_(self.last.weight)

    def forward(self, before: Tensor, last: Tensor, controls: Tensor) -> Tensor:
        """The next frame; all frames are [batch, 3, height, width] from 0 to 1."""
        told = controls[:, :, None, None].expand(-1, -1, *last.shape[2:])
        change: Tensor = self.last(self.up(self.down(torch.cat([before, last, told], 1))))
        return last + change


@dataclass(frozen=True, slots=True)
class LearnedWorld:
    """The network as a world model; it works at 48 x 48 and shows what it makes at the size of what it was given."""

    network: NextFrame
    name: str = "small learned model"

    def rollout(self, o_initial: Pixels, a_seq: NDArray[np.float64], timesteps: int) -> Pixels:
        """Feed what was made back in, frame by frame."""
        _, height, width, _ = o_initial.shape
        shown = small(o_initial[-2:])
        before, last = shown[-2:][:1], shown[-1:]
        made = []
        with torch.inference_mode():
            for step in range(timesteps):
                told = torch.tensor(a_seq[step], dtype=torch.float32)[None]
                before, last = last, self.network(before, last, told).clamp(0, 1)
                made.append(last)
            large = nn.functional.interpolate(torch.cat(made), (height, width), mode="bilinear", align_corners=False)
        return np.asarray((large * 255).round().byte().permute(0, 2, 3, 1))


def train(
    plays: Sequence[Watched], steps: int, seed: int = 0, batch: int = 32, ahead: int = 3, rate: float = 2e-3,
    told: Callable[[int, float], None] | None = None,
) -> LearnedWorld:  # fmt: skip
    """Learn to make a few frames ahead from what it made itself, on the CPU, in minutes."""
    torch.manual_seed(seed)
    network = NextFrame()
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    rng = np.random.default_rng([seed, 17])
    shown = [small(play.frames) for play in plays]
    controls = [torch.tensor(play.controls, dtype=torch.float32) for play in plays]
    for step in range(steps):
        loss = _loss(network, *_drawn(shown, controls, rng, batch, ahead))
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        optimizer.step()
        if told:
            told(step, float(loss.detach()))
    return LearnedWorld(network.eval())


def save(world: LearnedWorld, folder: Path) -> Path:
    """The weights, as safetensors."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(world.network.state_dict(), folder / WEIGHTS)
    return folder


def load(folder: Path) -> LearnedWorld:
    """The world model of a folder."""
    from safetensors.torch import load_file

    network = NextFrame()
    network.load_state_dict(load_file(folder / WEIGHTS))
    return LearnedWorld(network.eval())


def small(frames: Pixels) -> Tensor:
    """Frames as the network takes them."""
    given = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float() / 255
    return nn.functional.interpolate(given, (EDGE, EDGE), mode="area")


def _drawn(shown: list[Tensor], controls: list[Tensor], rng: Any, batch: int, ahead: int) -> tuple[Tensor, Tensor]:
    frames, told = [], []
    for _ in range(batch):
        play = int(rng.integers(len(shown)))
        start = int(rng.integers(len(shown[play]) - ahead - 1))
        frames.append(shown[play][start : start + ahead + 2])
        told.append(controls[play][start + 2 : start + ahead + 2])
    return torch.stack(frames), torch.stack(told)


def _loss(network: NextFrame, frames: Tensor, told: Tensor) -> Tensor:
    before, last = frames[:, 0], frames[:, 1]
    total = torch.zeros(())
    for step in range(told.shape[1]):
        before, last = last, network(before, last, told[:, step])
        total = total + nn.functional.mse_loss(last, frames[:, step + 2])
    return total / told.shape[1]
