"""Anybody's world model on UNIVERSE's second board: a kit to learn from, rollouts inside it, a
small one to train, and a bundle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.contracts import Sample
from evaluators.contracts.world_model import World, WorldFault
from evaluators.suites import suite_named
from evaluators.worlds.doom.engine import NoGame
from evaluators.worlds.doom.filming import OtherPixels
from evaluators.worlds.lerobot.layout import BadDataset
from evaluators.worlds.wire.claims import OtherRolloutsHere
from flows.suites.sc3_rollouts import CannotRollOut
from submissions.bundle.pack import pack_outputs

SUITES = ("universe_worlds", "universe_truth")
"""The boards that take rollouts of the game: judged, and by the game itself."""
SHAPE = 5 / 3


@dataclass(frozen=True, slots=True)
class GameRollouts:
    """What to roll out: in which world, where to, and which subset of the starts."""

    world: str
    device: str
    to: Path
    subset: str

    def samples(self) -> list[Sample]:
        """The starts of the subset."""
        suite = suite_named(SUITES[0])
        return [sample for sample in suite.samples() if suite.subsets[self.subset](sample)]


def make_game_kit(
    to: Path, subset: str, height: int, practice: int, on_part: Callable[[str], None]
) -> Path:
    """A kit with practice of that height."""
    from evaluators.suites.universe.boards.worlds.kit import GameKitExists, write_game_kit

    samples = GameRollouts("", "", to, subset).samples()
    try:
        size = (round(height * SHAPE / 2) * 2, height)
        return write_game_kit(to, samples, size, practice, on_part)
    except (GameKitExists, NoGame, OtherPixels) as error:
        raise CannotRollOut(str(error)) from error


def roll_out_game(request: GameRollouts, on_batch: Callable[[int], None]) -> dict[str, Path]:
    """Roll out what is not there yet."""
    from evaluators.suites.universe.boards.worlds.rolling import roll_out

    try:
        world = open_game_world(request.world, request.device)
        return roll_out(world, request.samples(), request.to, on_batch)
    except (WorldFault, OtherRolloutsHere, NoGame, OtherPixels) as error:
        raise CannotRollOut(str(error)) from error


def open_game_world(where: str, device: str) -> World:
    """The world at an address, of a factory, or in a folder that `train` wrote."""
    from flows.suites.sc3_worlds import open_world

    if not (Path(where) / "config.json").is_file():
        return open_world(where, device)
    from evaluators.models.video_world.world import open_world as open_folder

    try:
        return open_folder(Path(where), device)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise WorldFault(f"{where} cannot be opened as a video world model: {error}") from error


def train_on_kit(
    kit: Path,
    to: Path,
    steps: int,
    seed: int,
    on_step: Callable[[int, float], None],
) -> None:
    """A small world from a kit's practice alone."""
    from evaluators.suites.universe.boards.worlds.course import (
        TooLittlePractice,
        recordings_of,
        train_small,
    )
    from evaluators.suites.universe.boards.worlds.kit import PRACTICE
    from evaluators.worlds.lerobot.reading import open_dataset

    if not (kit / PRACTICE).is_dir():
        raise CannotRollOut(f"{kit} has no practice. Write a kit with --practice 400 or more.")
    try:
        recordings = recordings_of(open_dataset(kit / PRACTICE))
        train_small(recordings, to, steps, seed, on_step)
    except (BadDataset, TooLittlePractice) as error:
        raise CannotRollOut(str(error)) from error


def pack_game(folder: Path, to: Path, declaration: Mapping[str, Any]) -> Path:
    """A bundle of the rollouts in a folder that belong to the declared suite and subset."""
    empty = (
        f"{folder} holds no rollout of that subset. Make some with `armillary universe rollouts "
        "rollout`."
    )
    if not any(folder.glob("*.mp4")):
        raise CannotRollOut(empty)
    name = str(declaration.get("suite", SUITES[0]))
    if name not in SUITES:
        raise CannotRollOut(f"The manifest is for {name!r}. Write {' or '.join(SUITES)}.")
    suite = suite_named(name)
    subset = str(declaration.get("subset", "full"))
    if subset not in suite.subsets:
        raise CannotRollOut(f"There is no subset {subset!r}: {', '.join(suite.subsets)}.")
    paths = {
        sample.id: folder / f"{sample.id}.mp4"
        for sample in suite.samples()
        if suite.subsets[subset](sample)
    }
    rollouts = {sample: path for sample, path in paths.items() if path.is_file()}
    if not rollouts:
        raise CannotRollOut(empty)
    whole = {"modalities": ["video"], "suite": name, "suite_version": suite.version, **declaration}
    return pack_outputs(to, whole, rollouts)
