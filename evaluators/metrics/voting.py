"""One answer out of several samples of an evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import multimode
from typing import Literal

from evaluators.metrics.text import normalise

DecidedBy = Literal["mode", "tie", "all_unique", "none"]
"""What settled a vote; `none` where nobody voted."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a tie is broken by: the same ticket always draws the same answer."""

    seed: int
    rollout: str
    question: str


@dataclass(frozen=True, slots=True)
class Vote:
    """The winning answer, those it was drawn from, and how many votes each of them had."""

    answer: str | None
    candidates: tuple[str, ...]
    decided_by: DecidedBy
    count: int


def majority_vote(answers: Sequence[str | None], ticket: Ticket) -> Vote:
    """Take the most frequent normalised answer, blank ones being no votes; equals are drawn from by
    the ticket.

    >>> majority_vote(["Yes.", "yes", "no", "", "No "], Ticket(0, "r1", "q1")).candidates
    ('no', 'yes')
    """
    votes = [vote for answer in answers if (vote := normalise(answer or ""))]
    candidates = tuple(sorted(multimode(votes)))
    count = votes.count(candidates[0]) if candidates else 0
    return Vote(_draw(candidates, ticket), candidates, _decided_by(candidates, count), count)


def _draw(candidates: Sequence[str], ticket: Ticket) -> str | None:
    key = repr((ticket.seed, ticket.rollout, ticket.question)).encode()
    return (
        candidates[int.from_bytes(sha256(key).digest()) % len(candidates)] if candidates else None
    )


def _decided_by(candidates: Sequence[str], count: int) -> DecidedBy:
    if not candidates:
        return "none"
    if len(candidates) == 1:
        return "mode"
    return "all_unique" if count == 1 else "tie"
