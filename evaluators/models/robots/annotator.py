"""The board's annotator of table rollouts: eyes of its own read where things are in some frames,
and the simulator's own rule says from that what held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.models.robots.eyes import OBJECTS, TableEyes
from evaluators.models.robots.seeing import Reading, look
from evaluators.models.robots.weights import WEIGHTS, open_eyes
from evaluators.worlds.tabletop.engine import LOW, TABLE_TOP, bin_of
from evaluators.worlds.tabletop.planner import GRASP_HEIGHTS
from evaluators.worlds.tabletop.starts import parse
from evaluators.worlds.tabletop.views import Frames

EVERY = 4
CLOSED_WIDTH = 0.068
TRIED_WITHIN, SLACK = 0.09, 0.03
RAISED = 0.06
AT_END = 3


@dataclass(frozen=True, slots=True)
class TableAnnotator:
    """Looks at every fourth frame; what eyes see it takes for true."""

    eyes: TableEyes

    def annotate(self, frames: Frames, instruction: str) -> ObjectOutcome:
        """The criteria of a rollout [views, T + 1, height, width, RGB]."""
        return self.read(frames[:, ::EVERY], instruction)

    def read(self, frames: Frames, instruction: str) -> ObjectOutcome:
        """The criteria, from frames that are every fourth already."""
        return held_by(look(self.eyes, frames.swapaxes(0, 1)), instruction)

    def read_as_it_goes(
        self, frames: Frames, instruction: str, counts: Sequence[int]
    ) -> list[ObjectOutcome]:
        """The criteria after so many of the first frames, each of which is looked at once."""
        seen = look(self.eyes, frames.swapaxes(0, 1))
        return [held_by(seen.first(count), instruction) for count in counts]


def held_by(seen: Reading, instruction: str) -> ObjectOutcome:
    """What the simulator's rule says of what was seen."""
    named, to = parse(instruction)
    tried = _tried(seen)
    if tried < 0:
        return ObjectOutcome(False, False, False)
    lifted = _lifted(seen, tried)
    placed = lifted and _lies_in(seen, tried, to)
    return ObjectOutcome(tried == named, lifted, placed)


@cache
def shipped_annotator(folder: Path = WEIGHTS) -> TableAnnotator:
    """The one of the board."""
    return TableAnnotator(open_eyes(folder, "annotator"))


def _holds(seen: Reading) -> npt.NDArray[np.bool_]:
    return np.asarray(seen.held[:, OBJECTS] < 0.5)


def _tried(seen: Reading) -> int:
    """The object nearest to the hand when it first closed low over the tray, -1 for none."""
    width = seen.hands[:, 6] - seen.hands[:, 7]
    low = seen.hands[:, 2] < TABLE_TOP + LOW + SLACK
    for moment in np.flatnonzero((width < CLOSED_WIDTH) & low):
        gaps = np.linalg.norm(seen.objects[moment, :, :2] - seen.hands[moment, :2], axis=1)
        if _holds(seen)[moment]:
            return int(seen.held[moment, :OBJECTS].argmax())
        if gaps.min() < TRIED_WITHIN:
            return int(gaps.argmin())
    return -1


def _lifted(seen: Reading, tried: int) -> bool:
    """Twice in a row the hand was seen holding something above where it grasps that object."""
    high = _holds(seen) & (seen.hands[:, 2] > GRASP_HEIGHTS[tried] + RAISED)
    return bool((high[1:] & high[:-1]).any())


def _lies_in(seen: Reading, tried: int, to: int) -> bool:
    place = np.median(seen.objects[-AT_END:, tried], axis=0)
    return bin_of(place) == to and not bool(_holds(seen)[-AT_END:].all())
