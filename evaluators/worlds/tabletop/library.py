"""Practice episodes as files: recorded once, found again by what they were recorded with."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.worlds.actions import Actions
from evaluators.worlds.tabletop.episodes import RecordedEpisode, TableStage
from evaluators.worlds.tabletop.play import play
from evaluators.worlds.tabletop.practice import leaks, practise
from evaluators.worlds.tabletop.views import Frames, shrink

VERSION = "3"
"""Raised whenever engine, cameras, planner or practice change what an episode looks like."""

PIXELS = 64
PLAYED = "play-"
"""How the names of episodes begin in which the hand wanders; in all others the expert errs."""


@dataclass(frozen=True, slots=True)
class PracticeClip:
    """An episode as a learner gets it: frames, actions, and the true state for those that are told
    it (perception and annotator are; the world model is not)."""

    name: str
    instruction: str
    frames: Frames
    actions: Actions
    hands: npt.NDArray[np.float32]
    objects: npt.NDArray[np.float32]
    held: npt.NDArray[np.int64]
    criteria: tuple[bool, bool, bool]
    tried: int
    leaks: int


def practice_folder(root: Path) -> Path:
    """Where the episodes of this version lie under a cache folder."""
    return root / f"tabletop-practice-{VERSION}-{PIXELS}"


def make_practice(
    names: Sequence[str], root: Path, told: Callable[[str], None] = lambda _name: None
) -> list[Path]:
    """The files of these episodes; what is missing is recorded, which takes some seconds each."""
    folder = practice_folder(root)
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not (folder / f"{name}.npz").exists()]
    stage = TableStage.open() if missing else None
    for name in missing:
        if stage is not None and not (folder / f"{name}.npz").exists():
            episode = (play if name.startswith(PLAYED) else practise)(name, stage)
            _save(folder / f"{name}.npz", episode)
            told(name)
    return [folder / f"{name}.npz" for name in names]


def read_practice(path: Path) -> PracticeClip:
    """An episode out of its file."""
    with np.load(path, allow_pickle=False) as file:
        language, lifting, placing = (bool(flag) for flag in file["criteria"])
        return PracticeClip(
            name=path.stem,
            instruction=str(file["instruction"]),
            frames=file["frames"],
            actions=file["actions"],
            hands=file["hands"],
            objects=file["objects"],
            held=file["held"],
            criteria=(language, lifting, placing),
            tried=int(file["tried"]),
            leaks=int(file["leaks"]),
        )


def _save(path: Path, episode: RecordedEpisode) -> None:
    outcome = episode.truth.outcome(episode.start)
    part = path.with_suffix(f".{os.getpid()}.part")
    objects = [
        np.concatenate([state.objects, state.yaws[:, None]], axis=1) for state in episode.states
    ]
    with part.open("wb") as file:
        np.savez(
            file,
            instruction=np.array(episode.instruction),
            frames=shrink(episode.frames, PIXELS),
            actions=episode.actions,
            hands=episode.proprioception,
            objects=np.stack(objects).astype(np.float32),
            held=np.array([state.held for state in episode.states]),
            criteria=np.array(
                [outcome.language_following, outcome.object_lifting, outcome.object_placing]
            ),
            tried=np.array(episode.truth.tried),
            leaks=np.array(leaks([episode])),
        )
    os.replace(part, path)
