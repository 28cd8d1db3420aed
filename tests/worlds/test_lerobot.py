"""Robot episodes as LeRobot data sets: what is written can be read back, in the published layout,
and the older layout is read too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet as pq
import pytest

from evaluators.media import write_mp4
from evaluators.worlds.lerobot.layout import BadDataset, RobotEpisode
from evaluators.worlds.lerobot.reading import open_dataset
from evaluators.worlds.lerobot.writing import DatasetCard, write_dataset

CARD = DatasetCard("panda", 10, tuple(f"a{n}" for n in range(7)), tuple(f"s{n}" for n in range(8)))


def episode(number: int, steps: int) -> RobotEpisode:
    rng = np.random.default_rng(number)
    ramp = np.linspace(20, 220, steps + 1).astype(np.uint8)
    frames = np.broadcast_to(ramp[:, None, None, None], (steps + 1, 32, 48, 3)).copy()
    frames[:, :16, :, 0] = 40 * (number + 1)
    return RobotEpisode(
        {"agent": frames, "wrist": 255 - frames},
        rng.normal(size=(steps, 7)).astype(np.float32),
        rng.normal(size=(steps + 1, 8)).astype(np.float32),
        f"move object {number % 2}",
        {"policy": number, "object_lifting": number % 2 == 0},
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit") / "practice"
    return write_dataset(folder, CARD, (episode(n, 12 + 5 * n) for n in range(3)))


def test_what_is_written_is_read_back_frame_by_frame(written: Path) -> None:
    dataset = open_dataset(written)

    assert len(dataset) == 3 and dataset.fps == 10
    for number, back in enumerate(dataset):
        was = episode(number, 12 + 5 * number)
        assert (back.actions == was.actions).all() and (back.state == was.state).all()
        assert back.instruction == was.instruction and back.labels == was.labels
        for camera, frames in was.cameras.items():
            assert back.cameras[camera].shape == frames.shape
            assert np.abs(back.cameras[camera].astype(int) - frames).mean() < 3


def test_the_layout_is_the_published_one(written: Path) -> None:
    info = json.loads((written / "meta/info.json").read_text())
    rows = pq.read_table(written / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    data = pq.read_table(written / "data/chunk-000/file-000.parquet")
    tasks = pandas.read_parquet(written / "meta/tasks.parquet")
    stats = json.loads((written / "meta/stats.json").read_text())

    assert info["codebase_version"] == "v3.0" and info["splits"] == {"train": "0:3"}
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (3, 54, 2)
    assert info["features"]["observation.images.agent"]["dtype"] == "video"
    assert (written / "videos/observation.images.wrist/chunk-000/file-000.mp4").is_file()
    assert [row["dataset_from_index"] for row in rows] == [0, 13, 31]
    assert rows[1]["videos/observation.images.agent/from_timestamp"] == pytest.approx(1.3)
    assert rows[1]["tasks"] == ["move object 1"] and list(tasks.index) == [
        "move object 0",
        "move object 1",
    ]
    assert data["index"].to_pylist() == list(range(54))
    assert set(data.column_names) == set(info["features"]) - {
        key for key in info["features"] if key.startswith("observation.images")
    }
    assert np.shape(stats["observation.images.agent"]["mean"]) == (3, 1, 1)
    assert len(stats["action"]["q99"]) == 7 and stats["action"]["count"] == [54]


def test_statistics_of_actions_are_those_of_all_rows(written: Path) -> None:
    stats = json.loads((written / "meta/stats.json").read_text())
    rows = np.asarray(
        pq.read_table(written / "data/chunk-000/file-000.parquet")["action"].to_pylist()
    )

    assert np.allclose(stats["action"]["mean"], rows.mean(0), atol=1e-6)
    assert np.allclose(stats["action"]["std"], rows.std(0), atol=1e-6)
    assert np.allclose(stats["action"]["min"], rows.min(0))


def test_the_older_layout_is_read_too(tmp_path: Path) -> None:
    was = episode(1, 9)
    (tmp_path / "meta").mkdir()
    (tmp_path / "data/chunk-000").mkdir(parents=True)
    info = {
        "codebase_version": "v2.1",
        "fps": 10,
        "chunks_size": 1000,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/"
        "episode_{episode_index:06d}.mp4",
        "features": {"observation.images.agent": {"dtype": "video", "shape": [32, 48, 3]}},
    }
    (tmp_path / "meta/info.json").write_text(json.dumps(info))
    (tmp_path / "meta/tasks.jsonl").write_text('{"task_index": 0, "task": "move object 1"}\n')
    (tmp_path / "meta/episodes.jsonl").write_text(
        '{"episode_index": 0, "tasks": ["move object 1"], "length": 10, "policy": 4}\n'
    )
    padded = np.concatenate([was.actions, was.actions[-1:]])
    pandas.DataFrame(
        {
            "action": list(padded),
            "observation.state": list(was.state),
            "episode_index": np.zeros(10, int),
        }
    ).to_parquet(tmp_path / "data/chunk-000/episode_000000.parquet")
    video = tmp_path / "videos/chunk-000/observation.images.agent"
    video.mkdir(parents=True)
    write_mp4(was.cameras["agent"], video / "episode_000000.mp4", 10)

    (back,) = open_dataset(tmp_path)

    assert back.instruction == "move object 1" and back.labels == {"policy": 4}
    assert (back.actions == was.actions).all() and back.cameras["agent"].shape == (10, 32, 48, 3)


def test_what_is_no_data_set_is_refused_in_words(tmp_path: Path, written: Path) -> None:
    with pytest.raises(BadDataset, match="holds meta/info.json"):
        open_dataset(tmp_path)
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/info.json").write_text('{"codebase_version": "v1.6"}')
    with pytest.raises(BadDataset, match=r"v1\.6; read are"):
        open_dataset(tmp_path)
    with pytest.raises(BadDataset, match="already"):
        write_dataset(written, CARD, [])
    with pytest.raises(BadDataset, match="no episode"):
        write_dataset(tmp_path / "empty", CARD, [])
