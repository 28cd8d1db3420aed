"""One of two processes that fine-tune Cosmos 3 and train a video world: `python -m
tests.models.cosmos_processes BASE KIT TO`. The launcher's environment says which one it is."""

from __future__ import annotations

import io
import json
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from evaluators.models.adapt.processes import launched
from evaluators.models.cosmos import finetune
from evaluators.models.cosmos.world import open_cosmos
from evaluators.models.video_world import training
from evaluators.models.video_world.folder import CONFIG, TrainedWorld, save_model
from evaluators.suites.sc3.kit import PRACTICE
from evaluators.worlds.lerobot.reading import open_dataset
from tests.models.small_cosmos import SETTINGS
from tests.models.test_video_world import PLAN as SHORT
from tests.models.test_video_world import TINY, recordings

PLAN = finetune.CosmosPlan(steps=3, batch=2, rate=1e-2, warm_up=1, seed=1, keep_each=1)
"""Inverse clips come to one process first, to one last, and to none, so that heads go unused."""
RANKS = {"lora": 2, "full": 0}
STOPPED = 2 * PLAN.batch
"""A run is cut off at the first clip of its third step."""


class CutOff(RuntimeError):
    """The run is cut off here."""


def tune(base: Path, kit: Path, to: Path, name: str, printed: list[int]) -> tuple[float, ...]:
    """Fine-tune from the same beginning, by LoRA or whole."""
    torch.manual_seed(0)
    pipeline, practice = open_cosmos(base).pipeline, open_dataset(kit / PRACTICE)
    plan = replace(PLAN, rank=RANKS[name])
    return finetune.finetune(
        pipeline, practice, to, SETTINGS, plan, lambda step, _loss: printed.append(step)
    )


def cut_off_and_resumed(base: Path, kit: Path, to: Path, name: str) -> dict[str, Any]:
    """What this process saw of a run that did not come to its end at once."""
    printed: list[int] = []
    clips = [finetune.draw_clip] * STOPPED

    def draw(*arguments: Any) -> Any:
        if not clips:
            raise CutOff
        return clips.pop()(*arguments)

    try:
        with patch.object(finetune, "draw_clip", draw):
            tune(base, kit, to, name, printed)
    except CutOff:
        printed.append(-1)
    losses = tune(base, kit, to, name, printed)
    return {"losses": losses, "printed": printed, "files": sorted(p.name for p in to.iterdir())}


def by_command(*arguments: str) -> str:
    """What `armillary` writes in this process."""
    from flows.cli.app import app

    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        app(arguments, standalone_mode=False)
    return said.getvalue()


def trained_world(to: Path) -> dict[str, Any]:
    """How often this process wrote a video world, and whether it was there in the end."""
    written: list[Path] = []

    def save_slowly(model: TrainedWorld, folder: Path) -> None:
        written.append(folder)
        time.sleep(0.5)
        save_model(model, folder)

    with patch.object(training, "save_model", save_slowly):
        training.train_world(recordings(2), TINY, SHORT, to)
    there, state = (to / CONFIG).is_file(), (to / training.STATE).exists()
    return {"written": len(written), "there": there, "state": state}


def main(base: Path, kit: Path, to: Path) -> None:
    """All runs one after the other, and what this process saw of them as a file."""
    torch.set_num_threads(1)
    seen: dict[str, Any] = {n: cut_off_and_resumed(base, kit, to / n, n) for n in RANKS}
    plan = ("--steps", "1", "--batch", "1", "--rank", "2")
    seen["command"] = by_command("sc3", "cosmos", *map(str, (base, kit, to / "told")), *plan)
    seen["video"] = trained_world(to / "video")
    (to / f"seen-{launched().rank}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(*(Path(text) for text in sys.argv[1:4]))
