"""Rollouts that are shipped: frames that went through H.264 inside the loop come back to the pixel,
stand the replay, and belong to the weights that made them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluators.suites.sc3.producing import open_folder
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.table.cached import cache_rollouts, cached_rollouts, write_cached
from tests.suites.sc3.rolled import ONE_START, model_folder

FEW = [ONE_START[0], ONE_START[-1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A very small model with two rollouts beside it."""
    folder = model_folder(tmp_path_factory.mktemp("model") / "small", tau=1e9)
    cache_rollouts(open_folder(folder), FEW, folder)
    return folder


def test_a_shipped_rollout_is_taken_like_one_that_is_handed_in(
    folder: Path, tmp_path: Path
) -> None:
    files = write_cached(folder, ONE_START, tmp_path)

    assert set(files) == {sample.id for sample in FEW}
    for sample in FEW:
        value = read(sample, files[sample.id])
        assert value["steps"] == 200 and len(value["u_chunk"]) == 13  # type: ignore[arg-type]


def test_they_are_the_same_each_time(folder: Path) -> None:
    before = (folder / "rollouts.npz").read_bytes()
    frames = [rollout.frames for rollout in cached_rollouts(folder, FEW)]

    cache_rollouts(open_folder(folder), FEW, folder)

    assert (folder / "rollouts.npz").read_bytes() == before
    for film, again in zip(frames, cached_rollouts(folder, FEW), strict=True):
        assert np.array_equal(film, again.frames)


def test_rollouts_of_other_weights_are_not_taken(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "rollouts.npz", "model.safetensors"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"others")

    assert cached_rollouts(tmp_path, FEW) == [] == cached_rollouts(tmp_path / "none", FEW)
