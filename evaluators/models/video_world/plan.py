"""How long and how a video world model is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VideoPlan:
    """The defaults are a small model's. `second_pace` is the share of minibatches at the other
    paces, `short` of those that look only two thirds as far ahead, `painted` the frames of a clip
    in which the painting is looked at each time. `half` multiplies in bfloat16, which is faster
    where the processor has it. Before all else come short courses of `sight_steps` and
    `motion_steps`."""

    steps: int = 4000
    batch: int = 16
    rate: float = 1e-3
    decay: float = 0.05
    warm_up: int = 100
    average: float = 0.995
    second_pace: float = 0.2
    short: float = 0.5
    painted: int = 6
    seed: int = 0
    keep_every: int = 250
    motion_steps: int = 1500
    sight_steps: int = 3000
    sight_rate: float = 1e-3
    half: bool = False
