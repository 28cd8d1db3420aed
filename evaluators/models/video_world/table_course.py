"""How the small model of the simulated table is made: practice that is recorded once, episodes that
it never learns from, and a tau from those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from evaluators.contracts.world_model import ForwardRequest, InverseRequest, imagine, recover
from evaluators.metrics.uncertainty import ActionChunk, chunk_uncertainty
from evaluators.models.video_world.config import VideoPlan, VideoWorldConfig
from evaluators.models.video_world.lessons import Recording
from evaluators.models.video_world.world import VideoWorld
from evaluators.worlds.tabletop.library import PLAYED, PracticeClip, make_practice, read_practice

HELD_OUT = 8
"""One episode in so many is never learned from."""

MOTION = tuple(range(6))
"""The numbers of an action that move the arm; the seventh is the gripper's."""

CHUNK, SURE = 16, 0.95

SHIPPED = VideoPlan(
    steps=5000, batch=8, rate=4e-4, second_pace=0.1, sight_steps=5000, keep_every=500, half=True
)
"""How the shipped model was trained; the experiment's are trained for less."""


class LeakedPractice(ValueError):
    """Practice shows what only the swapped task shows; nothing may learn from it."""


@dataclass(frozen=True, slots=True)
class TableCourse:
    """So many errands of an expert that errs, so many episodes of play, and how to learn from
    them."""

    errands: int = 128
    plays: int = 64
    config: VideoWorldConfig = field(default_factory=VideoWorldConfig)
    plan: VideoPlan = field(
        default_factory=lambda: VideoPlan(
            steps=1500, batch=6, rate=5e-4, second_pace=0.1, sight_steps=1500, half=True
        )
    )

    @property
    def names(self) -> tuple[str, ...]:
        """All episodes."""
        errands = (f"{number:04d}" for number in range(self.errands))
        return (*errands, *(f"{PLAYED}{number:04d}" for number in range(self.plays)))


@dataclass(frozen=True, slots=True)
class TablePractice:
    """What is learned from and what is kept for measuring."""

    learned: tuple[Recording, ...]
    held_out: tuple[Recording, ...]


def practise_table(
    course: TableCourse, cache: Path, told: Callable[[str], None] = lambda _name: None
) -> TablePractice:
    """The practice of a course; what is missing is recorded, which takes some seconds an
    episode."""
    clips = [read_practice(path) for path in make_practice(course.names, cache, told)]
    return part_practice(clips)


def part_practice(clips: Sequence[PracticeClip]) -> TablePractice:
    """Frames and actions alone, parted by name; LeakedPractice if a clip shows swapped bins."""
    if leaked := [clip.name for clip in clips if clip.leaks]:
        raise LeakedPractice(f"The practice episodes {', '.join(leaked)} show swapped bins.")
    parts: dict[bool, list[Recording]] = {False: [], True: []}
    for clip in clips:
        parts[is_held_out(clip.name)].append(Recording(clip.frames, clip.actions))
    return TablePractice(tuple(parts[False]), tuple(parts[True]))


def is_held_out(name: str) -> bool:
    """Whether an episode is kept for measuring.

    >>> is_held_out("0007"), is_held_out("play-0008")
    (True, False)
    """
    return int(name.removeprefix(PLAYED)) % HELD_OUT == HELD_OUT - 1


def usual_u(world: VideoWorld, recordings: Sequence[Recording]) -> list[float]:
    """U of chunks that the world imagines from the true past of recordings."""
    scale, context = np.array(world.card.action_scale), world.card.context
    values = []
    for recording in recordings:
        for now in range(0, len(recording.actions) - CHUNK + 1, CHUNK):
            first = max(0, now - context + 1)
            past, actions = recording.actions[first:now], recording.actions[now : now + CHUNK]
            seen = recording.frames[:, first : now + 1]
            (ahead,) = imagine(world, [ForwardRequest("", now, "", seen, past, actions)])
            film = np.concatenate([seen[:, -1:], ahead], axis=1)
            (back,) = recover(world, [InverseRequest("", now, "", film)])
            values.append(chunk_uncertainty(ActionChunk(actions / scale, back / scale), CHUNK))
    return values


def usual_tau(world: VideoWorld, recordings: Sequence[Recording]) -> float:
    """The U that one chunk in twenty exceeds on recordings that nobody is measured on: no outcome
    of any policy is looked at."""
    return float(np.quantile(usual_u(world, recordings), SURE))


def with_modes(course: TableCourse, modes: tuple[str, ...], horizon: int, seed: int) -> TableCourse:
    """The same course for a variant of the model."""
    return replace(
        course,
        config=replace(course.config, modes=modes, horizon=horizon),
        plan=replace(course.plan, seed=seed),
    )
