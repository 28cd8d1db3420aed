"""One of two processes of several training runs: `python -m tests.models.two_processes BASE DATA
TO`. The launcher's environment says which one it is."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evaluators.models.adapt.batches import Lesson
from evaluators.models.adapt.folder import base_of, save_adapted
from evaluators.models.adapt.processes import ALONE, Processes, joined
from evaluators.models.adapt.train import Adapted, RunIdentity, TrainingPlan, TrainingStep, adapt
from evaluators.models.vlm.judge import read_folder
from flows.suites import universe_adapt

PLAN = TrainingPlan(steps=4, batch=1, accumulate=2, rate=1e-2, every=2)
PLANS = {
    "projector": PLAN,
    "lora": replace(PLAN, strategy="lora", checkpointing=True),
    "full": replace(PLAN, strategy="full", workers=1),
    "sharded": replace(PLAN, strategy="full", sharded=True, checkpointing=True),
    "sharded in bf16": replace(PLAN, strategy="full", sharded=True, precision="bf16"),
}
STOPPED = 5
"""The batch of a process in which a run is cut off: the first of its third step."""


class CutOff(RuntimeError):
    """The run is cut off here."""


class StoppingLessons(list[Lesson]):
    """Lessons that cut a run off after so many were read."""

    def __init__(self, lessons: list[Lesson], after: int) -> None:
        super().__init__(lessons)
        self.left = after

    def __getitem__(self, number: Any, /) -> Any:
        self.left -= 1
        if self.left < 0:
            raise CutOff
        return super().__getitem__(number)


def alike(number: int = 16) -> list[Lesson]:
    """Lessons of equally many tokens, so that the mean over processes is that over one batch."""
    rng = np.random.default_rng(5)
    pictures = rng.integers(0, 256, (number, 2, 32, 32, 3), dtype=np.uint8)
    return [Lesson(frames, (("What?", "jump"),)) for frames in pictures]


def run(base: Path, to: Path, name: str, processes: Processes = ALONE) -> dict[str, Any]:
    """Train by one of the plans, save, and tell what this process saw."""
    plan = PLANS[name]
    printed: list[int] = []
    if processes.count == 1:
        plan = replace(plan, batch=2, sharded=False, workers=0)

    def learn(lessons: list[Lesson]) -> Adapted:
        model, processor = read_folder(base, "cpu", "fp32")
        identity = RunIdentity("l", "b")
        return adapt(model, processor, lessons, plan, to, report, processes, identity)

    def report(step: TrainingStep) -> None:
        printed.append(step.number)

    if name == "sharded" and processes.count > 1:
        try:
            learn(StoppingLessons(alike(), STOPPED))
        except CutOff:
            printed.append(-1)
    adapted = learn(alike())
    save_adapted(to, adapted, base_of(base), plan, "uniform-2", processes)
    return {"losses": adapted.losses, "printed": printed, "samples": adapted.samples}


def whole_path(base: Path, data: Path, to: Path) -> dict[str, Any]:
    """From the data folder to an examined judge, as the command does it."""
    wish = universe_adapt.AdaptationRequest(base, data, to, "uniform-2", 0.5, "Owls", "Owl")
    done = universe_adapt.adapt(wish, replace(PLAN, steps=2), "cpu")
    return {"losses": done.losses, "cells": done.held_out}


def main(base: Path, data: Path, to: Path) -> None:
    """All runs one after the other, and what this process saw of them as a file."""
    torch.set_num_threads(1)
    with joined("cpu") as processes:
        seen = {name: run(base, to / name, name, processes) for name in PLANS}
        seen["whole path"] = whole_path(base, data, to / "whole")
        (to / f"seen-{processes.rank}.json").write_text(json.dumps(seen))


if __name__ == "__main__":
    main(*(Path(text) for text in sys.argv[1:4]))
