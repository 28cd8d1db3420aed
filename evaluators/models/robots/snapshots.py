"""Single moments of the table for eyes to learn from: hands at work or astray, objects anywhere.
Most moments are made by moving things, not by rolling physics, so thousands take minutes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.worlds.tabletop.engine import (
    BIN_CENTRES,
    BIN_HALF,
    REST_HEIGHTS,
    TABLE_TOP,
    Floats,
    TableState,
)
from evaluators.worlds.tabletop.episodes import TableStage
from evaluators.worlds.tabletop.library import PIXELS
from evaluators.worlds.tabletop.planner import EXECUTED
from evaluators.worlds.tabletop.play import Wandering
from evaluators.worlds.tabletop.practice import Expert
from evaluators.worlds.tabletop.starts import (
    BUSSING,
    DESTINATIONS,
    OBJECTS,
    SWAPPED,
    TRAY_HIGH,
    TRAY_LOW,
    draw_start,
    seed_of,
)
from evaluators.worlds.tabletop.trials import draw_trial
from evaluators.worlds.tabletop.views import Frames, shrink

VERSION = "1"
SHEET = 160
"""Moments a file: as many as two or three scenes give."""

STEPS, EVERY = 80, 4
WANDERS, IN_BIN, TOPPLED, MOVED = 0.3, 0.4, 0.15, 0.7
APART, FROM_HAND, HIGH_HAND = 0.09, 0.09, 0.28
BEYOND = 0.03
"""How far past the edge of where starts lie objects may be put: pushed things lie there."""

SIDES = np.array((0.03, 0.035, 0.04, 0.035))
"""Half of how thick each object is, lying on its side."""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Moments: frames [n, views, height, width, RGB], hands [n, 8], objects with yaw [n, 4, 4],
    what is held [n], and the bin of each object [n, 4], -1 for none."""

    frames: Frames
    hands: npt.NDArray[np.float32]
    objects: npt.NDArray[np.float32]
    held: npt.NDArray[np.int64]
    bins: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.held)


def make_snapshots(
    names: Sequence[str],
    root: Path,
    everywhere: bool = False,
    told: Callable[[str], None] = lambda _name: None,
) -> list[Path]:
    """The sheets of these names; what is missing is taken, some seconds each. Unless `everywhere`,
    nothing ever lies in the bin that is its own only in the swapped task."""
    folder = root / f"tabletop-snapshots-{VERSION}-{'everywhere' if everywhere else 'bussing'}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.npz" for name in names]
    missing = [path for path in paths if not path.exists()]
    stage = TableStage.open() if missing else None
    for path in missing:
        if stage is not None and not path.exists():
            _save(path, take_snapshots(path.stem, stage, everywhere))
            told(path.stem)
    return paths


def read_snapshots(paths: Sequence[Path]) -> Snapshots:
    """All moments of some sheets."""
    parts: dict[str, list[Any]] = {field.name: [] for field in fields(Snapshots)}
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            for name, rows in parts.items():
                rows.append(file[name])
    return Snapshots(**{name: np.concatenate(rows) for name, rows in parts.items()})


def leaks(moments: Snapshots) -> int:
    """In how many moments an object lies where only the swapped task puts it."""
    return int((moments.bins == np.array(DESTINATIONS[SWAPPED])).any(axis=1).sum())


def take_snapshots(name: str, stage: TableStage, everywhere: bool, count: int = SHEET) -> Snapshots:
    """The sheet of that name: the same name is the same sheet."""
    moments: list[tuple[Any, ...]] = []
    rng, scene = np.random.default_rng(seed_of("snapshots", name, everywhere)), 0
    while len(moments) < count:
        scene += 1
        moments += _scene(f"snapshots-{name}-{scene}", stage, rng, everywhere)
    columns = zip(*moments[:count], strict=True)
    return Snapshots(*(np.stack(column) for column in columns))


