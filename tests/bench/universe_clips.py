"""The recorded clips that `tests/bench/universe.py` trains and examines on, kept in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.media import Pixels
from evaluators.suites.universe.bank import FILE, SPACE, read_rows
from evaluators.suites.universe.bank_making import labelled
from evaluators.suites.universe.course.reader import shrunk
from evaluators.worlds.doom.engine import running
from evaluators.worlds.doom.places import HOME
from evaluators.worlds.doom.sessions import SessionOrder

TRAINING, CHOOSING, EXAMINING = 0, 80_000, 160_000
"""The first session of each kind: strategies, rates and mixtures were chosen by clips of the
second; the tables are of the third, by which nothing was chosen."""


@dataclass(frozen=True, slots=True)
class Clips:
    """Labelled clips at the size the small model takes: clip, frame, height, width, RGB."""

    frames: Pixels
    labels: tuple[tuple[str, str], ...]

    def first(self, number: int) -> Clips:
        """The first so many."""
        return Clips(self.frames[:number], self.labels[:number])


def home_clips(number: int, first: int, folder: Path | None = None) -> Clips:
    """Clips of the place of adaptation, from a session on; with a folder they are recorded once."""

    def record() -> Clips:
        with running() as engine:
            return _recorded(engine.record, number, first)

    return _once(f"{first}-{number}", folder, record)


def bank_clips(environment: str, folder: Path | None = None) -> Clips:
    """The open bank's clips of an environment."""

    def play() -> Clips:
        rows = [row for row in read_rows(FILE) if row.clip.environment == environment]
        frames = np.stack([shrunk(row.clip.frames()) for row in rows])
        return Clips(frames, tuple((row.action, row.character) for row in rows))

    return _once(environment, folder, play)


def _once(name: str, folder: Path | None, make: Callable[[], Clips]) -> Clips:
    """Made, or as they lie in the folder since they were made."""
    if folder is None:
        return make()
    file = folder / f"universe-clips-{name}.npz"
    return _read(file) if file.is_file() else _keep(make(), file)


def _recorded(record: Any, number: int, first: int) -> Clips:
    """Every action as often as any other: else the label that a yes/no question names would say
    something of its answer."""
    frames: list[Pixels] = []
    labels: list[tuple[str, str]] = []
    seen, most = Counter[str](), -(-number // len(SPACE.actions))
    for seed in range(first, first + 10 * number):
        session = record(SessionOrder(HOME, seed))
        for row in labelled(session):
            if seen[row.action] < most and len(frames) < number:
                seen[row.action] += 1
                frames.append(shrunk(session.clip(row.clip.take)))
                labels.append((row.action, row.character))
        if len(frames) == number:
            return Clips(np.stack(frames), tuple(labels))
    raise ValueError(f"{HOME} gave {len(frames)} clips of {number}.")


def _read(file: Path) -> Clips:
    with np.load(file, allow_pickle=False) as arrays:
        return Clips(arrays["frames"], tuple((str(a), str(c)) for a, c in arrays["labels"]))


def _keep(clips: Clips, file: Path) -> Clips:
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, frames=clips.frames, labels=np.array(clips.labels))
    return clips
