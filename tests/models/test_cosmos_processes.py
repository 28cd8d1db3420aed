"""Cosmos 3 and the video world on two processes: they learn what one learns from the clips of both,
one of them writes and prints, and a run that was cut off goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from evaluators.models.adapt.checkpoint import AnotherRun
from evaluators.models.cosmos import finetune
from evaluators.suites.sc3.kit import KIT, PRACTICE
from tests.models.cosmos_processes import PLAN, tune
from tests.models.launched import launch_two
from tests.models.small_cosmos import SETTINGS, noisy_practice, small_cosmos

WEIGHTS = {
    "lora": "lora/adapter_model.safetensors",
    "full": "transformer/diffusion_pytorch_model.safetensors",
}


@dataclass(frozen=True, slots=True)
class TunedTogether:
    """What both processes saw, and where they worked."""

    seen: tuple[dict[str, Any], dict[str, Any]]
    base: Path
    kit: Path
    folder: Path


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> TunedTogether:
    place = tmp_path_factory.mktemp("together")
    base, kit, to = place / "base", place / "kit", place / "to"
    small_cosmos().save_pretrained(base)
    noisy_practice(kit / PRACTICE)
    card = {"views": SETTINGS.views, "size": [32, 32], "rate": 10.0}
    (kit / KIT).write_text(json.dumps(card))
    to.mkdir()
    launch_two("tests.models.cosmos_processes", *map(str, (base, kit, to)))
    first, second = (json.loads((to / f"seen-{rank}.json").read_text()) for rank in range(2))
    return TunedTogether((first, second), base, kit, to)


@pytest.fixture
def both_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process takes the clips of both, each with half of its weight."""
    step: Any = finetune._step
    taken = iter(range(PLAN.steps))

    def twice(pipeline: Any, learner: Any, *rest: Any) -> torch.Tensor:
        number, losses = next(taken), []
        for rank in range(2):
            rng = np.random.default_rng((PLAN.seed, number, rank))
            losses.append(step(pipeline, learner, *rest[:-1], rng))
        for parameter in learner.parameters():
            if parameter.grad is not None:
                parameter.grad /= 2
        return torch.stack(losses).mean()

    monkeypatch.setattr(finetune, "_step", twice)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.usefixtures("both_in_one")
def test_two_processes_learn_what_one_learns_from_the_clips_of_both(
    name: str, together: TunedTogether, tmp_path: Path
) -> None:
    alone = tune(together.base, together.kit, tmp_path, name, [])

    first, second = (seen[name] for seen in together.seen)

    assert first["losses"] == second["losses"] and len(alone) == 3
    assert np.allclose(first["losses"], alone, atol=1e-4)
    mine, theirs = (load_file(to / WEIGHTS[name]) for to in (tmp_path, together.folder / name))
    assert mine.keys() == theirs.keys()
    assert max(float((mine[key] - theirs[key]).abs().max()) for key in mine) < 1e-3


@pytest.mark.parametrize("name", WEIGHTS)
def test_only_the_first_tells_of_steps_and_a_run_that_was_cut_off_goes_on(
    name: str, together: TunedTogether
) -> None:
    first, second = (seen[name] for seen in together.seen)

    assert (first["printed"], second["printed"]) == ([1, 2, -1, 3], [-1])
    assert first["files"] == second["files"]
    assert "world.json" in first["files"] and "checkpoint" not in first["files"]


def test_the_command_of_two_processes_prints_once(together: TunedTogether) -> None:
    first, second = (seen["command"] for seen in together.seen)

    assert "holds the world; its last loss is" in first and "steps" in first
    assert second == ""


def test_only_the_first_process_writes_a_video_world_and_the_other_waits(
    together: TunedTogether,
) -> None:
    written = [seen["video"] for seen in together.seen]

    assert written[0] == {"written": 1, "there": True, "state": False}
    assert written[1] == {"written": 0, "there": True, "state": False}


def test_a_run_with_other_settings_or_processes_does_not_go_on_from_a_checkpoint(
    together: TunedTogether, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(finetune, "_write", cut)
    with pytest.raises(KeyboardInterrupt):
        tune(together.base, together.kit, tmp_path, "lora", [])
    kept = tmp_path / "checkpoint" / "run.json"
    record = json.loads(kept.read_text())
    run = {**json.loads(record["run"]), "processes": 2, "rate": 1.0}
    kept.write_text(json.dumps({**record, "run": json.dumps(run)}))

    with pytest.raises(AnotherRun, match=r"other settings \(processes, rate\)"):
        tune(together.base, together.kit, tmp_path, "lora", [])
