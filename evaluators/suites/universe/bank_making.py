"""How a bank of clips is made from recorded play: balanced labels, balanced questions, ids that
tell nothing.

A clip is asked either two yes/no questions or the questions with menus and the open ones: of the
labels that are asked yes or no about one clip, one would be the answer to its other questions.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.worlds.doom import truth
from evaluators.worlds.doom.filming import GameTake, digest
from evaluators.worlds.doom.places import ACTIONS, CHARACTERS, FRAMES, PLACES
from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder

Record = Callable[[SessionOrder], PlayedSession]
DrawLabels = Callable[[Sequence[str], np.random.Generator], list[str]]
TAKES = 6
"""Takes of a session in a bank."""
PER_SESSION = 2
"""Clips of a session that may enter a bank, so that many sessions do."""
HOME_CLIPS, OTHER_CLIPS = 128, 32
STRIDE = 1_000_000
"""Sessions that belong to one environment of a bank."""


@dataclass(frozen=True, slots=True)
class BankRow:
    """A clip of a bank with its truth; a clip with yes/no questions has a label asked of each
    task."""

    id: str
    clip: GameTake
    action: str
    character: str
    asks_action: str = ""
    asks_character: str = ""

    @property
    def binary(self) -> bool:
        """Whether yes/no questions are asked about it."""
        return bool(self.asks_action)


def make_bank(
    record: Record,
    seed: int,
    counts: dict[str, int] | None = None,
    report: Callable[[str], None] | None = None,
) -> tuple[BankRow, ...]:
    """All environments' clips, sorted by ids that follow from nothing but a hash."""
    counts = counts or {
        place.name: OTHER_CLIPS if number else HOME_CLIPS for number, place in enumerate(PLACES)
    }
    rows: list[BankRow] = []
    for number, (environment, count) in enumerate(counts.items()):
        clips = choose(record, environment, count, seed + number * STRIDE)
        rows += ask_balanced(clips, seed + number)
        if report:
            report(f"{environment}: {len(clips)} clips")
    return tuple(sorted(rows, key=lambda row: row.id))


def choose(record: Record, environment: str, count: int, first_seed: int) -> list[BankRow]:
    """So many clips of an environment: every action as often as any other, characters as nearly
    so as can be."""
    rows: list[BankRow] = []
    actions, characters = Counter[str](), Counter[str]()
    most = -(-count // len(ACTIONS)), -(-count // len(CHARACTERS)) + 1
    for seed in range(first_seed, first_seed + STRIDE):
        taken = 0
        for row in labelled(record(SessionOrder(environment, seed, TAKES))):
            room = actions[row.action] < most[0] and characters[row.character] < most[1]
            if room and taken < PER_SESSION and len(rows) < count:
                rows.append(row)
                actions[row.action] += 1
                characters[row.character] += 1
                taken += 1
        if len(rows) == count:
            return rows
    raise ValueError(f"{environment} gave {len(rows)} of {count} clips. Ask for fewer.")


def labelled(session: PlayedSession) -> Iterator[BankRow]:
    """The takes of a session whose truth can be seen."""
    order = session.order
    for take in range(len(session.frames)):
        controls, states = (rows[take, -FRAMES:] for rows in (session.controls, session.states))
        action, character = truth.action_of(controls, states), truth.character_of(states)
        if action and character:
            pixels = digest(session.clip(take))
            clip = GameTake(order.environment, order.seed, take, pixels)
            yield BankRow(_opaque(pixels), clip, action, character)


def ask_balanced(rows: Sequence[BankRow], seed: int) -> list[BankRow]:
    """Half of the clips get yes/no questions; each label is asked as often where it is true as
    where it is not, so that the question alone says nothing."""
    return ask_half(rows, np.random.default_rng([seed % 2**32, 41]), _asked)


def ask_half(
    rows: Sequence[BankRow], rng: np.random.Generator, draw_labels: DrawLabels
) -> list[BankRow]:
    """Every second clip of each action gets a label of each task that is asked yes or no."""
    by_action = sorted(rows, key=lambda row: (row.action, row.id))
    binary, rest = by_action[::2], by_action[1::2]
    actions = draw_labels([row.action for row in binary], rng)
    characters = draw_labels([row.character for row in binary], rng)
    asked = [
        replace(row, asks_action=action, asks_character=character)
        for row, action, character in zip(binary, actions, characters, strict=True)
    ]
    return [*asked, *rest]


def _asked(labels: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The label asked about each clip: the true one for half of them, and the same labels, each
    about a clip where it is wrong, for the other half."""
    while True:
        order = rng.permutation(len(labels))
        half = len(labels) // 2
        true, false = order[:half], order[half : 2 * half]
        wrong = deranged([labels[i] for i in true], [labels[i] for i in false], rng)
        if wrong is not None:
            asked = dict(zip(false, wrong, strict=True))
            return [str(asked.get(i, label)) for i, label in enumerate(labels)]


def deranged(
    offered: Sequence[str], truths: Sequence[str], rng: np.random.Generator
) -> list[str] | None:
    """The offered labels in an order in which none is true at its place; None if luck fails."""
    for _ in range(200):
        drawn = [offered[i] for i in rng.permutation(len(offered))]
        for place, label in enumerate(drawn):
            if label == truths[place]:
                other = int(rng.integers(len(drawn)))
                drawn[place], drawn[other] = drawn[other], drawn[place]
        if all(label != truth_ for label, truth_ in zip(drawn, truths, strict=True)):
            return drawn
    return None


def _opaque(pixels: str) -> str:
    return hashlib.sha256(f"universe clip {pixels}".encode()).hexdigest()[:12]
