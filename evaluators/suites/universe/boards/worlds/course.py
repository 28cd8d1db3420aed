"""How the small world was trained: recorded takes at 80 x 48, forward only, a few CPU minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.suites.universe.boards.worlds.bank import LEAD
from evaluators.suites.universe.boards.worlds.rolling import VIEWS
from evaluators.suites.universe.boards.worlds.showings import resized
from evaluators.worlds.doom.places import BUTTONS, FRAMES, RATE
from evaluators.worlds.lerobot.layout import RobotEpisode

if TYPE_CHECKING:
    from evaluators.models.video_world.config import VideoWorldConfig
    from evaluators.models.video_world.lessons import Recording

WIDTH, HEIGHT = 80, 48


class TooLittlePractice(ValueError):
    """There is nothing to learn from; the message says what is missing."""


def small_config() -> VideoWorldConfig:
    """The packaged world's size and habits."""
    from evaluators.models.video_world.config import VideoWorldConfig

    return VideoWorldConfig(
        views=VIEWS,
        height=HEIGHT,
        width=WIDTH,
        rate=RATE,
        action_dim=len(BUTTONS),
        latent=24,
        context=LEAD,
        horizon=FRAMES,
        group=2,
        motion=8,
        hidden=128,
        depth=4,
        heads=4,
        steps=3,
        paces=(1,),
        modes=("forward",),
        warp=0,
        shift=1.0,
    )


def recordings_of(episodes: Iterable[RobotEpisode]) -> list[Recording]:
    """Takes of a kit as the model learns from them."""
    from evaluators.models.video_world.lessons import Recording

    return [
        Recording(
            resized(episode.cameras[VIEWS[0]], (WIDTH, HEIGHT))[None],
            np.asarray(episode.actions, np.float32),
        )
        for episode in episodes
    ]


def train_small(
    recordings: list[Recording],
    folder: Path,
    steps: int,
    seed: int = 0,
    on_step: Callable[[int, float], None] = lambda _step, _loss: None,
) -> None:
    """Train a world on takes; a killed run goes on from its folder."""
    from evaluators.models.video_world.config import VideoPlan
    from evaluators.models.video_world.training import train_world

    if not recordings:
        raise TooLittlePractice("The kit has no practice. Write one with --practice 400 or more.")
    plan = VideoPlan(
        steps=steps,
        batch=8,
        warm_up=min(50, steps // 4),
        average=0.99,
        second_pace=0.0,
        short=0.0,
        motion_steps=0,
        seed=seed,
    )
    train_world(recordings, small_config(), plan, folder, on_step)
