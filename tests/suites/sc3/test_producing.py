"""A handed-in dynamics model: its own sizes count, and one that does not fit fails every rollout in
words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluators.contracts import Outcome, Output, Production
from evaluators.suites.sc3.producing import Rollouts, produce
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.loops import BENCH
from evaluators.suites.sc3.rollouts.trajectories import from_bytes
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.views import Frames
from evaluators.worlds.bussing.world_models import Context, WorldModel
from tests.suites.sc3.rolled import DEMO, model_folder

FEW = [DEMO[0], DEMO[-1]]


def made(folder: Path, to: Path) -> list[Output]:
    return list(produce(Production(folder, {}, "cpu")).generate(FEW, to))


def short_sighted(folder: Path) -> Path:
    return model_folder(folder, horizon=12)


def one_eyed(folder: Path) -> Path:
    return model_folder(folder, views=2)


def misnamed(folder: Path) -> Path:
    return changed(folder, depth=2)


def wordy(folder: Path) -> Path:
    return changed(folder, strides="slow", eyes={"pupils": 3})


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
        (short_sighted, "horizon is 12 steps and 16"),
        (one_eyed, "made for 2 views"),
        (misnamed, "Missing key"),
        (wordy, "unexpected keyword argument 'pupils'"),
        (without_weights, "header"),
    ],
)
def test_a_model_folder_that_does_not_fit_fails_every_rollout_in_words(
    make: Callable[[Path], Path], says: str, tmp_path: Path
) -> None:
    found = made(make(tmp_path / "model"), tmp_path)

    assert [one.sample_id for one in found] == [sample.id for sample in FEW]
    assert {one.outcome for one in found} == {Outcome.MODEL_FAILED}
    assert all(
        one.reason.startswith("The dynamics model cannot be opened") and says in one.reason
        for one in found
    )


def test_a_model_that_breaks_while_it_runs_fails_the_rollouts_of_its_batch_in_words(
    tmp_path: Path,
) -> None:
    def forward(context: Context, actions: Actions) -> Frames:
        raise RuntimeError("shapes cannot be multiplied")

    found = list(Rollouts(WorldModel("handed in", forward), BENCH).generate(FEW, tmp_path))

    assert [one.outcome for one in found] == [Outcome.MODEL_FAILED] * len(FEW)
    assert "shapes cannot be multiplied" in found[0].reason


def test_pictures_have_the_size_and_chunks_the_horizon_that_the_model_is_made_for(
    tmp_path: Path,
) -> None:
    found = made(model_folder(tmp_path / "model", (32, 40), horizon=32), tmp_path)

    assert {one.outcome for one in found} == {Outcome.SCORED}
    for sample, one in zip(FEW, found, strict=True):
        assert one.file and from_bytes(one.file.read_bytes()).frames.shape == (3, 57, 32, 40, 3)
        assert read(sample, one.file)["steps"] == 56
