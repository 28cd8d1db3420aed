"""Worlds that show nothing of what is done: grey, noise, the first picture for ever. Whoever acts
in them as on the table did not look."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evaluators.contracts.world_model import ForwardRequest, FunctionWorld, WorldCard
from evaluators.worlds.tabletop.library import PIXELS
from evaluators.worlds.tabletop.views import VIEWS, Frames

GREY = 128


def grey(pixels: int = PIXELS) -> FunctionWorld:
    """A world that is grey all over."""
    return _world("grey", pixels, lambda request: np.full(_shape(request), GREY, np.uint8))


def noise(pixels: int = PIXELS) -> FunctionWorld:
    """A world of noise, the same whenever the episode is run."""

    def draw(request: ForwardRequest) -> Frames:
        rng = np.random.default_rng(request.seed)
        return rng.integers(0, 256, _shape(request), dtype=np.uint8)

    return _world("noise", pixels, draw)


def frozen(pixels: int = PIXELS) -> FunctionWorld:
    """A world in which nothing ever happens, whatever is done."""

    def repeat(request: ForwardRequest) -> Frames:
        return np.repeat(request.context[:, -1:], len(request.actions), axis=1)

    return _world("frozen", pixels, repeat)


def _world(name: str, pixels: int, draw: Callable[[ForwardRequest], Frames]) -> FunctionWorld:
    def forward(requests: Sequence[ForwardRequest]) -> list[Frames]:
        return [draw(request) for request in requests]

    return FunctionWorld(WorldCard(name, "", VIEWS, pixels, pixels), forward)


def _shape(request: ForwardRequest) -> tuple[int, ...]:
    views, _, height, width, _ = request.context.shape
    return views, len(request.actions), height, width, 3
