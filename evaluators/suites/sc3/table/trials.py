"""What the policies did from each start on the table, again with fresh trial noise, and in worlds
that bound every world model: a line of JSON a start."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.contracts import Json
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.worlds.tabletop.cards import CARDS, PolicyCard
from evaluators.worlds.tabletop.starts import TableStart, draw_start

STARTS = 10
SHIPPED_TABLE = Path(__file__).parents[1] / "data" / "table"
TRIALS = "trials.jsonl"
BLIND = ("grey", "noise", "frozen")
"""Worlds that show nothing of what is done."""


@dataclass(frozen=True, slots=True)
class TableTrial:
    """One start of a policy: what held in each run, by the simulator's truth or, where a world has
    none, as the annotator reads its frames; and the share of chunks that differ where a world shows
    nothing."""

    start: str
    policy: int
    split: str
    outcomes: Mapping[str, ObjectOutcome]
    differ: Mapping[str, float]

    def line(self) -> str:
        """The line of JSON."""
        outcomes = {name: _flags(outcome) for name, outcome in self.outcomes.items()}
        words: dict[str, Json] = {
            "start": self.start,
            "policy": self.policy,
            "split": self.split,
            "outcomes": {name: [*flags] for name, flags in outcomes.items()},
            "differ": {name: round(share, 4) for name, share in self.differ.items()},
        }
        return json.dumps(words)


def read_trials(folder: Path = SHIPPED_TABLE) -> tuple[TableTrial, ...]:
    """The trials in a folder."""
    lines = (folder / TRIALS).read_text("utf-8").splitlines()
    return tuple(_trial(json.loads(line)) for line in lines)


def table_starts(count: int, secret: str = "") -> Iterator[tuple[PolicyCard, TableStart]]:
    """The starts of each policy, one of each in turn."""
    for number in range(count):
        for card in CARDS:
            yield card, draw_start(f"test-p{card.id}-{number:02d}", card.task, secret)


def _flags(outcome: ObjectOutcome) -> tuple[bool, ...]:
    return tuple(bool(getattr(outcome, name)) for name in CRITERIA)


def _trial(words: Mapping[str, object]) -> TableTrial:
    outcomes, differ = words["outcomes"], words["differ"]
    assert isinstance(outcomes, Mapping) and isinstance(differ, Mapping)
    return TableTrial(
        start=str(words["start"]),
        policy=int(str(words["policy"])),
        split=str(words["split"]),
        outcomes={str(name): _read_flags(flags) for name, flags in outcomes.items()},
        differ={str(name): float(share) for name, share in differ.items()},
    )


def _read_flags(flags: Sequence[bool]) -> ObjectOutcome:
    language, lifting, placing = (bool(flag) for flag in flags)
    return ObjectOutcome(language, lifting, placing)
