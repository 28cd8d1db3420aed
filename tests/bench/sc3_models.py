"""The models of the SC3 experiment: the tokeniser, the annotator, and each variant of the small model for each seed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import process_time

import torch
from safetensors.torch import load_file, save_file

from evaluators.models.dynamics import DynamicsConfig, Mode
from evaluators.models.dynamics_annotator import Annotator, AnnotatorPlan, open_annotator, to_bytes, train_annotator
from evaluators.models.dynamics_data import practise
from evaluators.models.dynamics_eyes import EyesConfig, Tokeniser
from evaluators.models.dynamics_flow import SHARES
from evaluators.models.dynamics_sight import SightPlan, train_tokeniser
from evaluators.models.dynamics_training import WEIGHTS, Lessons, TrainingPlan, prepare, train
from evaluators.models.dynamics_world import DynamicsWorld, open_world

FOLDER = Path(".armillary/bench/sc3")
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to train: which modes are practised, and how far ahead is looked."""

    name: str
    shares: Mapping[Mode, float] = field(default_factory=lambda: dict(SHARES))
    horizon: int = 24


VARIANTS = (
    Variant("full"),
    Variant("without inverse", {"forward": 0.9, "cross_view": 0.1}),
    Variant("without cross-view", {"forward": 0.9, "inverse": 0.1}),
    Variant("without decoupled horizon", horizon=16),
    Variant("forward only", {"forward": 1.0}),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is practised: the experiment's, or a minute's worth for the tests."""

    episodes: int = 1200
    steps: int = 1400
    batch: int = 32
    sight: SightPlan = field(default_factory=SightPlan)
    annotator: AnnotatorPlan = field(default_factory=AnnotatorPlan)


def tokeniser(folder: Path, effort: Effort) -> Tokeniser:
    """Trained once and kept: all seeds and variants see with the same eyes."""
    made, path = Tokeniser(EyesConfig()), folder / "tokeniser.safetensors"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        trained = train_tokeniser(practise(max(effort.sight.frames // 10, 10), 0), effort.sight)
        save_file({name: value.contiguous() for name, value in trained.state_dict().items()}, path)
    made.load_state_dict(load_file(path))
    return made.eval()


def annotator(folder: Path, effort: Effort) -> Annotator:
    """Trained once and kept; it has seen what the tokeniser paints."""
    path = folder / "annotator.safetensors"
    if not path.is_file():
        path.write_bytes(to_bytes(train_annotator(effort.annotator, tokeniser(folder, effort))))
    return open_annotator(path)


def model(folder: Path, variant: Variant, seed: int, effort: Effort, lessons: Lessons | None = None) -> DynamicsWorld:
    """A variant for a seed, trained if it is not there; a killed training goes on where it was."""
    spot = folder / f"{variant.name.replace(' ', '-')}-{seed}"
    if not (spot / WEIGHTS).is_file():
        eyes = tokeniser(folder, effort)
        lessons = lessons or practice(folder, effort)
        plan = TrainingPlan(steps=effort.steps, batch=effort.batch, seed=seed, shares=variant.shares)
        train(lessons, eyes, plan, spot, replace(DynamicsConfig(), horizon=variant.horizon), each=_told(spot.name))
    return open_world(spot, f"{variant.name}, seed {seed}")


def practice(folder: Path, effort: Effort) -> Lessons:
    """Demonstrations on the forward task only: the reversed one is out of distribution."""
    return prepare(practise(effort.episodes, 1), tokeniser(folder, effort))


def _told(name: str):  # type: ignore[no-untyped-def]
    begun, seen = process_time(), list[float]()

    def each(step: int, loss: float) -> None:
        seen.append(loss)
        if step % 100 == 0:
            print(
                f"{name}: step {step}, loss {sum(seen[-100:]) / 100:.3f}, {process_time() - begun:.0f} CPU s",
                flush=True,
            )

    return each


def main() -> None:
    """Train what is missing; `main(1)` and `main(2)` in two processes share the work."""
    torch.set_num_threads(1)
    effort = Effort()
    annotator(FOLDER, effort)
    lessons = practice(FOLDER, effort)
    for seed in SEEDS:
        for number, variant in enumerate(VARIANTS):
            if len(sys.argv) < 2 or (number + seed) % 2 == int(sys.argv[1]):
                model(FOLDER, variant, seed, effort, lessons)


if __name__ == "__main__":
    main()
