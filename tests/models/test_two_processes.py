"""Two processes train as one with twice the batch: same losses, same weights, one writes and
prints, a run that was cut off goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluators.models.adapt.checkpoint import AnotherRun
from evaluators.models.adapt.processes import Processes
from evaluators.models.adapt.train import CannotShard, RunIdentity, TrainingPlan, adapt
from evaluators.models.vlm.judge import read_folder
from evaluators.suites.universe.questions import AnswerSpace, pairs
from evaluators.suites.universe.segments import (
    RecordedSegment,
    SegmentAnnotation,
    write_annotations,
    write_segment,
)
from flows.suites.judges.exam import examine_folder
from tests.models import two_processes
from tests.models.launched import launch_two

SPACE = AnswerSpace(("jump", "walk"), ("cup", "dog"))


@dataclass(frozen=True, slots=True)
class RanTogether:
    """What both processes saw, and where they worked."""

    seen: tuple[dict[str, Any], dict[str, Any]]
    folder: Path
    data: Path


def drawn_data(folder: Path, clips: int = 6) -> Path:
    """A data folder of noise: two sessions, all questions."""
    rng = np.random.default_rng(0)
    annotations = []
    for number in range(clips):
        name = f"session{number % 2}-{number:03d}.npz"
        images = rng.integers(0, 256, (14, 3, 128, 128), dtype=np.uint8)
        rows = np.zeros((14, 16), np.float32), np.zeros((14, 56), np.float32)
        write_segment(folder, name, RecordedSegment(images, *rows))
        asked = pairs(SPACE.actions[number % 2], SPACE.characters[number // 2 % 2], SPACE, number)
        annotations.append(SegmentAnnotation(name, "noise", asked))
    write_annotations(folder, annotations, SPACE)
    return folder


@pytest.fixture(scope="module")
def together(paligemma: Path, tmp_path_factory: pytest.TempPathFactory) -> RanTogether:
    to = tmp_path_factory.mktemp("together")
    data = drawn_data(to / "data")
    launch_two("tests.models.two_processes", *map(str, (paligemma, data, to)))
    seen = tuple(json.loads((to / f"seen-{rank}.json").read_text()) for rank in range(2))
    return RanTogether((seen[0], seen[1]), to, data)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "adapter_model.safetensors")


@pytest.mark.parametrize("name", ["projector", "lora", "full", "sharded"])
def test_two_processes_learn_what_one_learns_with_twice_the_batch(
    name: str, together: RanTogether, paligemma: Path, tmp_path: Path
) -> None:
    alone = two_processes.run(paligemma, tmp_path, name)

    first, second = (seen[name] for seen in together.seen)

    assert np.allclose(first["losses"], alone["losses"], atol=1e-4)
    assert first["losses"] == second["losses"]
    assert first["samples"] == alone["samples"] == 16
    mine, theirs = weights(tmp_path), weights(together.folder / name)
    assert mine.keys() == theirs.keys()
    far = {key: float((mine[key] - theirs[key]).abs().max()) for key in mine}
    assert max(far.values()) < 5e-3


def test_sharded_weights_stay_in_full_precision_while_bf16_computes(
    together: RanTogether,
) -> None:
    low, full = (together.seen[0][name]["losses"] for name in ("sharded in bf16", "sharded"))

    assert low != full and np.allclose(low[0], full[0], rtol=0.1)
    assert low[-1] < low[0]
    assert {w.dtype for w in weights(together.folder / "sharded in bf16").values()} == {
        torch.float32
    }


def test_only_the_first_process_prints_and_a_run_that_was_cut_off_goes_on(
    together: RanTogether,
) -> None:
    first, second = together.seen

    assert first["projector"]["printed"] == [1, 2, 3, 4]
    assert second["projector"]["printed"] == []
    assert first["sharded"]["printed"] == [1, 2, -1, 3, 4]
    assert second["sharded"]["printed"] == [-1]


def test_the_exam_of_two_processes_is_that_of_one(together: RanTogether, paligemma: Path) -> None:
    cells = [seen["whole path"]["cells"] for seen in together.seen]

    alone = examine_folder(
        together.folder / "whole", together.data, (paligemma, None), (0.5, 0), "cpu"
    )

    assert cells[0] == cells[1] == alone
    assert len(alone) == 6
    assert not (together.folder / "whole" / "checkpoint").exists()


def test_a_run_goes_on_only_with_its_lessons_its_base_and_as_many_processes(
    together: RanTogether, paligemma: Path
) -> None:
    place, plan = together.folder / "projector", two_processes.PLANS["projector"]

    def again(identity: RunIdentity) -> None:
        model, processor = read_folder(paligemma, "cpu", "fp32")
        adapt(model, processor, two_processes.alike(), plan, place, identity=identity)

    with pytest.raises(AnotherRun, match=r"\(processes\)"):
        again(RunIdentity("l", "b"))
    with pytest.raises(AnotherRun, match=r"\(base, lessons, processes\)"):
        again(RunIdentity("other", "other"))


def test_every_process_has_the_card_of_its_local_rank() -> None:
    devices = [Processes(8 + rank, 16, rank).device("cuda") for rank in range(4)]

    assert devices == ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
    assert Processes().device("cuda") == "cuda"


def test_nothing_is_spread_over_one_process(paligemma: Path) -> None:
    model, processor = read_folder(paligemma, "cpu", "fp32")

    with pytest.raises(CannotShard, match="accelerate launch"):
        adapt(model, processor, two_processes.alike(), TrainingPlan(strategy="full", sharded=True))
