"""How a handed-in video world model makes rollouts: the same loop as everywhere, a shard at a
time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.contracts import Generator, Outcome, Output, Production, Sample
from evaluators.contracts.world_model import World
from evaluators.suites.sc3.rollouts.driving import (
    DrivenEpisode,
    WorldBroke,
    drive,
    is_machine_fault,
)
from evaluators.suites.sc3.rollouts.trajectories import Trajectory, to_bytes
from evaluators.suites.sc3.samples import folder_of, start_of
from evaluators.suites.sc3.table_bench import TableBench
from evaluators.worlds.actions import ACTION_WIDTH
from evaluators.worlds.tabletop.library import PIXELS
from evaluators.worlds.tabletop.views import VIEWS

WHOLE = (
    "The folder has to hold config.json and model.safetensors as `armillary sc3 train` writes them."
)


class BadFolder(ValueError):
    """The folder holds no world model that can be rolled out here; the message says why."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Rolls policies out inside a world model, in batches cut in the same places."""

    world: World

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One npz a sample; a world model that fails on a batch fails on its samples, with its
        reason."""
        batch_size = TableBench().config.batch
        for first in range(0, len(samples), batch_size):
            batch = samples[first : first + batch_size]
            try:
                trajectories = roll_out(self.world, batch)
            except WorldBroke as error:
                yield from Unusable(str(error)).generate(batch, folder)
                continue
            for sample, trajectory in zip(batch, trajectories, strict=True):
                path = folder / f"{sample.id}.npz"
                path.write_bytes(to_bytes(trajectory))
                yield Output(sample.id, Outcome.SCORED, path)


def roll_out(world: World, samples: Sequence[Sample]) -> tuple[Trajectory, ...]:
    """The rollouts of some samples together."""
    bench, size = TableBench(), (world.card.height, world.card.width)
    episodes = [_driven(sample, size) for sample in samples]
    return drive(world, bench.policies(), episodes, bench.arm, bench.config)


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
    """A generator around the world model in a folder; its own tau, if it has one, stops it
    online."""
    try:
        return Rollouts(open_folder(production.folder, production.device))
    except BadFolder as error:
        return Unusable(str(error))


def open_folder(folder: Path, device: str = "cpu") -> World:
    """The world model in a folder, made for this table."""
    from evaluators.models.video_world.world import open_world

    try:
        world = open_world(folder, device)
    except Exception as error:  # json, safetensors and torch each say in their own way what is off
        if is_machine_fault(error):
            raise
        raise BadFolder(f"The world model cannot be opened: {_words(error)} {WHOLE}") from error
    card = world.card
    made_for = (card.views, card.height, card.width, card.action_dim)
    if made_for != (VIEWS, PIXELS, PIXELS, ACTION_WIDTH):
        raise BadFolder(
            f"The world model is made for the views {', '.join(card.views)} of {card.height} x "
            f"{card.width} pixels and {card.action_dim} numbers an action. Here are "
            f"{', '.join(VIEWS)}, {PIXELS} x {PIXELS} and {ACTION_WIDTH}; roll a larger one out "
            "yourself (`armillary sc3 rollout`) and hand in its rollouts."
        )
    return world


def _driven(sample: Sample, size: tuple[int, int]) -> DrivenEpisode:
    return TableBench(folder_of(sample)).driven(start_of(sample), sample.facets.setting, size)


def _words(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "config.json is not JSON."
    words = " ".join(str(error).split())[:400].rstrip(".")
    return f"It has no {words}." if isinstance(error, KeyError) else f"{words}."
