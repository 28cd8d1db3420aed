"""What a lab's folder says of its robot: real trials with their outcomes, and the LeRobot episodes
behind them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluators.contracts.robot_policy import RobotPolicy
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.reading import resized
from evaluators.suites.sc3.rollouts.driving import Actions, DriveConfig, DrivenEpisode, Frames
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, Trajectory
from evaluators.worlds.lerobot.layout import CAMERA, RobotEpisode
from evaluators.worlds.lerobot.reading import RobotDataset, open_dataset

EPISODES, PRACTICE, TABLE, SETTINGS = "episodes", "practice", "outcomes.csv", "bench.json"
COLUMNS = ("start", "policy", "split", "instruction", "object", *CRITERIA)
SPLIT = "in_distribution"
YES, NO = ("1", "true", "yes"), ("0", "false", "no")


class BadBench(ValueError):
    """The folder is no bench of a robot; the message says what is wrong and what to write."""


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """How a lab's bench is run: the most steps, those executed of a chunk, whether labels that come
    with rollouts count (`trusted`) or only people's in a blinded study, and whether an arm's state
    is its first (`first`) or that plus the actions so far (`deltas`)."""

    limit: int = 200
    execute: int = 16
    labels: Literal["trusted", "study"] = "study"
    arm: Literal["first", "deltas"] = "first"


@dataclass(frozen=True, slots=True)
class RealTrial:
    """One real run of a policy from a start: what held for each object, and its episode, if the lab
    has it."""

    start: str
    policy: int
    split: str
    instruction: str
    objects: tuple[str, ...]
    outcomes: tuple[ObjectOutcome, ...]
    episode: int | None


@dataclass(frozen=True)
class OwnBench:
    """A lab's bench, opened."""

    folder: Path
    settings: BenchSettings
    trials: Mapping[str, RealTrial]
    dataset: RobotDataset | None

    @property
    def config(self) -> DriveConfig:
        """The loop's numbers."""
        return DriveConfig(execute=self.settings.execute, limit=self.settings.limit)

    @property
    def rate(self) -> float:
        """Frames a second."""
        return self.dataset.fps if self.dataset else 10.0

    @property
    def views(self) -> tuple[str, ...]:
        """The names of its cameras."""
        keys = self.dataset.cameras if self.dataset else ()
        return tuple(key.removeprefix(CAMERA) for key in keys)

    @property
    def native(self) -> tuple[int, int]:
        """The size of its pictures."""
        height, width = frames_of(self.episode(next(iter(self.trials)))).shape[2:4]
        return height, width

    def policies(self) -> Mapping[int, RobotPolicy]:
        """None is at hand: a lab's policies are behind addresses."""
        return {}

    def practice(self, count: int, size: tuple[int, int]) -> Iterator[RobotEpisode]:
        """The first episodes of `practice/`, if the lab has such a data set."""
        folder = self.folder / PRACTICE
        dataset = open_dataset(folder) if folder.is_dir() else ()
        for episode in islice(dataset, count):
            cameras = {name: resized(clip[None], size)[0] for name, clip in episode.cameras.items()}
            yield replace(episode, cameras=cameras)

    def episode(self, start: str) -> RobotEpisode:
        """The real episode from a start, with its frames; BadBench if the lab gave none."""
        number = self.trials[start].episode
        if self.dataset is None or number is None:
            raise BadBench(f"{start} has no episode. Give one in {EPISODES}/ to roll out from it.")
        return _episode(self.dataset, number)

    def driven(self, start: str, mode: str, size: tuple[int, int]) -> DrivenEpisode:
        """What to roll out from a start, in pictures of a world's size."""
        trial, real = self.trials[start], self.episode(start)
        return DrivenEpisode(
            start,
            trial.policy,
            trial.instruction,
            sum(start.encode()),
            resized(frames_of(real)[:, :1], size)[:, 0],
            real.state[0],
            real.actions if mode == "offline" else None,
        )

    def real(self, start: str) -> Trajectory:
        """The real run as a trajectory; of a trial without an episode a black frame and no step."""
        trial = self.trials[start]
        whole = trial.episode is not None
        frames = frames_of(self.episode(start)) if whole else np.zeros((1, 1, 2, 2, 3), np.uint8)
        actions = self.episode(start).actions if whole else np.zeros((0, 1), np.float32)
        empty = np.zeros((0, 0, actions.shape[1]), np.float32)
        return Trajectory(
            start, trial.policy, "real", "", frames, actions, empty, np.zeros(0, np.float32)
        )

    def arm(
        self, episode: DrivenEpisode, _frames: Frames, actions: Actions
    ) -> npt.NDArray[np.float32]:
        """What a policy may know of its arm inside a world model."""
        state = episode.arm.copy()
        if self.settings.arm == "deltas" and len(actions):
            count = min(len(state), actions.shape[1], 6)
            state[:count] += actions.sum(axis=0)[:count]
        return state


