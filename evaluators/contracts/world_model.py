"""What a world model is asked and has to answer, in numpy alone: copy this file, it needs nothing
else of ours.

A world model imagines what cameras would see if some actions were executed. `forward` is all it
has to be able to do. `inverse` reads actions back off a video: with it a rollout that drifts away
from its actions can be stopped. `inpaint` fills in views from another one. A world that lacks one
of the two sets it to None. Requests come as lists, a batch each; answers come in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

FORWARD, INVERSE, INPAINT = "forward", "inverse", "inpaint"
MODES = (FORWARD, INVERSE, INPAINT)


class WorldFault(ValueError):
    """The world model said or made something else than was asked for; the message says what."""


@dataclass(frozen=True, slots=True)
class WorldCard:
    """What a world says of itself.

    `revision` tells two states of one name apart: the hash of the weights, say. `views` are the
    cameras in their order, frames are `height` by `width`, `rate` frames a second. It is shown the
    last `context` frames and asked for `chunk` frames ahead at a time, one for each action of
    `action_dim` numbers. U, the distance of commanded and recovered actions, is taken after both
    are divided by `action_scale` (empty: as they are, in `action_space` "raw"); online, a chunk
    whose U exceeds `tau` ends a rollout.
    """

    name: str
    revision: str
    views: tuple[str, ...]
    height: int
    width: int
    rate: float = 10.0
    context: int = 1
    chunk: int = 24
    action_dim: int = 7
    modes: tuple[str, ...] = (FORWARD,)
    action_scale: tuple[float, ...] = ()
    tau: float | None = None

    @property
    def action_space(self) -> str:
        """The units of U, which are never comparable between two worlds."""
        return "normalised" if self.action_scale else "raw"


@dataclass(frozen=True, slots=True)
class ForwardRequest:
    """What the cameras saw so far, and what is to be done next.

    `context` is uint8 [views, T, height, width, RGB], its last frame is now; `past_actions` float32
    [T - 1, action_dim] lie between those frames; `actions` float32 [n, action_dim] are the next.
    The answer is uint8 [views, n, height, width, RGB], a frame after each action. `episode` names
    the start, and all chance inside the world has to follow from `seed`.
    """

    episode: str
    seed: int
    instruction: str
    context: npt.NDArray[np.uint8]
    past_actions: npt.NDArray[np.float32]
    actions: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class InverseRequest:
    """A video: uint8 [views, n + 1, height, width, RGB]. The answer is float32 [n, action_dim], the
    actions that lead from each frame to the next."""

    episode: str
    seed: int
    instruction: str
    frames: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class InpaintRequest:
    """A forward request of which the frames of one view are there: `known` uint8 [n, height, width,
    RGB] of the view of that number. The answer has all views, this one as it was given."""

    episode: str
    seed: int
    instruction: str
    context: npt.NDArray[np.uint8]
    past_actions: npt.NDArray[np.float32]
    actions: npt.NDArray[np.float32]
    view: int
    known: npt.NDArray[np.uint8]


Forward = Callable[[Sequence[ForwardRequest]], Sequence[npt.NDArray[np.uint8]]]
Inverse = Callable[[Sequence[InverseRequest]], Sequence[npt.NDArray[np.float32]]]
Inpaint = Callable[[Sequence[InpaintRequest]], Sequence[npt.NDArray[np.uint8]]]


class World(Protocol):
    """A world model: its card, and what it can do; a module with these four names is one too."""

    @property
    def card(self) -> WorldCard: ...
    @property
    def forward(self) -> Forward: ...
    @property
    def inverse(self) -> Inverse | None: ...
    @property
    def inpaint(self) -> Inpaint | None: ...


@dataclass(frozen=True, slots=True)
class FunctionWorld:
    """A world model made of functions."""

    card: WorldCard
    forward: Forward
    inverse: Inverse | None = None
    inpaint: Inpaint | None = None


def imagine(world: World, requests: Sequence[ForwardRequest]) -> list[npt.NDArray[np.uint8]]:
    """What a world makes of some requests, checked; WorldFault if it is not what was asked for."""
    shapes = [_frames_of(request.context, len(request.actions)) for request in requests]
    return _checked(world, FORWARD, world.forward(requests), shapes, np.uint8)


def recover(world: World, requests: Sequence[InverseRequest]) -> list[npt.NDArray[np.float32]]:
    """The actions that a world reads off some videos, checked."""
    if world.inverse is None:
        raise WorldFault(f"The world {world.card.name!r} has no inverse.")
    shapes = [(request.frames.shape[1] - 1, world.card.action_dim) for request in requests]
    return _checked(world, INVERSE, world.inverse(requests), shapes, np.float32)


def fill_in(world: World, requests: Sequence[InpaintRequest]) -> list[npt.NDArray[np.uint8]]:
    """All views where one was known, checked."""
    if world.inpaint is None:
        raise WorldFault(f"The world {world.card.name!r} has no inpainting.")
    shapes = [_frames_of(request.context, len(request.actions)) for request in requests]
    return _checked(world, INPAINT, world.inpaint(requests), shapes, np.uint8)


def _frames_of(context: npt.NDArray[np.uint8], count: int) -> tuple[int, ...]:
    return (context.shape[0], count, *context.shape[2:])


def _checked(
    world: World,
    mode: str,
    answers: Sequence[npt.NDArray[Any]],
    shapes: Sequence[tuple[int, ...]],
    dtype: type[np.generic],
) -> list[npt.NDArray[Any]]:
    who = f"The world {world.card.name!r} answered {mode} with"
    if len(answers) != len(shapes):
        raise WorldFault(f"{who} {len(answers)} arrays for {len(shapes)} requests. Answer each.")
    arrays = [np.asarray(answer) for answer in answers]
    for array, shape in zip(arrays, shapes, strict=True):
        if array.dtype != dtype or array.shape != shape:
            raise WorldFault(
                f"{who} {array.dtype} {array.shape}; asked was {np.dtype(dtype)} {shape}."
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise WorldFault(f"{who} numbers that are not finite.")
    return arrays
