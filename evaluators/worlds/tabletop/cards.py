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


SHARP = "eyes of 64 pixels from 10,880 moments of practice, hand-written planner"
CARDS = (
    PolicyCard(1, BUSSING, "sharp eyes", SHARP),
    PolicyCard(
        2, BUSSING, "cloned from many moments", "end to end, 64 pixels, 10,880 moments of practice"
    ),
    PolicyCard(
        3, BUSSING, "blurred eyes", "eyes of 32 pixels from 960 moments of practice, planner"
    ),
    PolicyCard(
        4, BUSSING, "knows half of the names", f"{SHARP}, told the names of milk and bread only"
    ),
    PolicyCard(5, SWAPPED, "sharp eyes", SHARP),
    PolicyCard(6, SWAPPED, "badly calibrated", f"{SHARP}, believes the bins 13 cm off"),
    PolicyCard(
        7, SWAPPED, "cloned from few moments", "end to end, 64 pixels, 960 moments of practice"
    ),
)
