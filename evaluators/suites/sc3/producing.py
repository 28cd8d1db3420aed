"""How a handed-in dynamics model makes rollouts: the same loops as everywhere, a shard at a
time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.contracts import Generator, Outcome, Output, Production, Sample
from evaluators.suites.sc3.rollouts.loops import BENCH, RolloutConfig, roll_out
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.samples import episodes, policies
from evaluators.worlds.bussing.world_models import WorldModel
from evaluators.worlds.pictures import Size

WHOLE = (
    "The folder has to hold config.json and model.safetensors as `armillary sc3 train` writes them."
)


class BadFolder(ValueError):
    """The folder holds no dynamics model that can be rolled out here; the message says why."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Rolls policies out inside a world model, in batches cut in the same places."""

    world: WorldModel
    config: RolloutConfig

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One npz a sample; a world model that fails on a batch fails on its samples, with its
        reason."""
        for first in range(0, len(samples), self.config.batch):
            batch = samples[first : first + self.config.batch]
            try:
                trajectories = roll_out(self.world, policies(), episodes(batch), self.config)
            except ValueError as error:
                yield from Unusable(str(error)).generate(batch, folder)
                continue
            for sample, trajectory in zip(batch, trajectories, strict=True):
                path = folder / f"{sample.id}.npz"
                path.write_bytes(to_bytes(trajectory))
                yield Output(sample.id, Outcome.SCORED, path)


@dataclass(frozen=True, slots=True)
class Unusable:
    """A model that cannot be run fails every sample with the reason, at once: trying again would
    change nothing."""

    reason: str

    def generate(self, samples: Sequence[Sample], _folder: Path) -> Iterator[Output]:
        """The same failure a sample."""
        yield from (
            Output(sample.id, Outcome.MODEL_FAILED, reason=self.reason) for sample in samples
        )


def produce(production: Production) -> Generator:
    """A generator around the dynamics model in a folder; its own tau, if it has one, stops it
    online."""
    try:
        return Rollouts(*open_folder(production.folder, "handed in", production.device))
    except BadFolder as error:
        return Unusable(str(error))


def open_folder(folder: Path, name: str, device: str = "cpu") -> tuple[WorldModel, RolloutConfig]:
    """The world model in a folder and the loops as it needs them: its horizon, its tau, its size of
    picture."""
    from evaluators.models.dynamics.world import open_world

    try:
        opened = open_world(folder, name, device)
        model, eyes = opened.model.config, opened.tokeniser.config
        if model.views != BENCH.views:
            raise ValueError(f"It is made for {model.views} views; this suite shows {BENCH.views}.")
        size = Size(eyes.height, eyes.width)
        return opened.world(), replace(BENCH, horizon=model.horizon, tau=model.tau, size=size)
    except (
        Exception
    ) as error:  # json, safetensors and torch each have their own ways to say that files do not fit
        raise BadFolder(f"The dynamics model cannot be opened: {_words(error)} {WHOLE}") from error


def _words(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "config.json is not JSON."
    words = " ".join(str(error).split())[:400].rstrip(".")
    return f"config.json has no {words}." if isinstance(error, KeyError) else f"{words}."
