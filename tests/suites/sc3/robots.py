"""Two invented robots with real runs of their own, laid out as a lab would: LeRobot episodes with
labels, or a table beside them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from evaluators.suites.sc3.rollouts.driving import drive
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, Trajectory
from evaluators.worlds.lerobot.layout import RobotEpisode
from evaluators.worlds.lerobot.writing import DatasetCard, write_dataset
from tests.suites.sc3.dots import CONFIG, Seeker, dot_world, place, start, summed

CORNERS = {1: (1.0, 1.0), 2: (0.55, 0.6), 3: (0.1, 0.9)}
"""Where three policies push the dot: one succeeds, one half, one hardly."""
STARTS = 6
NAMES = {7: tuple(f"a{n}" for n in range(7)), 2: ("x", "y")}


def outcome(frames: np.ndarray) -> dict[str, bool]:
    """What holds of a dot's way: it went right, it went down, it came to the corner."""
    where = place(frames[:, -1])
    held = (where[0] > 0.5, where[1] > 0.5, where.min() > 0.9)
    return {name: bool(flag) for name, flag in zip(CRITERIA, held, strict=True)}


def real_runs(starts: int = STARTS) -> list[tuple[int, str, Trajectory]]:
    """Every policy from every start."""
    runs = []
    for policy, corner in CORNERS.items():
        for number in range(starts):
            where = (0.05 + 0.1 * number, 0.4 - 0.05 * number)
            name = f"p{policy}-{number}"
            episode = start(name, where)
            (run,) = drive(dot_world(), {1: Seeker(corner)}, [episode], summed, CONFIG)
            runs.append((policy, name, run))
    return runs


def episode_of(
    run: Trajectory, views: tuple[str, ...], width: int, **labels: object
) -> RobotEpisode:
    """A run as a lab records it."""
    cameras = dict(zip(views, run.frames, strict=False))
    state = np.zeros((run.steps + 1, 8), np.float32)
    return RobotEpisode(cameras, run.actions[:, :width], state, "to the corner", labels)  # type: ignore[arg-type]


def arm_bench(folder: Path, labels: str = "trusted", starts: int = STARTS) -> Path:
    """A robot with three cameras whose episodes carry their labels."""
    _card(folder, "our_arm")
    (folder / "bench.json").write_text(json.dumps({"limit": 40, "labels": labels, "arm": "deltas"}))
    views = ("agent", "front", "wrist")
    episodes = [
        episode_of(run, views, 7, policy=policy, start=name, object="dot", **outcome(run.frames))
        for policy, name, run in real_runs(starts)
    ]
    card = DatasetCard("invented arm", 10, NAMES[7], tuple(f"s{n}" for n in range(8)))
    write_dataset(folder / "episodes", card, episodes)
    write_dataset(folder / "practice", card, episodes[:3])
    return folder


def hand_bench(folder: Path, labels: str = "study") -> Path:
    """A robot with one camera and two numbers an action; a table of two objects a start."""
    _card(folder, "our_hand")
    (folder / "bench.json").write_text(json.dumps({"limit": 40, "labels": labels}))
    card = DatasetCard("invented hand", 10, NAMES[2], tuple(f"s{n}" for n in range(8)))
    runs = real_runs()
    episodes = [episode_of(run, ("top",), 2) for _, _, run in runs]
    write_dataset(folder / "episodes", card, episodes)
    write_dataset(folder / "practice", card, episodes[:3])
    with (folder / "outcomes.csv").open("w", newline="") as stream:
        names = ("start", "policy", "split", "instruction", "object", *CRITERIA, "episode")
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        for number, (policy, name, run) in enumerate(runs):
            row = {"start": name, "policy": policy, "split": "in_distribution"}
            row |= {"instruction": "to the corner", "episode": number}
            writer.writerow({**row, "object": "dot", **outcome(run.frames)})
            writer.writerow({**row, "object": "shadow", **dict.fromkeys(CRITERIA, "no")})
    return folder


def _card(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    card = {"suite": "sc3", "name": name, "version": "1.0", "title": f"Invented {name}"}
    (folder / "bank.json").write_text(json.dumps(card))
