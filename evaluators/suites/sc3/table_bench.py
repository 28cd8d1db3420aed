"""The suite's own table as a bench: its starts, the seven policies, an arm that is read off the
pictures, practice, and what a handed-in rollout is replayed with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import PolicyView, RobotPolicy
from evaluators.suites.sc3.rollouts.driving import DriveConfig, DrivenEpisode
from evaluators.suites.sc3.rollouts.replay import ReplayBench
from evaluators.suites.sc3.table.recordings import read_recording
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE
from evaluators.worlds.actions import RATE_HZ, Actions
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.pictures import Size
from evaluators.worlds.tabletop.episodes import LIMIT, TableStage
from evaluators.worlds.tabletop.library import PIXELS
from evaluators.worlds.tabletop.practice import practise
from evaluators.worlds.tabletop.starts import TableStart
from evaluators.worlds.tabletop.trials import draw_trial
from evaluators.worlds.tabletop.views import NATIVE, VIEWS, Frames, shrink

Floats = npt.NDArray[np.float32]

CONFIG = DriveConfig(limit=LIMIT)


class BadSize(ValueError):
    """The table cannot be shown in pictures of this size; the message says in which it can."""


@dataclass(frozen=True, slots=True)
class SightedPolicy:
    """One of the seven, which sees 64 pixels of whatever size a world shows."""

    policy: RobotPolicy

    def act(self, view: PolicyView) -> Floats:
        """What it proposes."""
        frames = sighted(view.frames)
        return self.policy.act(
            PolicyView(frames, view.proprioception, view.instruction, view.seed, view.step)
        )


@dataclass(frozen=True, slots=True)
class TableBench:
    """Our table, as far as a rollout or a kit has to know it; `folder` holds its recordings."""

    folder: Path = SHIPPED_TABLE
    config: DriveConfig = CONFIG
    rate: float = RATE_HZ
    views: tuple[str, ...] = VIEWS
    native: tuple[int, int] = (NATIVE.height, NATIVE.width)

    def policies(self) -> Mapping[int, RobotPolicy]:
        """The seven."""
        return _policies()

    def driven(self, start: str, mode: str, size: tuple[int, int]) -> DrivenEpisode:
        """What to roll out from a start: its first frames of 64 pixels are kept, larger ones are
        drawn by the simulator."""
        recording = read_recording(self.folder, start)
        first = recording.first if _pixels(size) == PIXELS else _draw(recording.start, size)
        return DrivenEpisode(
            start,
            recording.policy,
            recording.start.instruction,
            recording.start.seed,
            first,
            _read_arm(recording.first),
            recording.actions if mode == "offline" else None,
        )

    def arm(self, _episode: DrivenEpisode, frames: Frames, _actions: Actions) -> Floats:
        """Where a network sees the arm in the newest pictures, in every source alike."""
        return _read_arm(sighted(frames))

    def practice(self, count: int, size: tuple[int, int]) -> Iterator[RobotEpisode]:
        """A hand-written expert that also errs, from starts that nobody is measured on."""
        _pixels(size)
        stage = TableStage.open(Size(*size)) if count else None
        for number in range(count):
            assert stage is not None
            episode = practise(f"{number:04d}", stage)
            yield RobotEpisode(
                dict(zip(VIEWS, episode.frames, strict=True)),
                episode.actions,
                episode.proprioception,
                episode.instruction,
            )


def replay_bench(folder: Path, start: str, source: str, pixels: int) -> ReplayBench:
    """What a rollout from a start is replayed with, at the 64 pixels that policies see of its own
    number of pixels. Half of the simulator's own picture is kept exactly; other sizes are drawn."""
    bench = TableBench(folder)
    recording = read_recording(folder, start)
    episode = bench.driven(start, source, (PIXELS, PIXELS))
    if pixels not in (PIXELS, NATIVE.height):
        episode = replace(episode, first=sighted(_draw(recording.start, (pixels, pixels))))
    return ReplayBench(
        episode,
        bench.policies()[recording.policy],
        bench.arm,
        recording.actions,
        bench.config,
    )


def sighted(frames: Frames) -> Frames:
    """Frames as policies and the annotator see them, 64 pixels a side."""
    _pixels((frames.shape[-3], frames.shape[-2]))
    return shrink(frames, PIXELS)


def _pixels(size: tuple[int, int]) -> int:
    height, width = size
    if height != width or height < PIXELS or height % PIXELS:
        raise BadSize(
            f"The pictures are {height} x {width}. The table is shown in squares of {PIXELS}, "
            f"{2 * PIXELS} or {4 * PIXELS} pixels a side."
        )
    return height


@cache
def _policies() -> dict[int, RobotPolicy]:
    from evaluators.models.robots.policies import load_policies

    return {number: SightedPolicy(policy) for number, policy in load_policies().items()}


def _read_arm(frames: Frames) -> Floats:
    from evaluators.models.robots.policies import read_arm

    return read_arm(frames)


@cache
def _stage(size: tuple[int, int]) -> TableStage:
    return TableStage.open(Size(*size))


def _draw(start: TableStart, size: tuple[int, int]) -> Frames:
    """The first frames of the real run, with the cameras as they stood in that trial."""
    stage = _stage(size)
    stage.table.set(start, draw_trial(f"real-{start.id}"))
    return stage.cameras.render()
