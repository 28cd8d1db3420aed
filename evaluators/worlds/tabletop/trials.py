"""What differs between two runs from the same start: the actuators, the contacts, the cameras."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.worlds.tabletop.starts import seed_of

ACTION_NOISE = 0.04
GAIN_SPREAD = 0.03
FRICTION_SPREAD = 0.25
MASS_SPREAD = 0.2
CAMERA_DEGREES = 0.4
CAMERA_METRES = 0.004


@dataclass(frozen=True, slots=True)
class TrialNoise:
    """One trial's own chance: drawn from the trial's name alone, never from the start's.

    `name` empty is a trial without noise: what a perfect simulator believes.
    """

    name: str
    gain: npt.NDArray[np.float64]
    friction: float
    masses: npt.NDArray[np.float64]
    camera: npt.NDArray[np.float64]
    scale: float = 1.0

    def actuated(self, action: npt.NDArray[np.floating], step: int) -> npt.NDArray[np.float64]:
        """What the arm makes of a commanded action; the gripper's command is kept."""
        commanded = np.asarray(action, np.float64).copy()
        if self.name:
            rng = np.random.default_rng(seed_of("actuation", self.name, step))
            commanded[:6] = commanded[:6] * self.gain + rng.normal(
                0.0, ACTION_NOISE * self.scale, 6
            )
        return np.clip(commanded, -1.0, 1.0)


def draw_trial(name: str, scale: float = 1.0) -> TrialNoise:
    """The chance of the trial of that name; `scale` makes a noisier world."""
    if not name:
        return TrialNoise("", np.ones(6), 1.0, np.ones(4), np.zeros((2, 5)), scale)
    rng = np.random.default_rng(seed_of("trial", name))
    return TrialNoise(
        name=name,
        gain=1.0 + rng.normal(0.0, GAIN_SPREAD * scale, 6),
        friction=float(np.exp(rng.normal(0.0, FRICTION_SPREAD * scale))),
        masses=np.exp(rng.normal(0.0, MASS_SPREAD * scale, 4)),
        camera=np.concatenate(
            [rng.normal(0.0, CAMERA_DEGREES, (2, 2)), rng.normal(0.0, CAMERA_METRES, (2, 3))],
            axis=1,
        ),
        scale=scale,
    )


NO_NOISE = draw_trial("")
