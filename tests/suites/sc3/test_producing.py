"""A handed-in video world model: it is rolled out as it is, and one that does not fit fails every
rollout in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.contracts import Outcome, Output, Production
from evaluators.suites.sc3.producing import Rollouts, produce
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from evaluators.worlds.tabletop.blind import frozen
from tests.suites.sc3.rolled import DEMO, model_folder

FEW = [DEMO[0], DEMO[-1]]


def made(folder: Path, to: Path) -> list[Output]:
    return list(produce(Production(folder, {}, "cpu")).generate(FEW, to))


def one_eyed(folder: Path) -> Path:
    return model_folder(folder, views=("agent", "wrist"))


def large(folder: Path) -> Path:
    return model_folder(folder, height=128, width=128)


def misnamed(folder: Path) -> Path:
    return changed(folder, depth=2)


def strange(folder: Path) -> Path:
    return changed(folder, model_type="other")


def without_weights(folder: Path) -> Path:
    (model_folder(folder) / "model.safetensors").write_bytes(b"nothing")
    return folder


def changed(folder: Path, **config: object) -> Path:
    """A folder whose config says something else than its weights."""
    path = model_folder(folder) / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **config}))
    return folder


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (one_eyed, "made for the views agent, wrist"),
        (large, "hand in its rollouts"),
        (misnamed, "Missing key"),
        (strange, "model_type 'other'"),
        (without_weights, "header"),
    ],
)
def test_a_model_folder_that_does_not_fit_fails_every_rollout_in_words(
    make: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    found = made(make(tmp_path / "model"), tmp_path)

    assert [one.sample_id for one in found] == [sample.id for sample in FEW]
    assert {one.outcome for one in found} == {Outcome.MODEL_FAILED}
    assert all(one.reason.startswith("The world model") and says in one.reason for one in found)


def test_a_model_that_breaks_while_it_runs_fails_the_rollouts_of_its_batch_in_words(
    tmp_path: Path,
) -> None:
    def forward(_requests: object) -> list[np.ndarray]:
        raise RuntimeError("shapes cannot be multiplied")

    broken = replace(frozen(), forward=forward)
    found = list(Rollouts(broken).generate(FEW, tmp_path))

    assert [one.outcome for one in found] == [Outcome.MODEL_FAILED] * len(FEW)
    assert "shapes cannot be multiplied" in found[0].reason


def test_a_machine_that_breaks_is_nobody_s_fault(tmp_path: Path) -> None:
    def forward(_requests: object) -> list[np.ndarray]:
        raise MemoryError("out of memory")

    broken = replace(frozen(), forward=forward)

    with pytest.raises(MemoryError):
        list(Rollouts(broken).generate(FEW, tmp_path))


def test_a_model_folder_is_rolled_out_with_a_u_for_every_chunk_and_read(tmp_path: Path) -> None:
    found = made(model_folder(tmp_path / "model"), tmp_path)

    assert {one.outcome for one in found} == {Outcome.SCORED}
    for sample, one in zip(FEW, found, strict=True):
        assert one.file and from_bytes(one.file.read_bytes()).frames.shape == (3, 201, 64, 64, 3)
        value = read(sample, one.file)
        assert value["steps"] == 200 and len(value["u_chunk"]) == 13  # type: ignore[arg-type]
