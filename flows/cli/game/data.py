"""Recorded play as data sets, private banks and contact sheets."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluators.media import Pixels, write_png
from evaluators.suites.universe.bank import FILE, FIRST_SEED, read_rows, write_rows
from evaluators.suites.universe.bank_making import BankRow, make_bank
from evaluators.suites.universe.construction import Built, Dropped, LongRecording, build, of_session
from evaluators.worlds.doom.engine import Engine, running
from evaluators.worlds.doom.places import PLACES
from evaluators.worlds.doom.sessions import SessionOrder
from flows.durable.progress import set_progress, start_progress

PRIVATE_SEED = 2**40
"""Sessions of private banks begin here, far from those of data sets and of the open bank."""
SPACING = 2**28
SECRET_BITS = 80
ROWS, COLUMNS, SHOWN = 20, 7, (0, 2, 4, 6, 8, 10, 13)


def record_data(folder: Path, environment: str, sessions: int, takes: int, seed: int) -> Built:
    """Record sessions of an environment and cut them into a data set."""
    first = seed * 100_000
    if first + sessions > FIRST_SEED:
        raise ValueError(f"The seed {seed} is of the open bank. Take one below {FIRST_SEED:,}.")
    orders = [SessionOrder(environment, first + number, takes) for number in range(sessions)]
    start_progress("sessions", sessions)
    with running() as engine:
        return build(_recorded(engine, orders), folder, seed=seed)


def make_private_bank(folder: Path, seed: int | None, clips: int) -> int:
    """Write a bank whose clips follow from a secret seed, drawn unless told; its pictures are
    played when needed."""
    seed = secrets.randbits(SECRET_BITS) + 1 if seed is None else seed
    start_progress("environments", len(PLACES))
    done = iter(range(1, len(PLACES) + 1))
    counts = {place.name: clips for place in PLACES}
    with running() as engine:
        rows = make_bank(
            engine.record,
            PRIVATE_SEED + seed * SPACING,
            counts,
            lambda _: set_progress("environments", next(done)),
        )
    write_rows(folder / FILE.name, rows)
    return len(rows)


def write_sheets(folder: Path, number: int, seed: int) -> int:
    """Contact sheets of random clips of the open bank, a row a clip with its truth beside it."""
    rows = list(read_rows(FILE))
    rng = np.random.default_rng([seed, 51])
    chosen = [rows[i] for i in rng.permutation(len(rows))[:number]]
    start_progress("clips", len(chosen))
    folder.mkdir(parents=True, exist_ok=True)
    strips: list[Pixels] = []
    for done, row in enumerate(chosen, 1):
        strips.append(_strip(row))
        set_progress("clips", done)
    pages = [strips[first : first + ROWS] for first in range(0, len(strips), ROWS)]
    for page_number, page in enumerate(pages, 1):
        write_png(np.concatenate(page), folder / f"sheet-{page_number:02d}.png")
    return len(pages)


def _recorded(engine: Engine, orders: list[SessionOrder]) -> Iterator[LongRecording | Dropped]:
    for number, order in enumerate(orders, 1):
        yield of_session(engine.record(order))
        set_progress("sessions", number)


def _strip(row: BankRow) -> Pixels:
    """Seven frames of a clip in a row, at half size, and what is said to be true."""
    from PIL import Image, ImageDraw

    frames = row.clip.frames()[list(SHOWN)]
    tiles = [np.asarray(Image.fromarray(frame).resize((150, 90))) for frame in frames]
    label = Image.new("RGB", (170, 90), (255, 255, 255))
    words = f"{row.id}\n{row.clip.environment}\n{row.action}\n{row.character}"
    ImageDraw.Draw(label).multiline_text((4, 4), words, (0, 0, 0))
    return np.concatenate([np.asarray(label), *tiles], 1)