def open_bench(folder: Path) -> OwnBench:
    """The bench in a folder: `episodes/`, a LeRobot data set whose episodes are labelled, or
    `outcomes.csv`, or both, joined by its column `episode`."""
    dataset = open_dataset(folder / EPISODES) if (folder / EPISODES).is_dir() else None
    if (folder / TABLE).is_file():
        rows: Iterable[Mapping[str, Any]] = _table(folder / TABLE)
    elif dataset is not None:
        rows = [_labels(dataset, number) for number in range(len(dataset))]
    else:
        raise BadBench(
            f"{folder} has neither {TABLE} nor {EPISODES}/. Give the real outcomes as a table with "
            f"the columns {', '.join(COLUMNS)}, or as labels of LeRobot episodes."
        )
    trials = _trials(rows)
    if len({trial.policy for trial in trials.values()}) < 2:
        raise BadBench(f"{folder} has one policy. Two are the least that can be told apart.")
    return OwnBench(folder, _settings(folder / SETTINGS), trials, dataset)


def frames_of(episode: RobotEpisode) -> Frames:
    """All cameras in their order, [views, T + 1, height, width, RGB]."""
    shapes = {clip.shape for clip in episode.cameras.values()}
    if len(shapes) != 1:
        raise BadBench(f"The cameras differ in size: {sorted(shapes)}. Give all of them one size.")
    return np.stack(list(episode.cameras.values()))


@lru_cache(maxsize=64)
def _read_episode(folder: Path, number: int) -> RobotEpisode:
    return open_dataset(folder).episode(number)


def _episode(dataset: RobotDataset, number: int) -> RobotEpisode:
    return _read_episode(dataset.folder, number)


def _table(path: Path) -> list[Mapping[str, Any]]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    missing = [name for name in COLUMNS if not rows or name not in rows[0]]
    if missing:
        raise BadBench(f"{path} has no column {missing[0]}. It needs {', '.join(COLUMNS)}.")
    return list(rows)


def _labels(dataset: RobotDataset, number: int) -> Mapping[str, Any]:
    labels = dataset.labels(number)
    missing = [name for name in ("policy", *CRITERIA) if name not in labels]
    if missing:
        raise BadBench(
            f"Episode {number} has no label {missing[0]!r}. Add the columns policy, "
            f"{', '.join(CRITERIA)} to the episodes' table, or write {TABLE}."
        )
    return {
        "start": f"episode-{number:04d}",
        "split": SPLIT,
        "object": "object",
        "instruction": dataset.instruction(number),
        **labels,
        "episode": number,
    }


def _trials(rows: Iterable[Mapping[str, Any]]) -> dict[str, RealTrial]:
    trials: dict[str, RealTrial] = {}
    for number, row in enumerate(rows, 1):
        trial = _trial(number, row)
        before = trials.get(trial.start)
        if before and (before.policy, before.instruction) != (trial.policy, trial.instruction):
            raise BadBench(
                f"Row {number}: start {trial.start!r} is another policy's or instruction's too. "
                "Name each start of a policy once; its objects stand in rows of their own."
            )
        trials[trial.start] = trial if before is None else _with_object(before, trial)
    return trials


def _with_object(before: RealTrial, added: RealTrial) -> RealTrial:
    return RealTrial(
        before.start,
        before.policy,
        before.split,
        before.instruction,
        before.objects + added.objects,
        before.outcomes + added.outcomes,
        before.episode,
    )


def _trial(number: int, row: Mapping[str, Any]) -> RealTrial:
    try:
        episode = row.get("episode")
        return RealTrial(
            str(row["start"]),
            int(row["policy"]),
            str(row["split"]) or SPLIT,
            str(row["instruction"]),
            (str(row["object"]),),
            (ObjectOutcome(*(read_flag(row[name]) for name in CRITERIA)),),
            None if episode in (None, "") else int(str(episode)),
        )
    except ValueError as error:
        raise BadBench(f"Row {number} does not fit: {error}.") from None


def read_flag(value: object) -> bool:
    """True or false as tables write it; a ValueError names anything else.

    >>> read_flag("Yes"), read_flag(0)
    (True, False)
    """
    word = str(value).strip().lower()
    if word not in (*YES, *NO):
        raise ValueError(f"{value!r} is neither true nor false")
    return word in YES


def _settings(path: Path) -> BenchSettings:
    if not path.is_file():
        return BenchSettings()
    try:
        settings = BenchSettings(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise BadBench(f"{path} does not fit ({error}).") from None
    if settings.labels not in ("trusted", "study") or settings.arm not in ("first", "deltas"):
        raise BadBench(f"{path}: labels are 'trusted' or 'study', arm is 'first' or 'deltas'.")
    return settings
