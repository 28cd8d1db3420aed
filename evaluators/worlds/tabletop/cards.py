"""The seven policies by number: the task of each, what it is, and how well it was taught."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.worlds.tabletop.starts import BUSSING, SPLITS, SWAPPED


@dataclass(frozen=True, slots=True)
class PolicyCard:
    """One of the seven: its task, what it is, and how well it was taught."""

    id: int
    task: str
    title: str
    taught: str

    @property
    def split(self) -> str:
        """In or out of the distribution that world models practise on."""
        return SPLITS[self.task]


SHARP = "eyes of 64 pixels from 206 practice episodes, hand-written planner"
CARDS = (
    PolicyCard(1, BUSSING, "sharp eyes", SHARP),
    PolicyCard(
        2,
        BUSSING,
        "cloned from all demonstrations",
        "end to end, 64 pixels, 143 successes of 206 episodes",
    ),
    PolicyCard(3, BUSSING, "blurred eyes", "eyes of 32 pixels from 40 practice episodes, planner"),
    PolicyCard(
        4, BUSSING, "knows half of the names", f"{SHARP}, told the names of milk and bread only"
    ),
    PolicyCard(5, SWAPPED, "sharp eyes", SHARP),
    PolicyCard(6, SWAPPED, "badly calibrated", f"{SHARP}, believes the bins 13 cm off"),
    PolicyCard(
        7,
        SWAPPED,
        "cloned from few demonstrations",
        "end to end, 64 pixels, 36 successes of 60 episodes",
    ),
)
