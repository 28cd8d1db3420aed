"""Where an episode of the simulated bench begins: which objects lie where, and what the robot is
told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

Colour = tuple[int, int, int]

UTENSILS: Mapping[str, Colour] = {
    "yellow cup": (236, 208, 30),
    "orange cup": (240, 120, 20),
    "blue bowl": (40, 70, 225),
    "white bowl": (250, 250, 250),
    "orange plate": (205, 70, 0),
    "chopstick": (120, 60, 20),
    "spoon": (0, 0, 95),
}
TRASH: Mapping[str, Colour] = {
    "chip bag": (215, 20, 45),
    "plastic lid": (20, 200, 210),
    "plastic container": (150, 70, 200),
    "foil tray": (255, 150, 205),
    "bottle": (20, 150, 60),
}
OBJECTS = (*UTENSILS, *TRASH)
COLOURS: tuple[Colour, ...] = (*UTENSILS.values(), *TRASH.values())
BIN_NAMES = ("utensil bin", "trash can")
BINS = ((0.16, 0.86), (0.84, 0.86))
"""Utensils belong into the first and trash into the second; in the reversed task it is the other
way round."""

FORWARD, REVERSED = "table_bussing", "reverse_table_bussing"
TASKS = (FORWARD, REVERSED)
SPLITS: Mapping[str, str] = {FORWARD: "in_distribution", REVERSED: "out_of_distribution"}
APART = 0.38


@dataclass(frozen=True, slots=True)
class Start:
    """An initial condition: a utensil and a piece of trash on the table, and which of the two is
    named."""

    id: str
    task: str
    objects: tuple[str, str]
    places: tuple[tuple[float, float], tuple[float, float]]
    named: int
    hand: tuple[float, float, float]

    @property
    def named_object(self) -> str:
        """The object of the instruction."""
        return self.objects[self.named]

    @property
    def instruction(self) -> str:
        """What the robot is told."""
        return f"put the {self.named_object} into the {BIN_NAMES[self.bin_of(self.named)]}"

    @property
    def seed(self) -> int:
        """The seed of a policy's own chance, the same wherever the episode is run."""
        return seed_of(self.id)

    def bin_of(self, which: int) -> int:
        """The bin where this task puts that object: 0 the utensils' in the forward task."""
        return which if self.task == FORWARD else 1 - which


def draw_start(name: str, task: str) -> Start:
    """The start of that name: the same name is the same start, everywhere and for ever."""
    rng = np.random.default_rng(seed_of(name))
    objects = (str(rng.choice(list(UTENSILS))), str(rng.choice(list(TRASH))))
    places = _places(rng)
    hand = (
        float(rng.uniform(0.4, 0.6)),
        float(rng.uniform(0.55, 0.7)),
        float(rng.uniform(0.45, 0.55)),
    )
    return Start(name, task, objects, places, int(rng.integers(2)), hand)


def seed_of(*words: object) -> int:
    """A seed from words."""
    return int.from_bytes(sha256("|".join(map(str, words)).encode()).digest()[:8], "big")


def _places(rng: np.random.Generator) -> tuple[tuple[float, float], tuple[float, float]]:
    while True:
        first, second = rng.uniform((0.12, 0.12), (0.88, 0.52), (2, 2))
        if np.linalg.norm(first - second) > APART:
            return (float(first[0]), float(first[1])), (float(second[0]), float(second[1]))
