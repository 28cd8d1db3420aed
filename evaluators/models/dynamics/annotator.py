"""The automatic annotator: reads the state of the table off frames and says which criteria a
rollout met.

A small classifier fitted to simulated frames with known truth. People's labels take precedence over
it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.models.dynamics.data import STEPS, Practice, practise
from evaluators.models.dynamics.tokeniser import STATE, Eyes, EyesConfig, Tokeniser, in_parts
from evaluators.models.dynamics.tokeniser_training import (
    SightPlan,
    repainted,
    scenes_of,
    train_tokeniser,
)
from evaluators.worlds.bussing.starts import FORWARD, REVERSED, Start
from evaluators.worlds.bussing.views import Frames

LOOKS = 15
"""Moments of a rollout that are looked at, evenly from first to last."""

HIDDEN, CLOSE, CUT_SHORT = 96, 0.35, 0.3
BLURRED = 60
"""Episodes on which it is measured how far off the eyes are."""


@dataclass(frozen=True, slots=True)
class AnnotatorPlan:
    """How much the annotator practises."""

    sight: SightPlan = field(default_factory=SightPlan)
    episodes: int = 6000
    steps: int = 900
    batch: int = 256
    rate: float = 3e-3
    seed: int = 7


class Annotator(nn.Module):
    """Eyes for single frames and, over fifteen of them, a small network with three answers."""

    def __init__(self, config: EyesConfig | None = None) -> None:
        super().__init__()
        self.eyes = Eyes(config or EyesConfig())
        features = LOOKS * (STATE + 4) + 4
        self.verdict = nn.Sequential(
            nn.Linear(features, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, 3),
        )

    @torch.no_grad()
    def annotate(
        self, frames: Sequence[Frames], starts: Sequence[Start]
    ) -> tuple[ObjectOutcome, ...]:
        """What holds in each rollout [views, steps + 1, height, width, RGB]; one stopped early
        stays as it stopped.

        All criteria are about something being done: where no frame differs from the first, none
        holds.
        """
        states = torch.stack([self._states(rollout) for rollout in frames])
        happened = torch.tensor([[bool((rollout != rollout[:, :1]).any())] for rollout in frames])
        answers = (self.verdict(_features(states, starts)) > 0) & happened
        return tuple(ObjectOutcome(*(bool(value) for value in row)) for row in answers)

    def _states(self, frames: Frames) -> Tensor:
        rows = _looks(frames.shape[1])
        chosen = torch.from_numpy(np.ascontiguousarray(frames[:, rows])).transpose(0, 1)
        return self.eyes.read(self.eyes(chosen))


def _looks(length: int) -> list[int]:
    """Frame numbers, evenly from first to last; a rollout shorter than in training repeats its last
    frame."""
    whole = max(length - 1, STEPS)
    return [min(round(number * whole / (LOOKS - 1)), length - 1) for number in range(LOOKS)]


def train_annotator(plan: AnnotatorPlan) -> Annotator:
    """Train the encoder on frames, then the network on states with the encoder's errors added; both
    tasks, every kind of end."""
    tokeniser = train_tokeniser(
        practise(plan.sight.episodes, plan.seed), replace(plan.sight, seed=plan.seed)
    )
    annotator = Annotator(tokeniser.config)
    annotator.eyes.load_state_dict(tokeniser.eyes.state_dict())
    off = _blur(tokeniser, practise(BLURRED, plan.seed + 3))
    practices = [
        practise(plan.episodes // 2, plan.seed + n, task, pictures=False)
        for n, task in ((1, FORWARD), (2, REVERSED))
    ]
    _train(annotator, practices, off, plan)
    return annotator.eval()


@torch.no_grad()
def _blur(tokeniser: Tokeniser, practice: Practice) -> Tensor:
    """How far off the eyes are, on frames as they are and as the tokeniser paints them."""
    scenes = scenes_of(practice)
    both = torch.cat([scenes.frames, repainted(tokeniser, scenes.frames)])
    read = in_parts(lambda part: tokeniser.eyes.read(tokeniser.eyes(part)), both)
    return read - torch.cat([scenes.states] * 2)


def _train(
    annotator: Annotator, practices: Sequence[Practice], off: Tensor, plan: AnnotatorPlan
) -> None:
    states = torch.from_numpy(np.concatenate([practice.states for practice in practices]))[
        :, _looks(STEPS + 1)
    ]
    starts = [start for practice in practices for start in practice.starts]
    truth = torch.from_numpy(np.concatenate([practice.truth for practice in practices]))[
        :, _looks(STEPS + 1)
    ]
    instructions = _encode_instructions(starts)
    optimiser = torch.optim.Adam(annotator.verdict.parameters(), lr=plan.rate, weight_decay=1e-5)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, plan.steps)
    for _ in range(plan.steps):
        rows = torch.randint(0, len(states), (plan.batch,))
        ends = _ends(plan.batch)
        errors = off[torch.randint(0, len(off), (plan.batch, LOOKS))]
        frame_numbers = torch.minimum(torch.arange(LOOKS)[None], ends[:, None])
        features = _with_instructions(
            states[rows[:, None], frame_numbers] + errors, instructions[rows]
        )
        loss = nn.functional.binary_cross_entropy_with_logits(
            annotator.verdict(features), truth[rows, ends]
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        slower.step()


def _ends(count: int) -> Tensor:
    """Where a rollout ends: at its last frame or, for some, anywhere before, after which the frame
    is repeated."""
    early = torch.rand(count) < CUT_SHORT
    return torch.where(early, torch.randint(0, LOOKS, (count,)), LOOKS - 1)


def _features(states: Tensor, starts: Sequence[Start]) -> Tensor:
    return _with_instructions(states, _encode_instructions(starts))


def _with_instructions(states: Tensor, instructions: Tensor) -> Tensor:
    """States, each object's distance from the hand and height, and the encoded instruction."""
    hand, objects = states[..., :3], torch.unflatten(states[..., 5:], -1, (2, 3))
    gaps = (hand[..., None, :2] - objects[..., :2]).norm(dim=-1).clamp(max=CLOSE) / CLOSE
    low = torch.sigmoid((objects[..., 2] - 0.1) * 30)
    return torch.cat([torch.cat([states, gaps, low], dim=-1).flatten(1), instructions], dim=1)


def _encode_instructions(starts: Sequence[Start]) -> Tensor:
    """Which object is named, and which bin."""
    rows = torch.zeros(len(starts), 4)
    for number, start in enumerate(starts):
        rows[number, start.named] = 1
        rows[number, 2 + start.bin_of(start.named)] = 1
    return rows


def to_bytes(annotator: Annotator) -> bytes:
    """The annotator as safetensors."""
    return save({name: value.contiguous() for name, value in annotator.state_dict().items()})


def open_annotator(path: Path) -> Annotator:
    """The annotator in a file."""
    annotator = Annotator()
    annotator.load_state_dict(load_file(path))
    return annotator.eval()


def main() -> None:
    """Train it and write it to a file: `python -m evaluators.models.dynamics.annotator FILE`, about
    three minutes."""
    torch.set_num_threads(1)
    Path(sys.argv[1]).write_bytes(to_bytes(train_annotator(AnnotatorPlan())))


if __name__ == "__main__":
    main()
