"""Where an episode on the simulated table begins: how the tray lies, and what the robot is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

OBJECTS = ("milk", "bread", "cereal", "can")
BIN_NAMES = ("rear left bin", "front left bin", "rear right bin", "front right bin")
"""As the third-person cameras see them; number by number robosuite's own compartments."""

BUSSING, SWAPPED = "table_bussing", "swapped_table_bussing"
TASKS = (BUSSING, SWAPPED)
SPLITS: Mapping[str, str] = {BUSSING: "in_distribution", SWAPPED: "out_of_distribution"}
DESTINATIONS: Mapping[str, tuple[int, ...]] = {BUSSING: (0, 1, 2, 3), SWAPPED: (3, 2, 1, 0)}
"""The bin of each object by its number; the second mapping is in no practice episode."""

TRAY_LOW, TRAY_HIGH = (0.0, -0.42), (0.2, -0.10)
APART = 0.13
MOST_YAW = 0.5


@dataclass(frozen=True, slots=True)
class Placement:
    """One object on the tray: the middle of its footprint in metres, and how far it is turned."""

    x: float
    y: float
    yaw: float


@dataclass(frozen=True, slots=True)
class TableStart:
    """An initial condition: all four objects on the tray, the arm's joints a little off, one object
    named."""

    id: str
    task: str
    named: int
    placements: tuple[Placement, ...]
    joints: tuple[float, ...]

    @property
    def named_object(self) -> str:
        """The object of the instruction."""
        return OBJECTS[self.named]

    @property
    def bin(self) -> int:
        """The bin of the instruction."""
        return DESTINATIONS[self.task][self.named]

    @property
    def instruction(self) -> str:
        """What the robot is told."""
        return say(self.named, self.bin)

    @property
    def seed(self) -> int:
        """The seed of a policy's own chance, the same wherever the episode is run."""
        return seed_of(self.id)

    @property
    def split(self) -> str:
        """In or out of the distribution that models practise on."""
        return SPLITS[self.task]


def say(named: int, bin_number: int) -> str:
    """The instruction for an object and a bin."""
    return f"put the {OBJECTS[named]} into the {BIN_NAMES[bin_number]}"


def parse(instruction: str) -> tuple[int, int]:
    """The object and the bin of an instruction, or ValueError."""
    named = [n for n, name in enumerate(OBJECTS) if f" {name} " in instruction]
    bins = [n for n, name in enumerate(BIN_NAMES) if name in instruction]
    if len(named) != 1 or len(bins) != 1:
        raise ValueError(
            f"The instruction {instruction!r} names no object and bin of this table. "
            f"Say for example {say(0, 0)!r}."
        )
    return named[0], bins[0]


def draw_start(name: str, task: str, secret: str = "") -> TableStart:
    """The start of that name: the same name and secret are the same start, everywhere and for ever.

    An operator's secret makes private starts: without it nobody can draw them.
    """
    rng = np.random.default_rng(seed_of("start", secret, name))
    named = int(rng.integers(len(OBJECTS)))
    joints = tuple(float(value) for value in rng.normal(0.0, 0.02, 7))
    return TableStart(name, task, named, _placements(rng), joints)


def seed_of(*words: object) -> int:
    """A seed from words."""
    return int.from_bytes(sha256("|".join(map(str, words)).encode()).digest()[:8], "big")


def _placements(rng: np.random.Generator) -> tuple[Placement, ...]:
    """Places that leave the fingers room between any two objects."""
    while True:
        places = rng.uniform(TRAY_LOW, TRAY_HIGH, (len(OBJECTS), 2))
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        if gaps[np.triu_indices(len(OBJECTS), 1)].min() > APART:
            break
    yaws = rng.uniform(-MOST_YAW, MOST_YAW, len(OBJECTS))
    return tuple(
        Placement(float(x), float(y), float(yaw)) for (x, y), yaw in zip(places, yaws, strict=True)
    )
