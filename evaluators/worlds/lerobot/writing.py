"""Writing episodes as a LeRobot data set of layout v3: parquet for numbers, one mp4 a camera with
the episodes one after another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq

from evaluators.worlds.lerobot.layout import (
    ACTION,
    CAMERA,
    DATA,
    DONE,
    EPISODES,
    INDEX_COLUMNS,
    INFO,
    STATE,
    STATS,
    TASKS,
    V3,
    VIDEO,
    BadDataset,
    RobotEpisode,
)
from evaluators.worlds.lerobot.statistics import ColumnStatistics, of_pictures, of_rows, together

H264 = {"crf": "15", "preset": "medium", "g": "10", "bf": "0", "threads": "1"}
"""Close to what was seen, and a key frame a second: training jumps around in it."""

FILE_MB, VIDEO_MB, CHUNK_FILES = 100, 200, 1000


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """What is true of all episodes: the robot, frames a second, and what the numbers are called."""

    robot: str
    fps: int
    action_names: tuple[str, ...]
    state_names: tuple[str, ...]


@dataclass(slots=True)
class _Written:
    """What has been written so far."""

    tasks: dict[str, int] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    statistics: dict[str, list[ColumnStatistics]] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    frames: int = 0


def write_dataset(folder: Path, card: DatasetCard, episodes: Iterable[RobotEpisode]) -> Path:
    """All episodes into a folder, which has to be new; `meta/info.json` is written last."""
    if (folder / INFO).exists():
        raise BadDataset(f"{folder} holds a data set already. Write into another folder.")
    written, videos = _Written(), _Videos(folder, card.fps)
    data_path = folder / DATA.format(chunk_index=0, file_index=0)
    data_path.parent.mkdir(parents=True, exist_ok=True)
    schema = _schema(card)
    with videos, pq.ParquetWriter(data_path, schema, compression="snappy") as writer:
        for episode in episodes:
            writer.write_table(_table(episode, card, written, schema))
            _note(episode, card, written, videos)
    if not written.rows:
        raise BadDataset("There is no episode to write.")
    _write_meta(folder, card, written)
    return folder


def _schema(card: DatasetCard) -> pa.Schema:
    vectors = ((STATE, len(card.state_names)), (ACTION, len(card.action_names)))
    return pa.schema(
        [
            *((name, pa.list_(pa.float32(), width)) for name, width in vectors),
            (DONE, pa.bool_()),
            ("timestamp", pa.float32()),
            *((name, pa.int64()) for name in INDEX_COLUMNS[1:]),
        ]
    )


def _table(
    episode: RobotEpisode, card: DatasetCard, written: _Written, schema: pa.Schema
) -> pa.Table:
    count = episode.rows
    if len(episode.actions) != count - 1:
        raise BadDataset(
            f"Episode {len(written.rows)} has {len(episode.actions)} actions for {count} frames. "
            "Give the first frame and one an action."
        )
    task = written.tasks.setdefault(episode.instruction, len(written.tasks))
    frames = np.arange(count)
    columns = {
        STATE: list(np.asarray(episode.state, np.float32)),
        ACTION: list(_with_rest(episode.actions)),
        DONE: frames == count - 1,
        "timestamp": (frames / card.fps).astype(np.float32),
        "frame_index": frames,
        "episode_index": np.full(count, len(written.rows)),
        "index": written.frames + frames,
        "task_index": np.full(count, task),
    }
    return pa.table(columns, schema=schema)


def _with_rest(actions: np.ndarray) -> np.ndarray:
    """The last row has a frame and no action: zeros, and `next.done`."""
    return np.concatenate([actions, np.zeros_like(actions[:1])]).astype(np.float32)


def _note(episode: RobotEpisode, card: DatasetCard, written: _Written, videos: _Videos) -> None:
    """The row of an episode, its videos and its statistics."""
    number, count = len(written.rows), episode.rows
    row: dict[str, Any] = {
        "episode_index": number,
        "tasks": [episode.instruction],
        "length": count,
        "data/chunk_index": 0,
        "data/file_index": 0,
        "dataset_from_index": written.frames,
        "dataset_to_index": written.frames + count,
        "meta/episodes/chunk_index": 0,
        "meta/episodes/file_index": 0,
        **episode.labels,
    }
    statistics = {ACTION: of_rows(_with_rest(episode.actions)), STATE: of_rows(episode.state)}
    statistics["timestamp"] = of_rows(np.arange(count) / card.fps)
    for name, frames in episode.cameras.items():
        if len(frames) != count:
            raise BadDataset(f"Camera {name} of episode {number} has {len(frames)} frames.")
        key = f"{CAMERA}{name}"
        row |= videos.add(key, frames)
        statistics[key], written.shapes[key] = of_pictures(frames), frames.shape[1:]
    for name, summary in statistics.items():
        written.statistics.setdefault(name, []).append(summary)
        row |= {f"stats/{name}/{kind}": value for kind, value in summary.as_lists().items()}
    written.rows.append(row)
    written.frames += count


class _Videos:
    """One mp4 a camera that grows until it is large."""

    def __init__(self, folder: Path, fps: int) -> None:
        self.folder, self.fps = folder, fps
        self.open: dict[str, _Clip] = {}

    def __enter__(self) -> _Videos:
        return self

    def __exit__(self, *_error: object) -> None:
        for clip in self.open.values():
            clip.close()

    def add(self, key: str, frames: np.ndarray) -> dict[str, Any]:
        """Write frames at the end of a camera's clip; where they are, as LeRobot's rows say it."""
        clip = self.open.get(key)
        if clip is None or clip.size > VIDEO_MB << 20:
            number = 0 if clip is None else clip.number + 1
            if clip is not None:
                clip.close()
            clip = self.open[key] = _Clip(self._path(key, number), self.fps, number, frames.shape)
        chunk, file = divmod(clip.number, CHUNK_FILES)
        first = clip.count
        clip.write(frames)
        return {
            f"videos/{key}/chunk_index": chunk,
            f"videos/{key}/file_index": file,
            f"videos/{key}/from_timestamp": first / self.fps,
            f"videos/{key}/to_timestamp": clip.count / self.fps,
        }

    def _path(self, key: str, number: int) -> Path:
        chunk, file = divmod(number, CHUNK_FILES)
        path = self.folder / VIDEO.format(video_key=key, chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class _Clip:
    """An mp4 that is being written."""

    def __init__(self, path: Path, fps: int, number: int, shape: tuple[int, ...]) -> None:
        self.path, self.number, self.count = path, number, 0
        if shape[1] % 2 or shape[2] % 2:
            raise BadDataset(f"Frames of {shape[1]} x {shape[2]} cannot be H.264. Use even sizes.")
        self.container = av.open(str(path), "w", options={"fflags": "+bitexact"})
        self.stream = self.container.add_stream("libx264", rate=fps, options=H264)
        self.stream.pix_fmt, self.stream.height, self.stream.width = "yuv420p", shape[1], shape[2]

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def write(self, frames: np.ndarray) -> None:
        for number, pixels in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgb24")
            if number == 0:
                frame.pict_type = av.video.frame.PictureType.I
            self.container.mux(self.stream.encode(frame))
        self.count += len(frames)

    def close(self) -> None:
        self.container.mux(self.stream.encode(None))
        self.container.close()


def _write_meta(folder: Path, card: DatasetCard, written: _Written) -> None:
    tasks = pandas.DataFrame(
        {"task_index": list(written.tasks.values())}, index=list(written.tasks)
    )
    path = folder / EPISODES.format(chunk_index=0, file_index=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    tasks.to_parquet(folder / TASKS)
    pq.write_table(pa.Table.from_pylist(written.rows), path)
    whole = {name: together(parts).as_lists() for name, parts in written.statistics.items()}
    _write_json(folder / STATS, whole)
    _write_json(folder / INFO, _info(card, written))


def _info(card: DatasetCard, written: _Written) -> dict[str, Any]:
    return {
        "codebase_version": V3,
        "robot_type": card.robot,
        "total_episodes": len(written.rows),
        "total_frames": written.frames,
        "total_tasks": len(written.tasks),
        "chunks_size": CHUNK_FILES,
        "data_files_size_in_mb": FILE_MB,
        "video_files_size_in_mb": VIDEO_MB,
        "fps": card.fps,
        "splits": {"train": f"0:{len(written.rows)}"},
        "data_path": DATA,
        "video_path": VIDEO,
        "features": _features(card, written.shapes),
    }


def _features(card: DatasetCard, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    vectors = {
        name: {"dtype": "float32", "shape": [len(names)], "names": list(names)}
        for name, names in ((STATE, card.state_names), (ACTION, card.action_names))
    }
    numbers = {name: {"dtype": "int64", "shape": [1], "names": None} for name in INDEX_COLUMNS}
    numbers["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
    done = {DONE: {"dtype": "bool", "shape": [1], "names": None}}
    return {**{key: _video(shape, card.fps) for key, shape in shapes.items()}, **vectors} | (
        done | numbers
    )


def _video(shape: tuple[int, ...], fps: int) -> dict[str, Any]:
    info = {
        "video.height": shape[0],
        "video.width": shape[1],
        "video.codec": "h264",
        "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False,
        "video.fps": fps,
        "video.channels": 3,
        "has_audio": False,
    }
    names = ["height", "width", "channels"]
    return {"dtype": "video", "shape": list(shape), "names": names, "info": info}


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=4, ensure_ascii=False) + "\n", "utf-8")
