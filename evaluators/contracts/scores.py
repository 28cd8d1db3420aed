"""Numbers: the score of a sample, the cell of a table, and the metric that both belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evaluators.contracts.judging import Answer
from evaluators.contracts.outcomes import Facets, Json, Outcome
from evaluators.contracts.samples import Output, Sample


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of one sample. No value is no value; the outcome says why."""

    sample_id: str
    metric: str
    outcome: Outcome
    value: float | None = None
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """A metric over all samples at one address, how many there are and should be, its 95 % interval
    if known.

    `note` is what a reader has to know of it; the board shows it beside the entry.
    """

    metric: str
    facets: Facets
    value: float | None
    n_scored: int
    n_expected: int
    why_empty: str = ""
    low: float | None = None
    high: float | None = None
    note: str = ""


Direction = Literal["higher", "lower"]
Pool = Callable[[Sequence[Score]], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """What a number means: its range, its direction, and how samples make a cell.

    `macro` names facets whose values weigh alike when a cell spans them; `pool` replaces the mean
    where a cell is not one (a correlation, say).
    """

    name: str
    title: str
    unit: str
    direction: Direction
    worst: float
    best: float
    explain: str
    headline: bool = False
    macro: tuple[str, ...] = ()
    pool: Pool | None = None


ScoreOutput: TypeAlias = Callable[[Sample, Output, Mapping[str, Answer]], tuple[Score, ...]]
Tabulate: TypeAlias = Callable[[Sequence[Sample], Sequence[Score]], tuple[Cell, ...]]
Derive: TypeAlias = Callable[[Sequence[Cell]], tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a suite turns outputs and answers into numbers.

    `tabulate` replaces the mean of `evaluators.aggregate.cells` where a suite's cells are something
    else (a correlation over policies, say). `derive` adds cells that follow from the others by
    arithmetic alone: it is given arrays for values too.
    """

    score: ScoreOutput
    tabulate: Tabulate | None = None
    derive: Derive | None = None
