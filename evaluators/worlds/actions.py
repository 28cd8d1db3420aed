"""What an arm is told: seven numbers a tenth of a second, and how they are checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Actions = npt.NDArray[np.float32]

RATE_HZ = 10
ACTION_WIDTH = 7
"""Translation (3), axis-angle rotation (3), gripper (1)."""


class BadActions(ValueError):
    """The actions cannot be carried out; the message says why."""


def check_actions(
    actions: npt.NDArray[np.floating], steps: int | None = None, width: int = ACTION_WIDTH
) -> Actions:
    """The actions as float32 rows of so many numbers, or BadActions; `steps` asks for that many."""
    if actions.ndim < 2 or actions.shape[-1] != width:
        raise BadActions(f"The actions have shape {actions.shape}. Give {width} numbers a step.")
    if steps is not None and actions.shape[-2] != steps:
        raise BadActions(f"There are {actions.shape[-2]} actions where {steps} are asked for.")
    if not np.isfinite(actions).all():
        at = int(np.argwhere(~np.isfinite(actions))[0][-2])
        raise BadActions(
            f"The action of step {at} is not a finite number. Give finite numbers only."
        )
    return actions.astype(np.float32)
