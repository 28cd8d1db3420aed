"""What is asked of a bench on which worlds are tried: starts to roll out from, policies, and how an
arm is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import RobotPolicy
from evaluators.suites.sc3.rollouts.driving import Actions, DriveConfig, DrivenEpisode, Frames
from evaluators.worlds.lerobot.layout import RobotEpisode


class RolloutBench(Protocol):
    """A table of ours or a lab's robot, as far as a rollout or a kit has to know it."""

    @property
    def config(self) -> DriveConfig: ...
    @property
    def rate(self) -> float: ...
    @property
    def views(self) -> tuple[str, ...]: ...
    @property
    def native(self) -> tuple[int, int]:
        """The size of its own pictures."""

    def policies(self) -> Mapping[int, RobotPolicy]:
        """Those that are at hand by their numbers; a lab's own are behind addresses."""

    def driven(self, start: str, mode: str, size: tuple[int, int]) -> DrivenEpisode:
        """What to roll out from a start, its first frames in that size."""

    def arm(
        self, episode: DrivenEpisode, frames: Frames, actions: Actions
    ) -> npt.NDArray[np.float32]:
        """What a policy may know of its arm inside a world model."""

    def practice(self, count: int, size: tuple[int, int]) -> Iterable[RobotEpisode]:
        """Episodes to learn from, none of them from a start that is measured on."""
