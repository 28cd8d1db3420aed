"""From nothing to a model folder: practice on the simulated bench, a tokeniser, a dynamics
model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from evaluators.models.dynamics.data import practise
from evaluators.models.dynamics.model import DynamicsConfig
from evaluators.models.dynamics.tokeniser import EyesConfig, Tokeniser
from evaluators.models.dynamics.tokeniser_training import SightPlan, train_tokeniser
from evaluators.models.dynamics.training import (
    WEIGHTS,
    DynamicsPlan,
    LatentLessons,
    keep_tau,
    load,
    prepare,
    train,
)
from evaluators.worlds.pictures import Size

EYES = "tokeniser.safetensors"
SEEN, PRACTISED = 0, 1
"""Seeds of the practice for the eyes and for the dynamics; the starts of policies have names of
their own."""

Report = Callable[[str, int, float], None]
"""What is being learned, the step, the loss."""


@dataclass(frozen=True, slots=True)
class DynamicsCourse:
    """How much is practised, by whom; all of it on the forward task, for the reversed one is out of
    distribution."""

    sight: SightPlan = field(default_factory=SightPlan)
    training: DynamicsPlan = field(default_factory=DynamicsPlan)
    episodes: int = 1200
    eyes: EyesConfig = field(default_factory=EyesConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)

    @property
    def size(self) -> Size:
        """The pictures of the practice."""
        return Size(self.eyes.height, self.eyes.width)


Tau = Callable[[Path], float | None]
"""Chooses the threshold of early termination for a finished folder."""


def make(folder: Path, course: DynamicsCourse, report: Report, choose_tau: Tau) -> DynamicsConfig:
    """Train tokeniser and dynamics model, then choose tau; a killed run resumes. The results are in
    config.json."""
    from accelerate import PartialState

    folder.mkdir(parents=True, exist_ok=True)
    state = PartialState(cpu=not torch.cuda.is_available())
    if not (folder / WEIGHTS).is_file():
        with state.main_process_first():
            eyes = load_or_train_eyes(folder / EYES, course, report)
        learn_to_foresee(folder, course, eyes, report)
    if state.is_main_process:
        keep_tau(folder, choose_tau(folder))
        (folder / EYES).unlink(missing_ok=True)
    state.wait_for_everyone()
    return load(folder)[0].config


def load_or_train_eyes(path: Path, course: DynamicsCourse, report: Report) -> Tokeniser:
    """Load the tokeniser from its file; train and save it first if there is none."""
    if not path.is_file():
        trained = learn_to_see(course, report)
        save_file({name: value.contiguous() for name, value in trained.state_dict().items()}, path)
    opened = Tokeniser(course.eyes)
    opened.load_state_dict(load_file(path))
    return opened.eval()


def learn_to_see(course: DynamicsCourse, report: Report) -> Tokeniser:
    """Train a tokeniser; models of several seeds may share it."""
    practice = practise(course.sight.episodes, SEEN, size=course.size)
    return train_tokeniser(
        practice, course.sight, course.eyes, lambda step, loss: report("eyes", step, loss)
    )


def lessons(course: DynamicsCourse, tokeniser: Tokeniser) -> LatentLessons:
    """What the dynamics are learned from, encoded."""
    return prepare(practise(course.episodes, PRACTISED, size=course.size), tokeniser)


def learn_to_foresee(
    folder: Path,
    course: DynamicsCourse,
    tokeniser: Tokeniser,
    report: Report,
    latent_lessons: LatentLessons | None = None,
) -> None:
    """Train the dynamics model of a folder from its last checkpoint; a finished one is left as it
    is."""
    if (folder / WEIGHTS).is_file():
        return
    config = replace(course.dynamics, views=course.eyes.views, latent=course.eyes.latent)
    latent_lessons = latent_lessons or lessons(course, tokeniser)
    train(
        latent_lessons,
        tokeniser,
        course.training,
        folder,
        config,
        lambda step, loss: report("dynamics", step, loss),
    )
