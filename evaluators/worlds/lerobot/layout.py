"""Where things lie in a LeRobot data set, what its columns are called, and one episode of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

V3, V21 = "v3.0", "v2.1"
INFO, STATS = "meta/info.json", "meta/stats.json"
TASKS, TASKS_V21 = "meta/tasks.parquet", "meta/tasks.jsonl"
EPISODES = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_V21 = "meta/episodes.jsonl"
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"

STATE, ACTION, DONE = "observation.state", "action", "next.done"
CAMERA = "observation.images."
INDEX_COLUMNS = ("timestamp", "frame_index", "episode_index", "index", "task_index")

Label = str | int | float | bool


class BadDataset(ValueError):
    """The folder is no LeRobot data set that can be read here; the message says why."""


@dataclass(frozen=True, slots=True)
class RobotEpisode:
    """What a robot saw and did: frames by camera uint8 [T + 1, height, width, RGB], actions float32
    [T, width] between them, state float32 [T + 1, width], what it was told, and labels of it."""

    cameras: Mapping[str, npt.NDArray[np.uint8]]
    actions: npt.NDArray[np.float32]
    state: npt.NDArray[np.float32]
    instruction: str
    labels: Mapping[str, Label] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """A row a frame; the last has no action of its own."""
        return len(self.state)
