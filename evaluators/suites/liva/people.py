"""From what people ticked, rated and chose in a study to L-IVA's human numbers: scores of samples, cells, standings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluators.contracts import Cell, Outcome, Score
from evaluators.metrics.ranking import Ballot, Standing, bws
from evaluators.metrics.rates import PlausibilityRating, SubgoalJudgment, pps, tsr

RESAMPLES = 2000
FLAGGED = 0.5
"""A case that this share of its raters calls faulty is queued for repair."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rated:
    """One rater's view of one video: the subgoals ticked (by position) of so many, and a plausibility from 1 to 5."""

    sample_id: str
    rater: str
    ticked: tuple[int, ...]
    subgoals: int
    plausibility: float | None
    unable: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One rater's best and worst among the methods shown for a case."""

    case_id: str
    rater: str
    ballot: Ballot


@dataclass(frozen=True, slots=True)
class Ranged:
    """A standing with the 95 % interval of its score; cases are drawn again with all their ballots."""

    standing: Standing
    low: float | None
    high: float | None


def scores(rows: Sequence[Rated]) -> tuple[Score, ...]:
    """Task success, plausibility and each subgoal of each rated video of one method; `tabulate` makes cells of them.

    A video that nobody could label is left out of both.
    """
    by_sample: dict[str, list[Rated]] = {}
    for row in rows:
        by_sample.setdefault(row.sample_id, []).append(row)
    return tuple(score for sample, mine in by_sample.items() for score in _scores(sample, mine))


def profile(rows: Iterable[Rated]) -> dict[int, float]:
    """The share of usable judgments in which each subgoal is ticked, by its position from 0.

    >>> profile([Rated("c.closed_loop", "r1", (0,), 2, 4), Rated("c.closed_loop", "r2", (0, 1), 2, 4)])
    {0: 1.0, 1: 0.5}
    """
    seen: dict[int, list[bool]] = {}
    for row in rows:
        if not row.unable:
            for position in range(row.subgoals):
                seen.setdefault(position, []).append(position in row.ticked)
    return {position: sum(ticks) / len(ticks) for position, ticks in sorted(seen.items())}


def best_worst(methods: Sequence[str], choices: Sequence[Choice], seed: int = 0) -> tuple[Ranged, ...]:
    """Best-worst scores over all ballots, with intervals; a method that no valid ballot showed has neither."""
    whole = bws(methods, [choice.ballot for choice in choices])
    cases = sorted({choice.case_id for choice in choices})
    lead, shown = _tallies(methods, choices, cases)
    draws = np.random.default_rng(seed).integers(0, len(cases), (RESAMPLES, len(cases))) if len(cases) > 1 else None
    return tuple(_ranged(standing, lead[n], shown[n], draws) for n, standing in enumerate(whole.standings))


def filled(cell: Cell, found: Ranged) -> Cell:
    """An empty best-worst cell with what the ballots say."""
    standing = found.standing
    why = "" if standing.score is not None else "no valid ballot showed this method"
    return replace(cell, value=standing.score, low=found.low, high=found.high, n_scored=standing.n_shown, why_empty=why)


def faulty(rows: Iterable[Rated], case_of: dict[str, str]) -> tuple[str, ...]:
    """Cases that at least half of their raters could not label, in order; `case_of` maps samples to cases."""
    said: dict[str, dict[str, bool]] = {}
    for row in rows:
        raters = said.setdefault(case_of[row.sample_id], {})
        raters[row.rater] = raters.get(row.rater, False) or row.unable
    return tuple(sorted(case for case, raters in said.items() if sum(raters.values()) >= FLAGGED * len(raters)))


def _scores(sample: str, rows: Sequence[Rated]) -> Iterator[Score]:
    ticks = [SubgoalJudgment(sample, row.rater, len(set(row.ticked)), row.subgoals, row.unable) for row in rows]
    stars = [PlausibilityRating(sample, row.rater, row.plausibility, row.unable) for row in rows]
    for metric, value in (("tsr", tsr(ticks).value), ("pps", pps(stars).value)):
        outcome = Outcome.EXCLUDED if value is None else Outcome.SCORED
        yield Score(sample, metric, outcome, value, {"raters": len(rows)})
    for position, share in profile(rows).items():
        yield Score(sample, f"subgoal_{position + 1}", Outcome.SCORED, share)


def _tallies(methods: Sequence[str], choices: Sequence[Choice], cases: Sequence[str]) -> tuple[Floats, Floats]:
    """Best minus worst, and times shown, of each method in each case."""
    place = {case: number for number, case in enumerate(cases)}
    lead, shown = np.zeros((len(methods), len(cases))), np.zeros((len(methods), len(cases)))
    for choice in choices:
        if bws(methods, [choice.ballot]).n_valid:
            column = place[choice.case_id]
            for row, method in enumerate(methods):
                shown[row, column] += method in choice.ballot.shown
                lead[row, column] += (choice.ballot.best == method) - (choice.ballot.worst == method)
    return lead, shown


def _ranged(standing: Standing, lead: Floats, shown: Floats, draws: NDArray[np.int64] | None) -> Ranged:
    if standing.score is None or draws is None:
        return Ranged(standing, None, None)
    seen = shown[draws].sum(axis=1)
    scores = 100 * lead[draws].sum(axis=1)[seen > 0] / seen[seen > 0]
    low, high = np.quantile(scores, [0.025, 0.975])
    return Ranged(standing, float(low), float(high))
