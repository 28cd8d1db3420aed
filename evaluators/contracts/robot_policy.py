"""What a robot policy is shown and has to answer, in numpy alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

PROPOSED = 25
"""How many actions a policy proposes at a time."""


@dataclass(frozen=True, slots=True)
class PolicyView:
    """What a policy knows when it plans: the newest frame of each camera uint8 [views, height,
    width, RGB], its own proprioception, what it was told, and where its chance comes from.

    The proprioception is what can be known inside a world model: read off its frames, or reckoned
    from the actions so far. `step` counts the actions executed.
    """

    frames: npt.NDArray[np.uint8]
    proprioception: npt.NDArray[np.float32]
    instruction: str
    seed: int
    step: int = 0


class RobotPolicy(Protocol):
    """Proposes the next actions, float32 [25, 7], the same for the same view."""

    def act(self, view: PolicyView) -> npt.NDArray[np.float32]: ...
