"""Reading episodes out of a LeRobot data set, of layout v3 or v2.1."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import av
import numpy as np
import numpy.typing as npt

from evaluators.worlds.lerobot.layout import (
    ACTION,
    CAMERA,
    EPISODES_V21,
    INFO,
    STATE,
    TASKS,
    TASKS_V21,
    V3,
    V21,
    BadDataset,
    Label,
    RobotEpisode,
)

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN = ("episode_index", "tasks", "length", "dataset_from_index", "dataset_to_index")
BOOKKEEPING = ("stats/", "videos/", "data/", "meta/")


@dataclass(frozen=True, slots=True)
class RobotDataset:
    """An opened data set: what its info says, and a row an episode."""

    folder: Path
    info: Mapping[str, Any]
    tasks: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]

    @property
    def version(self) -> str:
        """Its layout."""
        return str(self.info["codebase_version"])

    @property
    def fps(self) -> float:
        """Frames a second."""
        return float(self.info["fps"])

    @property
    def cameras(self) -> tuple[str, ...]:
        """The names of its cameras, in the order of the features."""
        features = self.info["features"].items()
        return tuple(key for key, feature in features if feature["dtype"] == "video")

    def __len__(self) -> int:
        return len(self.rows)

    def labels(self, number: int) -> dict[str, Label]:
        """What stands beside an episode that LeRobot itself does not define."""
        return {
            name: value
            for name, value in self.rows[number].items()
            if name not in PLAIN
            and not name.startswith(BOOKKEEPING)
            and isinstance(value, str | int | float | bool)
        }

    def instruction(self, number: int) -> str:
        """What the robot was told."""
        tasks = self.rows[number].get("tasks")
        return str(tasks[0]) if tasks else ""

    def episode(self, number: int) -> RobotEpisode:
        """One episode, with its frames; what was done after the last of them is not kept."""
        table = _rows_of(self, number)
        actions = _vectors(table, ACTION)
        state = _vectors(table, STATE) if STATE in table.column_names else actions[:, :0]
        cameras = {
            key.removeprefix(CAMERA): _clip(self, number, key, len(table)) for key in self.cameras
        }
        return RobotEpisode(
            cameras, actions[:-1], state, self.instruction(number), self.labels(number)
        )

    def __iter__(self) -> Iterator[RobotEpisode]:
        return (self.episode(number) for number in range(len(self)))


def open_dataset(folder: Path) -> RobotDataset:
    """The data set in a folder; BadDataset says what is wrong with it."""
    try:
        info = json.loads((folder / INFO).read_text("utf-8"))
        version = info["codebase_version"]
        if version not in (V3, V21):
            raise BadDataset(
                f"{folder} is a LeRobot data set of {version}; read are {V3} and {V21}. Convert it "
                "with LeRobot's own script."
            )
        tasks = _tasks(folder, version)
        rows = _episodes_v3(folder) if version == V3 else _episodes_v21(folder)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadDataset(
            f"{folder} is no LeRobot data set ({error}). Give the folder that holds {INFO}."
        ) from None
    return RobotDataset(folder, info, tasks, rows)


def _tasks(folder: Path, version: str) -> tuple[str, ...]:
    if version == V21:
        lines = [json.loads(line) for line in _lines(folder / TASKS_V21)]
        return tuple(line["task"] for line in sorted(lines, key=lambda line: line["task_index"]))
    import pyarrow.parquet as pq

    table = pq.read_table(folder / TASKS).to_pandas()
    ordered = table.sort_values("task_index")
    return tuple(ordered.get("task", ordered.index))


def _episodes_v3(folder: Path) -> tuple[Mapping[str, Any], ...]:
    import pyarrow.parquet as pq

    paths = sorted((folder / "meta/episodes").glob("*/*.parquet"))
    names = [name for name in pq.read_schema(paths[0]).names if not name.startswith("stats/")]
    rows = [row for path in paths for row in pq.read_table(path, columns=names).to_pylist()]
    return tuple(sorted(rows, key=lambda row: int(row["episode_index"])))


def _episodes_v21(folder: Path) -> tuple[Mapping[str, Any], ...]:
    rows = [json.loads(line) for line in _lines(folder / EPISODES_V21)]
    return tuple(sorted(rows, key=lambda row: int(row["episode_index"])))


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip()]


def _rows_of(dataset: RobotDataset, number: int) -> pa.Table:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    row = dataset.rows[number]
    if dataset.version == V3:
        place = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
    else:
        place = _place_v21(dataset, number)
    table = pq.read_table(dataset.folder / str(dataset.info["data_path"]).format(**place))
    return table.filter(pc.equal(table["episode_index"], row["episode_index"]))


def _place_v21(dataset: RobotDataset, number: int) -> dict[str, int]:
    index = int(dataset.rows[number]["episode_index"])
    return {"episode_chunk": index // int(dataset.info["chunks_size"]), "episode_index": index}


def _vectors(table: pa.Table, name: str) -> npt.NDArray[np.float32]:
    if name not in table.column_names:
        raise BadDataset(f"There is no column {name}; there are {', '.join(table.column_names)}.")
    rows = np.asarray(table[name].to_pylist(), np.float32)
    return rows[:, None] if rows.ndim == 1 else rows


def _clip(dataset: RobotDataset, number: int, key: str, count: int) -> npt.NDArray[np.uint8]:
    """The frames of one camera in an episode."""
    row, start = dataset.rows[number], 0.0
    if dataset.version == V3:
        start = float(row[f"videos/{key}/from_timestamp"])
        place = {name: row[f"videos/{key}/{name}"] for name in ("chunk_index", "file_index")}
    else:
        place = _place_v21(dataset, number)
    path = dataset.folder / str(dataset.info["video_path"]).format(video_key=key, **place)
    frames = _frames_from(path, start, count, dataset.fps)
    if len(frames) < count:
        raise BadDataset(
            f"{path} ends after {len(frames)} of {count} frames of episode {number}. It is cut off."
        )
    return np.stack(frames)


def _frames_from(path: Path, start: float, count: int, fps: float) -> list[npt.NDArray[np.uint8]]:
    """So many frames from a moment on; decoding begins at the key frame before it."""
    frames: list[npt.NDArray[np.uint8]] = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        if start > 0 and stream.time_base:
            container.seek(int(start / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            if frame.time is not None and frame.time < start - 0.5 / fps:
                continue
            frames.append(np.asarray(frame.to_ndarray(format="rgb24"), np.uint8))
            if len(frames) == count:
                break
    return frames
