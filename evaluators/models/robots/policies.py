"""The seven policies that an evaluator has to tell apart: what each sees with, and how it errs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from evaluators.contracts.robot_policy import PolicyView, RobotPolicy
from evaluators.models.robots.cloning import Clone, words
from evaluators.models.robots.eyes import OBJECTS, TableEyes
from evaluators.models.robots.seeing import as_input, look
from evaluators.models.robots.weights import WEIGHTS, open_clone, open_eyes
from evaluators.worlds.tabletop.planner import Errand, SeenTable, plan
from evaluators.worlds.tabletop.starts import parse
from evaluators.worlds.tabletop.views import Frames

NEAREST = -1
ALL_NAMES = (0, 1, 2, 3)
HALF_NAMES = (0, 1, NEAREST, NEAREST)
"""What a policy that was shown only milk and bread by name makes of the four names: one that it
never heard means whatever is nearest to the hand."""

SHIFT = (0.05, -0.12)
"""How far off, in metres, a badly calibrated policy believes the bins."""

HOLDS = 0.5


@dataclass(frozen=True, slots=True)
class SeeingPolicy:
    """Looks, believes what it sees, and does what the hand-written planner makes of that.

    `names` is what it takes each name for. Where the hand is it is told by its proprioception,
    which is itself read off the pictures; objects it sees beside its hand.
    """

    eyes: TableEyes
    names: tuple[int, ...] = ALL_NAMES
    shift: tuple[float, float] = (0.0, 0.0)

    def act(self, view: PolicyView) -> npt.NDArray[np.float32]:
        """One plan from one look."""
        seen = look(self.eyes, view.frames[None])
        named, to = parse(view.instruction)
        hand = np.asarray(view.proprioception, np.float64)
        objects = (hand[:3] + seen.beside[0]).astype(np.float64)
        table = SeenTable(
            hand=hand[:3],
            turn=hand[3:6],
            objects=objects,
            yaws=seen.yaws[0].astype(np.float64),
            holds=bool(seen.held[0, OBJECTS] < HOLDS),
        )
        return plan(table, Errand(self._target(named, table), to, shift=self.shift))

    def _target(self, named: int, table: SeenTable) -> int:
        meant = self.names[named]
        gaps = np.linalg.norm(table.objects[:, :2] - table.hand[:2], axis=1)
        return int(gaps.argmin()) if meant == NEAREST else meant


@dataclass(frozen=True, slots=True)
class ClonedPolicy:
    """Pictures and words to actions in one network; nothing between is written by hand."""

    clone: Clone

    def act(self, view: PolicyView) -> npt.NDArray[np.float32]:
        """What the network answers."""
        pictures = as_input(view.frames[None], self.clone.eyes.config.pixels)
        told = torch.from_numpy(words(view.instruction)[None])
        with torch.inference_mode():
            actions = self.clone(pictures, told)[0].numpy()
        return np.asarray(actions.reshape(-1, 7), np.float32)


@cache
def load_policies(folder: Path = WEIGHTS) -> dict[int, RobotPolicy]:
    """The seven by number, from the weights of a folder; every forward pass runs on one thread."""
    sharp, blurred = open_eyes(folder, "eyes"), open_eyes(folder, "blurred")
    return {
        1: SeeingPolicy(sharp),
        2: ClonedPolicy(open_clone(folder, "clone")),
        3: SeeingPolicy(blurred),
        4: SeeingPolicy(sharp, names=HALF_NAMES),
        5: SeeingPolicy(sharp),
        6: SeeingPolicy(sharp, shift=SHIFT),
        7: ClonedPolicy(open_clone(folder, "clone_few")),
    }


@cache
def _reader(folder: Path) -> TableEyes:
    return open_eyes(folder, "eyes")


def read_arm(frames: Frames, folder: Path = WEIGHTS) -> npt.NDArray[np.float32]:
    """Proprioception as a world model would have to give it: read off the pictures [views, height,
    width, RGB], in every source alike."""
    return np.asarray(look(_reader(folder), frames[None]).hands[0], np.float32)