def _scene(
    name: str, stage: TableStage, rng: np.random.Generator, everywhere: bool
) -> list[tuple[Any, ...]]:
    """A hand at work or astray, at every fourth step, the rest of the table mostly shuffled."""
    table = stage.table
    state = table.set(draw_start(name, BUSSING), draw_trial(name))
    table.arrange(partial(_shuffled, rng=rng, everywhere=everywhere, share=0.5))
    act = Wandering(rng).act if rng.random() < WANDERS else Expert(rng).act
    moments = []
    for step in range(STEPS):
        if step % EXECUTED == 0:
            chunk = act(state, step)
        state = table.step(chunk[step % EXECUTED])
        if step % EVERY == EVERY - 1:
            moment = _moment(name, step, stage, rng, everywhere)
            if everywhere or not _leaks(moment[-1]):
                moments.append(moment)
    return moments


def _moment(
    name: str, step: int, stage: TableStage, rng: np.random.Generator, everywhere: bool
) -> tuple[Any, ...]:
    """What is seen and true now; what was moved for it is put back."""
    share = MOVED if rng.random() < MOVED else 0.0
    shuffle = partial(_shuffled, rng=rng, everywhere=everywhere, share=share)
    with stage.table.arranged(shuffle, draw_trial(f"{name}-{step}")) as state:
        frames = shrink(stage.cameras.render(), PIXELS)
    objects = np.concatenate([state.objects, state.yaws[:, None]], axis=1)
    return (
        frames,
        state.proprioception,
        objects.astype(np.float32),
        np.int64(state.held),
        np.array(state.bins, np.int64),
    )


def _shuffled(
    state: TableState, rng: np.random.Generator, everywhere: bool, share: float
) -> dict[int, tuple[Floats, Floats]]:
    """New places for some objects that the hand is not at: position and quaternion by number."""
    places = state.objects[:, :2].copy()
    moved: dict[int, tuple[Floats, Floats]] = {}
    for number in rng.permutation(len(OBJECTS)):
        away = np.linalg.norm(places[number] - state.hand[:2]) > FROM_HAND
        if number == state.held or not away or rng.random() > share:
            continue
        for _ in range(20):
            place, quaternion = _drawn(int(number), rng, everywhere)
            others = np.delete(places, number, axis=0)
            clear = np.linalg.norm(others - place[:2], axis=1).min() > APART
            far = np.linalg.norm(place[:2] - state.hand[:2]) > FROM_HAND
            if clear and (far or state.hand[2] > TABLE_TOP + HIGH_HAND):
                places[number], moved[int(number)] = place[:2], (place, quaternion)
                break
    return moved


def _drawn(number: int, rng: np.random.Generator, everywhere: bool) -> tuple[Floats, Floats]:
    """A place on the tray or in a bin, upright or now and then on its side."""
    swapped = DESTINATIONS[SWAPPED][number]
    if rng.random() < IN_BIN:
        allowed = [n for n in range(len(BIN_CENTRES)) if everywhere or n != swapped]
        chosen = int(rng.choice(allowed))
        flat = BIN_CENTRES[chosen] + rng.uniform(-1, 1, 2) * (BIN_HALF - 0.035)
    else:
        flat = rng.uniform(np.array(TRAY_LOW) - BEYOND, np.array(TRAY_HIGH) + BEYOND)
    half = rng.uniform(-np.pi, np.pi) / 2 if rng.random() < 0.3 else rng.uniform(-0.4, 0.4)
    upright = np.array((np.cos(half), 0.0, 0.0, np.sin(half)))
    if rng.random() > TOPPLED:
        return np.append(flat, TABLE_TOP + REST_HEIGHTS[number]), upright
    return np.append(flat, TABLE_TOP + SIDES[number]), _on_its_side(upright)


def _on_its_side(upright: Floats) -> Floats:
    """Turned by a quarter about its own first axis, then as it stands."""
    w, _, _, z = upright
    return np.asarray(np.array((w, w, z, z)) / np.sqrt(2), np.float64)


def _leaks(bins: npt.NDArray[np.int64]) -> bool:
    return bool((bins == np.array(DESTINATIONS[SWAPPED])).any())


def _save(path: Path, moments: Snapshots) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("wb") as file:
        np.savez(file, **{f.name: getattr(moments, f.name) for f in fields(Snapshots)})
    os.replace(part, path)
