"""What became of an expected output, and the address of a result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Outcome(StrEnum):
    """What became of one thing that was expected; exactly one of these, never a silent gap."""

    SCORED = "scored"
    MODEL_FAILED = "model_failed"
    OUTPUT_MISSING = "output_missing"
    OUTPUT_INVALID = "output_invalid"
    BLOCKED = "blocked"
    JUDGE_UNPARSABLE = "judge_unparsable"
    JUDGE_ERROR = "judge_error"
    NOT_APPLICABLE = "not_applicable"
    EXCLUDED = "excluded"


SUBMITTER_FAILURES = frozenset(
    {Outcome.MODEL_FAILED, Outcome.OUTPUT_MISSING, Outcome.OUTPUT_INVALID, Outcome.BLOCKED}
)
"""These count as the worst value of a metric."""

OUR_FAILURES = frozenset({Outcome.JUDGE_UNPARSABLE, Outcome.JUDGE_ERROR})
"""These are judged again, leave the mean, and block publication when there are too many."""


@dataclass(frozen=True, slots=True)
class Facets:
    """The address of a result: one vocabulary for all suites."""

    scenario: str
    task: str
    setting: str
    modality: str


FACETS = ("scenario", "task", "setting", "modality")
ALL = "*"
"""In a cell's address: over all values of this facet."""
