"""Trains the small video world model that is shipped: `python -m tests.bench.sc3_shipped FOLDER`
records practice if there is none, learns some CPU minutes, and writes the weights, the gates on
practice that was kept apart, and the tau from it."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from time import process_time

import torch

from evaluators.models.video_world.config import VideoPlan
from evaluators.models.video_world.folder import TrainedWorld, load_model, save_model
from evaluators.models.video_world.gates import measure_gates
from evaluators.models.video_world.table_course import (
    MOTION,
    SHIPPED,
    TableCourse,
    TablePractice,
    practise_table,
    usual_tau,
)
from evaluators.models.video_world.training import train_world
from evaluators.models.video_world.world import open_world
from tests.bench.sc3_models import PRACTICE


def make_shipped(
    practice: TablePractice, course: TableCourse, plan: VideoPlan, folder: Path, clips: int = 48
) -> str:
    """Trains, measures the gates on what was never learned from, sets tau; the verdict."""
    train_world(practice.learned, course.config, plan, folder, show)
    report = measure_gates(load_model(folder), practice.held_out, MOTION, clips, plan.seed)
    words = json.dumps(report.as_json(), indent=1) + "\n"
    (folder / "gates.json").write_text(words, "utf-8")
    world = open_world(folder)
    tau = usual_tau(world, practice.held_out)
    trained = world.model
    save_model(
        TrainedWorld(replace(trained.config, tau=tau), trained.codec, trained.network), folder
    )
    return f"{report.verdict}; tau {tau:.2f}; {words}"


def show(step: int, loss: float) -> None:
    """A line a hundred steps."""
    if step % 100 == 0:
        print(f"step {step}, loss {loss:.3f}, {process_time():.0f} CPU seconds", flush=True)


def main() -> None:
    """The whole of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    torch.set_num_threads(1)
    course = TableCourse()
    practice = practise_table(course, PRACTICE, lambda name: print(name, flush=True))
    print(make_shipped(practice, course, SHIPPED, folder))


if __name__ == "__main__":
    main()
