"""Clips by their order: recorded once on this machine, kept by hash, checked each time."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.doom.engine import Engine, running
from evaluators.worlds.doom.places import FRAMES
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder, planned_controls

FOLDER = "ARMILLARY_CLIPS"
"""Where recorded clips are kept; without it, in the user's cache folder."""
TRIES = 3
"""On a very busy machine the game now and then draws a frame of another moment; a game that is
started anew draws it right."""


class OtherPixels(RuntimeError):
    """This machine's game draws a clip otherwise than it was drawn when the bank was made."""


@dataclass(frozen=True, slots=True)
class GameTake:
    """A take of a session, and the hash of its frames: `lead` without input, then fourteen."""

    environment: str
    seed: int
    take: int
    sha256: str
    lead: int = 0

    def frames(self) -> NDArray[np.uint8]:
        """The frames: from the folder of clips, or played and recorded."""
        path = clips_folder() / f"{self.sha256}.npz"
        kept = _read(path, self.lead + FRAMES)
        if kept is not None and digest(kept) == self.sha256:
            return kept
        for attempt in range(TRIES):
            if attempt:
                restart_engine()
            played = self.played()
            if len(played.frames) <= self.take:
                continue
            frames: NDArray[np.uint8] = played.frames[self.take]
            if digest(frames) == self.sha256:
                _keep(path, frames)
                return frames
        raise OtherPixels(
            f"The clip {self.sha256[:12]} of {self.environment} comes out otherwise here. "
            "Install vizdoom 1.3.2 from constraints.txt, on a machine with x86 processors."
        )

    def played(self) -> PlayedSession:
        """The session up to this take, as recorded."""
        return engine().record(SessionOrder(self.environment, self.seed, self.take + 1, self.lead))

    def controls(self) -> NDArray[np.float32]:
        """The buttons of the take, a row a frame; they follow from the seed, nothing is played."""
        order = SessionOrder(self.environment, self.seed, self.take + 1, self.lead)
        rows: NDArray[np.float32] = planned_controls(order)[-1]
        return rows


def digest(frames: NDArray[np.uint8]) -> str:
    """The SHA-256 of a clip's shape and pixels."""
    shape = "x".join(str(number) for number in frames.shape).encode()
    return hashlib.sha256(shape + np.ascontiguousarray(frames).tobytes()).hexdigest()


def engine() -> Engine:
    """The engine of this process; it ends with the process."""
    return _started()[0]


def restart_engine() -> None:
    """End the engine; whoever asks next gets another."""
    _started()[1].close()
    _started.cache_clear()


@cache
def _started() -> tuple[Engine, contextlib.ExitStack]:
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running()), stack


def clips_folder() -> Path:
    """The folder of recorded clips, which is made if it is not there."""
    told, cache_home = os.environ.get(FOLDER), os.environ.get("XDG_CACHE_HOME")
    place = Path(cache_home) if cache_home else Path.home() / ".cache"
    folder = Path(told) if told else place / "armillary" / "game-clips"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / "armillary-game-clips"
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _read(path: Path, count: int) -> NDArray[np.uint8] | None:
    try:
        with np.load(path, allow_pickle=False) as data:
            frames: NDArray[np.uint8] = data["frames"]
            return frames if len(frames) == count else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _keep(path: Path, frames: NDArray[np.uint8]) -> None:
    """Write it under another name first: a reader never meets half a file."""
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file,
    ):
        np.savez_compressed(file, frames=frames)
        file.close()
        Path(file.name).replace(path)
