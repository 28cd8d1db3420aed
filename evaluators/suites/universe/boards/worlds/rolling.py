"""A world model rolls out the bank's starts behind the contract of SC3's worlds: given frames and
buttons in, fourteen frames out, one mp4 a start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import Sample
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    World,
    WorldCard,
    WorldFault,
    imagine,
)
from evaluators.media import Pixels, write_mp4
from evaluators.suites.universe.boards.worlds.bank import LEAD, buttons_of, start_of, take_of
from evaluators.suites.universe.boards.worlds.showings import resized
from evaluators.worlds.doom.places import BUTTONS, FRAMES, RATE, place_named
from evaluators.worlds.wire.claims import claim_folder

VIEWS = ("player",)
BATCH = 8
SUITE_NAME = "universe_worlds"
ButtonsOf = Callable[[Sample], NDArray[np.float32]]


def roll_out(
    world: World,
    samples: Sequence[Sample],
    folder: Path,
    on_batch: Callable[[int], None] = lambda _count: None,
    buttons: ButtonsOf = buttons_of,
) -> dict[str, Path]:
    """Write what is not there yet; a folder holds the rollouts of one world and its weights."""
    check_card(world.card)
    claim_folder(folder, {"suite": SUITE_NAME, "card": asdict(world.card)})
    files = {sample.id: folder / f"{sample.id}.mp4" for sample in samples}
    for first in range(0, len(samples), BATCH):
        batch = [s for s in samples[first : first + BATCH] if not files[s.id].is_file()]
        for sample, frames in zip(batch, imagined(world, batch, buttons), strict=True):
            write_rollout(sample, frames, files[sample.id])
        on_batch(len(samples[first : first + BATCH]))
    return files


def check_card(card: WorldCard) -> None:
    """WorldFault if a world is not one of this game."""
    if len(card.views) != 1 or card.action_dim != len(BUTTONS):
        raise WorldFault(
            f"The world {card.name!r} has {len(card.views)} views and actions of {card.action_dim} "
            f"numbers. The game has one view and {len(BUTTONS)} buttons: {', '.join(BUTTONS)}."
        )


def imagined(world: World, samples: Sequence[Sample], buttons: ButtonsOf) -> list[Pixels]:
    """Fourteen frames of each start in the world's own size, `chunk` frames at a time."""
    contexts = [_context(world.card, sample) for sample in samples]
    presses = [buttons(sample) for sample in samples]
    pasts = [take_of(sample).controls()[: LEAD - 1] for sample in samples]
    step = max(1, min(world.card.chunk, FRAMES))
    made: list[list[Pixels]] = [[] for _ in samples]
    for first in range(0, FRAMES, step):
        requests = [
            _request(world.card, sample, context, past, press[first : first + step], first)
            for sample, context, past, press in zip(samples, contexts, pasts, presses, strict=True)
        ]
        for number, frames in enumerate(imagine(world, requests) if requests else ()):
            made[number].append(frames[0])
            contexts[number] = np.concatenate([contexts[number], frames[0]])
            pasts[number] = np.concatenate([pasts[number], requests[number].actions])
    return [np.concatenate(parts) for parts in made]


def _request(
    card: WorldCard,
    sample: Sample,
    context: Pixels,
    past: NDArray[np.float32],
    actions: NDArray[np.float32],
    first: int,
) -> ForwardRequest:
    shown = min(card.context, len(context))
    return ForwardRequest(
        episode=sample.id,
        seed=seed_of(sample, first),
        instruction="",
        context=context[None, -shown:],
        past_actions=past[len(past) - (shown - 1) :],
        actions=actions,
    )


def _context(card: WorldCard, sample: Sample) -> Pixels:
    return resized(start_of(sample).context, (card.width, card.height))


def seed_of(sample: Sample, chunk: int = 0) -> int:
    """Where a rollout's chance comes from."""
    return int.from_bytes(sha256(f"{sample.id} {chunk}".encode()).digest()[:6])


def write_rollout(sample: Sample, frames: Pixels, path: Path) -> Path:
    """A rollout as a clip in the size of its environment; the whole file or none of it."""
    size = place_named(take_of(sample).environment).size
    part = path.with_suffix(".part.mp4")
    write_mp4(resized(frames, size), part, RATE)
    part.replace(path)
    return path


def frozen_world() -> FunctionWorld:
    """The last given frame, held still."""
    return _function_world(
        "copy of the last frame", lambda r: np.repeat(r.context[:, -1:], len(r.actions), axis=1)
    )


def noise_world() -> FunctionWorld:
    """Noise that follows from the seed."""
    return _function_world("noise", _noise)


def grey_world() -> FunctionWorld:
    """One grey."""
    return _function_world(
        "grey", lambda r: np.full((1, len(r.actions), *r.context.shape[2:]), 128, np.uint8)
    )


def _function_world(
    name: str, answer: Callable[[ForwardRequest], NDArray[np.uint8]]
) -> FunctionWorld:
    card = WorldCard(name, "1", VIEWS, 180, 300, RATE, LEAD, chunk=FRAMES, action_dim=len(BUTTONS))
    return FunctionWorld(card, lambda requests: [answer(request) for request in requests])


def _noise(request: ForwardRequest) -> NDArray[np.uint8]:
    rng = np.random.default_rng(request.seed)
    shape = (1, len(request.actions), *request.context.shape[2:])
    return rng.integers(0, 256, shape, np.uint8)


def other_buttons(samples: Sequence[Sample]) -> ButtonsOf:
    """The buttons of another start with another action, the next in order."""
    others: Mapping[str, Sample] = {
        sample.id: next(
            other
            for other in (*samples[number + 1 :], *samples[:number])
            if other.facets.task != sample.facets.task
        )
        for number, sample in enumerate(samples)
    }
    return lambda sample: buttons_of(others[sample.id])
