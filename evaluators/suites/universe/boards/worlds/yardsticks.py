"""Rows beside the ranking of both boards: the game itself, a small trained world, and worlds that
must do badly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from evaluators.contracts import Sample, Yardstick
from evaluators.contracts.world_model import World
from evaluators.suites.universe.boards.worlds.bank import start_of
from evaluators.suites.universe.boards.worlds.rolling import (
    frozen_world,
    grey_world,
    noise_world,
    other_buttons,
    roll_out,
    write_rollout,
)

SMALL_WORLD = Path(__file__).parent / "data" / "world"
GAME = "The game itself"
FROZEN, NOISE, GREY = "Copy of the last frame", "Noise", "Grey"
SHUFFLED = "Small world, other buttons"
TRAINED = (
    "A small video world model of ours, trained on recorded play of all eight environments from "
    "other sessions."
)
OutputFiles = Mapping[str, Path]


def yardsticks() -> tuple[Yardstick, ...]:
    """All of them; none is ever ranked."""
    return (
        Yardstick(GAME, "ceiling", "video", _game),
        Yardstick(
            "Small world", "baseline", "video", partial(_rolled, small_world), statement=TRAINED
        ),
        *(
            Yardstick(title, "sanity", "video", partial(_rolled, opened))
            for title, opened in ((FROZEN, frozen_world), (NOISE, noise_world), (GREY, grey_world))
        ),
        Yardstick(SHUFFLED, "sanity", "video", _shuffled, statement=TRAINED),
    )


def small_world() -> World:
    """The packaged world."""
    from evaluators.models.video_world.world import open_world

    return open_world(SMALL_WORLD)


def _game(samples: Sequence[Sample], _outputs: OutputFiles, folder: Path) -> OutputFiles:
    folder.mkdir(parents=True, exist_ok=True)
    return {
        sample.id: write_rollout(sample, start_of(sample).truth, folder / f"{sample.id}.mp4")
        for sample in samples
    }


def _rolled(
    opened: Callable[[], World], samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> OutputFiles:
    return roll_out(opened(), samples, folder)


def _shuffled(samples: Sequence[Sample], _outputs: OutputFiles, folder: Path) -> OutputFiles:
    """The right given frames under the buttons of another start."""
    return roll_out(small_world(), samples, folder, buttons=other_buttons(samples))
